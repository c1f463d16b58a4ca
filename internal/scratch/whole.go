package scratch

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Write makes a file whole or not at all: who is killed in between leaves the old one,
// and half of the new one under a name that the next Write of it removes.
func Write(path string, mode os.FileMode, render func(io.Writer) error) error {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	begins := "." + prefix + name + "-"
	SweepIn(dir, begins)
	f, err := newFile(dir, begins)
	if err != nil {
		return err
	}
	err = errors.Join(f.Chmod(mode), render(f))
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// newFile is a file that no sweep takes for a dead process's.
func newFile(dir, begins string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(dir, begins+"*")
		if err != nil || flock(f, syscall.LOCK_EX) != nil { // where there are no locks nobody sweeps
			return f, err
		}
		is, err := f.Stat()
		now, errNow := os.Lstat(f.Name())
		if err == nil && errNow == nil && os.SameFile(is, now) {
			return f, nil
		}
		_ = f.Close() // a sweep came in between
	}
}
