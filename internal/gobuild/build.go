package gobuild

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/internal/scratch"
)

// Program is what to build, as a value that decides all of it.
type Program struct {
	Name     string            // of its folder in the cache, such as redsync-v4.12.0
	Module   string            // path of the main module; empty: any
	Files    map[string][]byte // of the main module, by path; may be none
	Requires []string          // MODULE VERSION, as in a go.mod
	Binaries map[string]string // name of each program → its package; "." is the main module's own
}

// unfinished is how the folder begins in which a program is built, beside where it goes.
const unfinished = "unfinished-"

// building lets one program at a time be built in this process: runs side by side ask for the same.
var building sync.Mutex

// Build returns the folder that holds the program's binaries, and makes it if it is
// not there yet. progress is told every few seconds what is still being built.
func Build(ctx context.Context, p Program, progress func(line string)) (folder string, err error) {
	return Kept(p.Name, p.sum(), func(dir string) error {
		defer tellEvery(3*time.Second, p.Name, progress)()
		return p.compile(ctx, dir)
	})
}

// Kept returns the folder in the user's cache that has what is built from sum. If it is not there yet, fill makes it: it
// is given a folder of its own, and what it leaves in bin there is kept.
func Kept(name, sum string, fill func(dir string) error) (folder string, err error) {
	building.Lock()
	defer building.Unlock()
	defer func() {
		if err != nil {
			folder, err = "", fmt.Errorf("build %s: %w", name, err)
		}
	}()
	cache, err := cacheFolder()
	if err != nil {
		return "", fmt.Errorf("%w; set XDG_CACHE_HOME", err)
	}
	folder = filepath.Join(cache, "dlmtest", "pins", name+"-"+sum)
	scratch.SweepIn(filepath.Dir(folder), unfinished)
	if exists(folder) {
		return folder, nil
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return "", err
	}
	aside, err := scratch.In(filepath.Dir(folder), unfinished)
	if err != nil {
		return "", err
	}
	defer aside.Remove()
	if err := os.Chmod(aside.Path, 0o755); err != nil {
		return "", err
	}
	if err := os.Mkdir(filepath.Join(aside.Path, "bin"), 0o755); err != nil {
		return "", err
	}
	if err := fill(aside.Path); err != nil {
		return "", err
	}
	// Another process may have been faster, with the same result.
	if err := os.Rename(filepath.Join(aside.Path, "bin"), folder); err != nil && !exists(folder) {
		return "", err
	}
	return folder, nil
}

// Write lays the program's module into a folder: its files, and a go.mod that pins
// what it requires. Build does so in a folder that it removes.
func (p Program) Write(dir string) error {
	// The go command raises the language version to what the pin asks for, and no further.
	mod := "module " + cmp.Or(p.Module, "dlmtest.example/pin") + "\n\ngo 1.22\n\n"
	for _, r := range p.Requires {
		mod += "require " + r + "\n"
	}
	files := map[string][]byte{"go.mod": []byte(mod)}
	for path, text := range p.Files {
		files[path] = text
	}
	for path, text := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// checkPins makes sure that what was built is the pin, and not what another
// requirement has raised it to.
func (p Program) checkPins(ctx context.Context, dir string) error {
	for _, r := range p.Requires {
		module, version, _ := strings.Cut(r, " ")
		out, err := Command(ctx, dir, "list", "-m", "-f", "{{.Version}}", module)
		if err != nil {
			return err
		}
		if got := strings.TrimSpace(string(out)); got != version {
			return fmt.Errorf("%s is %s in this module graph, not the pinned %s: some other requirement raises it", module, got, version)
		}
	}
	return nil
}

func (p Program) compile(ctx context.Context, dir string) error {
	if err := p.Write(dir); err != nil {
		return err
	}
	for name, pkg := range p.Binaries {
		if _, err := Command(ctx, dir, "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join("bin", name), pkg); err != nil {
			return err
		}
	}
	return p.checkPins(ctx, dir)
}

// sum changes with all that decides the program.
func (p Program) sum() string {
	text, err := json.Marshal(struct { // maps are written in the order of their keys
		Program
		Arch string
	}{p, runtime.GOARCH})
	if err != nil {
		panic("gobuild: " + err.Error()) // strings and bytes can be written
	}
	return Sum(text)
}

// Sum is short, and changes with a text.
func Sum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// cacheFolder is the user's, or the system's for root: nodes without Docker are no
// longer root, and nobody else sees what is in root's home.
func cacheFolder() (string, error) {
	if os.Getuid() == 0 && os.Getenv("XDG_CACHE_HOME") == "" {
		return "/var/cache", nil
	}
	return os.UserCacheDir()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func tellEvery(d time.Duration, name string, progress func(string)) (stop func()) {
	begun, done := time.Now(), make(chan struct{})
	progress("building " + name + " with go")
	go func() {
		for {
			select {
			case <-time.After(d):
				progress(fmt.Sprintf("building %s with go, for %.0f s", name, time.Since(begun).Seconds()))
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}
