package libraries

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/examples/adapters"
	"github.com/dlmtest/dlmtest/internal/gobuild"
)

// Java starts an adapter of one file, which it compiles when it starts it and takes a second of a processor for; what it is not
// asked to optimize, it starts the faster.
var Java = []string{"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx96m",
	"-XX:-UsePerfData", // whose file, named by the pid, clients in namespaces of their own would share
	"-cp", "/usr/share/java/curator-recipes.jar:/usr/share/java/slf4j-simple.jar"}

// curator is one of Curator's locks. All tell no validity and no token.
func curator(kind string) Library {
	what := map[string]string{"mutex": "InterProcessMutex", "rw": "InterProcessReadWriteLock",
		"downgrade": "InterProcessReadWriteLock, whose readers come in as writers if they can, and are downgraded",
		"semaphore": "InterProcessSemaphoreV2"}[kind]
	offers := []string{"try", "events", "lease", "renews", "wait"}
	offers = append(offers, map[string][]string{"mutex": {"order", "reentrant"}, "rw": {"order", "shared", "reentrant"},
		"downgrade": {"order", "shared"}, "semaphore": {"permits"}}[kind]...)
	return foreign(foreignLibrary{
		Script: "Curator.java", Program: Java, Args: []string{kind}, Image: JavaImage, Package: "libcurator-recipes-java",
		Tells:   []string{"bash", "-c", `basename -s .jar "$(readlink -e /usr/share/java/curator-recipes.jar)"`},
		Backend: "zookeeper", CheckLease: wholeMillis, Offers: offers, Left: map[string]map[string]string{
			"downgrade": {"reentrant": "one that was downgraded is held as a reader, and this adapter makes a lock for each grant"}}[kind],
		About: "Apache Curator's " + what + ", with a ConnectionStateListener for suspended, reconnected and lost; the " +
			"session timeout is the lease, and it tells no validity and no token",
	})
}

// Compiled is a folder with the classes of a library's adapter, for client nodes to have as pins.Folder; "": it has none, or
// this machine has no compiler, and each client compiles for itself. Six clients that do keep two processors busy for four seconds.
func Compiled(ctx context.Context, library string) (folder string, err error) {
	name, _, _ := strings.Cut(library, "@")
	l := Table[name]
	at := slices.IndexFunc(l.argv, func(word string) bool { return strings.HasSuffix(word, ".java") })
	compiler, none := exec.LookPath("javac")
	if at < 0 || none != nil {
		return "", nil
	}
	source, err := adapters.Files.ReadFile(l.argv[at])
	if err != nil {
		return "", err
	}
	var made strings.Builder // other versions of compiler and library make other classes
	fmt.Fprintf(&made, "%s", source)
	paths := strings.Split(Java[len(Java)-1], ":")
	for _, path := range append(paths, compiler) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return "", nil // its clients have it: they run elsewhere
		}
		fmt.Fprintln(&made, real)
	}
	return gobuild.Kept(strings.ToLower(strings.TrimSuffix(l.argv[at], ".java"))+"-classes", gobuild.Sum([]byte(made.String())), func(dir string) error {
		return compile(ctx, compiler, dir, l.argv[at], source)
	})
}

// compile makes classes that any Java from 17 on runs.
func compile(ctx context.Context, compiler, dir, name string, source []byte) error {
	if err := os.WriteFile(filepath.Join(dir, name), source, 0o644); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, compiler, "--release", "17", "-cp", Java[len(Java)-1], "-d", "bin", name)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("javac %s: %w\n%s", name, err, said.String())
	}
	return nil
}

// compiled is the command that starts the classes in folder, in place of Java with the source; ok: they are there.
func compiled(folder, file string) (argv []string, ok bool) {
	class, java := strings.CutSuffix(file, ".java")
	if !java {
		return nil, false
	}
	if _, err := os.Stat(filepath.Join(folder, class+".class")); err != nil {
		return nil, false
	}
	argv = slices.Clone(Java)
	argv[len(argv)-1] += ":" + folder
	return append(argv, class), true
}
