package scratch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Lock lets one process of this user at a time do what the word says. Its file is gone
// after unlock; that of a killed process is free, and goes with the next sweep.
func Lock(ctx context.Context, word string) (unlock func(), err error) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("%s%d-%s.lock", prefix, os.Getuid(), word))
	for {
		held, err := lockFile(path)
		switch {
		case err == nil:
			return func() { _ = os.Remove(path); release(held) }, nil
		case errors.Is(err, fs.ErrPermission):
			return nil, fmt.Errorf("lock: %s is somebody else's; remove it, or point TMPDIR elsewhere", path)
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, errGone):
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// lockFile makes the file if it is not there, and locks it.
func lockFile(path string) (*os.File, error) {
	made, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		_ = made.Close()
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return holdAt(path, syscall.LOCK_EX|syscall.LOCK_NB)
}

// Hold marks a folder as one that this process still works in, until free is called or
// the process ends. A file system without locks is no reason not to work.
func Hold(dir string) (free func()) {
	in, err := os.OpenRoot(dir)
	if err != nil {
		return func() {}
	}
	defer func() { _ = in.Close() }() // a folder
	held, err := hold(in, ".", syscall.LOCK_EX|syscall.LOCK_NB)
	for tries := 0; errors.Is(err, syscall.EWOULDBLOCK) && tries < 100; tries++ { // somebody asks whether it is held
		time.Sleep(time.Millisecond)
		held, err = hold(in, ".", syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		return func() {}
	}
	return func() { release(held) }
}

// Held says whether a living process works in an open folder or file: see Hold. That
// this cannot be told counts as no.
func Held(f *os.File) bool {
	err := flock(f, syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	}
	return errors.Is(err, syscall.EWOULDBLOCK)
}
