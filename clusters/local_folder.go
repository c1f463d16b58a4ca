package clusters

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// runFolder is where a run's processes write. It is locked as long as the runner
// or the run's first process lives, whichever ends later.
type runFolder struct {
	base string
	name string
	path string
	lock *os.File
}

const runPrefix = "run-"

// makeRunFolder also removes the folders of runs whose processes are all dead:
// those whose lock is free.
func makeRunFolder(ctx context.Context, run Run) (*runFolder, error) {
	base, root, err := localBase()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	unlock, err := lockFile(ctx, fmt.Sprintf("local-%d", localHostID())) // a folder and its lock appear as one
	if err != nil {
		return nil, err
	}
	defer unlock()
	sweepFolders(root)
	f := &runFolder{base: base, name: runPrefix + run.ID}
	f.path = filepath.Join(base, f.name)
	if err := mkdirFor(root, f.name); err != nil {
		return nil, fmt.Errorf("folder of the run: %w", err)
	}
	if f.lock, err = root.OpenFile(f.name+"/lock", os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err == nil {
		err = syscall.Flock(int(f.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the folder of the run: %w", err), root.RemoveAll(f.name))
	}
	return f, nil
}

// localBase is a folder of the user that runs belong to. Everything in it goes
// through the Root, which no symbolic link can lead astray: when root runs
// dlmtest, the folder is nobody's.
func localBase() (string, *os.Root, error) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("dlmtest-local-%d", localHostID()))
	if err := os.Mkdir(path, 0o700); err == nil {
		err = os.Lchown(path, localHostID(), localHostGroup())
		if err != nil {
			return "", nil, fmt.Errorf("folder of the runs: %w", err)
		}
	} else if !errors.Is(err, os.ErrExist) {
		return "", nil, fmt.Errorf("folder of the runs: %w; point TMPDIR at one that can be written to", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return "", nil, fmt.Errorf("folder of the runs: %w", err)
	}
	info, err := root.Stat(".")
	if err == nil && int(info.Sys().(*syscall.Stat_t).Uid) != localHostID() {
		err = fmt.Errorf("%s belongs to somebody else; remove it or point TMPDIR elsewhere", path)
	}
	if err != nil {
		return "", nil, errors.Join(err, root.Close())
	}
	return path, root, nil
}

func mkdirFor(root *os.Root, name string) error {
	if err := root.Mkdir(name, 0o700); err != nil {
		return err
	}
	return root.Lchown(name, localHostID(), localHostGroup())
}

// sweepFolders ignores errors: what cannot be removed harms nobody but the disk.
func sweepFolders(root *os.Root) {
	dir, err := root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if strings.HasPrefix(name, runPrefix) && !locked(root, name) {
			_ = root.RemoveAll(name)
		}
	}
}

func locked(root *os.Root, name string) bool {
	lock, err := root.Open(name + "/lock")
	if err != nil {
		return false // it was being removed
	}
	defer lock.Close()
	return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}

// remove removes what the run's first process has left: nothing, unless it was killed.
func (f *runFolder) remove() error {
	defer f.lock.Close()
	root, err := os.OpenRoot(f.base)
	if err != nil {
		return fmt.Errorf("remove the run's folder: %w", err)
	}
	defer root.Close()
	if err := root.RemoveAll(f.name); err != nil {
		return fmt.Errorf("remove the run's folder: %w", err)
	}
	return nil
}
