package clusters

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/clusters/local"
)

// localServer is what a node of one of our images needs on this machine.
type localServer struct {
	programs []string
	files    []string
	packages string // that bring them, in Debian and Ubuntu
}

// usualFolders are searched after the user's PATH.
var usualFolders = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
	"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/lib/jvm/*/bin", "/opt/*/bin"}

// localPath is the PATH of the nodes: the user's, then the usual places, the
// newest version first, without what nodes cannot see.
func localPath() string {
	var folders []string
	add := func(f string) {
		if filepath.IsAbs(f) && !local.Hidden(f) && !slices.Contains(folders, f) {
			folders = append(folders, f)
		}
	}
	for _, f := range filepath.SplitList(os.Getenv("PATH")) {
		add(f)
	}
	for _, pattern := range usualFolders {
		found, _ := filepath.Glob(pattern) // the patterns are well formed
		slices.Reverse(found)
		for _, f := range found {
			add(f)
		}
	}
	return strings.Join(folders, ":")
}

// findProgram looks for a program as the agent will, and refuses one that leads
// to where nodes do not see it.
func findProgram(name string) (string, error) {
	if name == local.Binary {
		return name, nil // every node has it
	}
	candidates := []string{name}
	if !strings.Contains(name, "/") {
		candidates = nil
		for _, f := range filepath.SplitList(localPath()) {
			candidates = append(candidates, filepath.Join(f, name))
		}
	}
	for _, path := range candidates {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		if info, err := os.Stat(real); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			continue
		}
		if local.Hidden(real) {
			return "", fmt.Errorf("%s is %s, and nodes see nothing of this machine's /%s", name, real, strings.Split(real, "/")[1])
		}
		return path, nil
	}
	return "", fmt.Errorf("%s is not on this machine", name)
}

// Runs says why nodes could not start an adapter: they see neither homes nor other folders of
// the user. given is where they see the files that go with it.
func (l *Local) Runs(argv []string, given string) error {
	for i, word := range argv {
		_, err := findProgram(word)
		switch {
		case strings.HasPrefix(word, given+"/"), i > 0 && !outOfView(word):
		case i > 0:
			return fmt.Errorf("%s: nodes see nothing of this machine's /%s; %s", word, strings.Split(word, "/")[1], giveFiles(given))
		case err != nil:
			return fmt.Errorf("%w; %s", err, giveFiles(given))
		}
	}
	return nil
}

func giveFiles(given string) string {
	return fmt.Sprintf("give its folder as --adapter-files and call it %s/…, or use the runtime docker", given)
}

// outOfView says whether a word names a file of this machine that no node sees. What nodes
// have of their own, such as /tmp, may be meant to be theirs.
func outOfView(word string) bool {
	if !filepath.IsAbs(word) || !local.Hidden(word) || slices.Contains(local.OwnFolders, strings.Split(filepath.Clean(word), "/")[1]) {
		return false
	}
	_, err := os.Lstat(word)
	return err == nil
}

// missing is all that the machine lacks.
func (s localServer) missing() (missing []string) {
	for _, p := range s.programs {
		if _, err := findProgram(p); err != nil {
			missing = append(missing, err.Error())
		}
	}
	for _, f := range s.files {
		if _, err := os.Stat(f); err != nil {
			missing = append(missing, f+" is not on this machine")
		}
	}
	return missing
}

// check says all that is missing at once.
func (s localServer) check() error {
	missing := s.missing()
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%s; install it (apt-get install %s), or use the runtime docker", strings.Join(missing, "; "), s.packages)
}

// resolveLocal adds what an image would say: the environment. The user of a
// child is the agent's own, for a run has but one.
func resolveLocal(specs []NodeSpec) ([]NodeSpec, error) {
	out := slices.Clone(specs)
	errs := []error{Distinct(specs)}
	for i := range out {
		s := &out[i]
		if err := runnable(*s); err != nil {
			errs = append(errs, fmt.Errorf("node %s: %w", s.Name, err))
		}
		s.User = ""
		s.Env = mergeEnv([]string{"PATH=" + localPath(), "HOSTNAME=" + s.Name, "HOME=/tmp"}, s.Env)
	}
	return out, errors.Join(errs...)
}

// runnable tells whether this machine has what the node runs.
func runnable(s NodeSpec) error {
	if len(s.DockerOnly) > 0 {
		return fmt.Errorf("the runtime local cannot honour %s of the compose file; take it out, or use --runtime docker", strings.Join(s.DockerOnly, ", "))
	}
	if i, ok := own(s.Image); ok {
		return imageOf(i.target()).local.check()
	}
	argv := s.Argv()
	if len(argv) == 0 {
		return fmt.Errorf("image %s has a command of its own, which the runtime local cannot know; give the service a "+
			"command, or use the runtime docker", s.Image)
	}
	if _, err := findProgram(argv[0]); err != nil {
		return fmt.Errorf("%w; install it, or use the runtime docker", err)
	}
	return nil
}

// databaseOf is the folder that a node's PostgreSQL expects a database in.
func databaseOf(s NodeSpec) string {
	argv := s.Argv()
	if len(argv) == 0 || filepath.Base(argv[0]) != "postgres" {
		return ""
	}
	if at := slices.Index(argv, "-D"); at >= 0 && at+1 < len(argv) {
		return argv[at+1]
	}
	return ""
}

// initdbArgs makes the same database as the image's recipe.
func initdbArgs() []string {
	initdb, _ := findProgram("initdb") // runnable has asked, where it is needed
	return []string{initdb, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--wal-segsize=1"}
}

// databaseKey names what initdb makes, by the PostgreSQL that makes it.
func databaseKey() string { return shortHash(fmt.Sprint(initdbArgs(), programStamp("postgres"))) }

// programStamp changes when a program is replaced.
func programStamp(name string) string {
	path, _ := findProgram(name)
	real, _ := filepath.EvalSymlinks(path)
	info, err := os.Stat(real)
	if err != nil {
		return ""
	}
	return fmt.Sprint(real, info.Size(), info.ModTime().UnixNano())
}
