package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Files of a run's folder.
const (
	partFile    = "history.jsonl.part" // as it comes, not yet in the order of time
	HistoryFile = "history.jsonl"
	runFile     = "run.json"
	resultsFile = "results.json"
	reportFile  = "report.html"
	junitFile   = "junit.xml"
	logsDir     = "logs"

	violationsDir = "violations" // the minimal histories, by the numbers of the violations
)

// roomNeeded is the free space below which a run does not start.
const roomNeeded = 64 << 20

// openFolder holds the folder of a run. The path may be a link, as runs/latest is; once it is open nobody exchanges it.
func openFolder(dir string) (*os.Root, error) {
	in, err := os.OpenRoot(dir)
	info, unseen := os.Stat(dir)
	switch {
	case err != nil && unseen == nil && !info.IsDir():
		return nil, fmt.Errorf("%w: %s is a file; want the folder of a run, such as runs/latest", ErrUsage, dir)
	case err != nil:
		return nil, fmt.Errorf("%w: %w; DIR is the folder of a run, such as runs/latest", ErrUsage, err)
	}
	return in, nil
}

// newFolder makes the folder of a run, with its logs folder, and holds it. It fails before
// anything is started if the run could not be saved.
func newFolder(out, scenario, backend string, now time.Time) (*os.Root, error) {
	dir, err := NewFolder(out, fmt.Sprintf("%s_%s", scenario, strings.ReplaceAll(backend, "/", "-")), now)
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, logsDir), 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("the run's folder: %w; choose another with --out DIR", err)
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return nil, fmt.Errorf("the run's folder: %w", err)
	}
	if room := fs.Bavail * uint64(fs.Bsize); room < roomNeeded {
		_ = os.RemoveAll(dir)
		return nil, noRoom{fmt.Errorf("the run's folder: %d MB are free under %s, a run needs %d; choose another with --out DIR",
			room>>20, out, roomNeeded>>20)}
	}
	return os.OpenRoot(dir)
}

// ErrNoRoom says that the disk on which runs are saved is full. ENOSPC alone may be another limit of the kernel.
var ErrNoRoom = errors.New("the disk is full")

type noRoom struct{ error }

func (noRoom) Is(target error) bool { return target == ErrNoRoom }
func (e noRoom) Unwrap() error      { return e.error }

// NoRoom marks the error of a full disk with ErrNoRoom and adds what to do next, unless that is empty; other errors stay
// as they are.
func NoRoom(err error, next string) error {
	switch {
	case !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) && !errors.Is(err, ErrNoRoom):
		return err
	case next == "":
		return noRoom{err}
	}
	return noRoom{fmt.Errorf("%w; free some room, then %s", err, next)}
}

// NewFolder makes a folder under out that is named by the time and a word. Two
// that begin in one millisecond get a folder each.
func NewFolder(out, word string, now time.Time) (string, error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	for {
		dir := filepath.Join(out, now.UTC().Format("20060102T150405.000")+"_"+word)
		err := os.Mkdir(dir, 0o755)
		if !errors.Is(err, os.ErrExist) {
			return dir, err
		}
		now = now.Add(time.Millisecond)
	}
}

// Link points a link beside a folder, such as "latest", at it, in one step, as two
// runs may start at once.
func Link(dir, as string) error {
	out, name := filepath.Split(dir)
	latest := filepath.Join(out, as)
	fresh := filepath.Join(out, "."+name)
	if err := os.Symlink(name, fresh); err != nil {
		if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.ENOTSUP) {
			return nil // a file system without links
		}
		return fmt.Errorf("the link to the latest run: %w", err)
	}
	if err := os.Rename(fresh, latest); err != nil {
		_ = os.Remove(fresh) // something else is named latest: leave it
	}
	return nil
}
