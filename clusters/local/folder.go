package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const runPrefix = "run-"

// makeFolder makes the folder that everything of the run lies in, locked as long
// as this process lives, and removes those of runs that have died without their
// own cleaning up: whose lock is free. It is done here and not by the runner, so
// that the folder has somebody who removes it from its first moment, and root
// never walks through what is nobody's.
func (r *run) makeFolder() error {
	base := filepath.Join(r.Temp, fmt.Sprintf("dlmtest-local-%d", r.HostID))
	if err := os.Mkdir(base, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("folder of the runs: %w; point TMPDIR at one that this user can write to", err)
	}
	info, err := os.Lstat(base)
	if err != nil {
		return fmt.Errorf("folder of the runs: %w", err)
	}
	if !info.IsDir() || info.Sys().(*syscall.Stat_t).Uid != UID { // /tmp is everybody's
		return fmt.Errorf("folder of the runs: %s is somebody else's; remove it, or point TMPDIR elsewhere", base)
	}
	unlock, err := lock(filepath.Join(base, "lock"), syscall.LOCK_EX) // a folder and its lock appear as one
	if err != nil {
		return fmt.Errorf("folder of the runs: %w", err)
	}
	defer unlock.Close()
	sweep(base)
	r.cache = filepath.Join(base, "database-"+r.DatabaseKey)
	r.folder = filepath.Join(base, runPrefix+r.Run)
	r.root = filepath.Join(r.folder, "root")
	if err := os.Mkdir(r.folder, 0o700); err != nil {
		return fmt.Errorf("folder of the run: %w", err)
	}
	r.lock, err = lock(filepath.Join(r.folder, "lock"), syscall.LOCK_EX|syscall.LOCK_NB)
	return err
}

// lock opens a file and locks it until it is closed.
func lock(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(file.Fd()), how)
		if !errors.Is(err, syscall.EINTR) { // Go's own signals interrupt it
			break
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return file, nil
}

// sweep ignores errors: what cannot be removed takes up space and no more.
func sweep(base string) {
	entries, _ := os.ReadDir(base)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), runPrefix) {
			continue
		}
		path := filepath.Join(base, e.Name())
		free, err := lock(filepath.Join(path, "lock"), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil {
			continue // alive
		}
		_ = os.RemoveAll(path)
		_ = free.Close()
	}
}
