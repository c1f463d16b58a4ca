// Package whole writes files and folders that are there whole or not at all, also when
// the process ends in the midst of it.
package whole

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// making is what is under way: paths that must not outlive this process.
var (
	mu     sync.Mutex
	making = map[string]bool{}
)

// Write makes a file whole or not at all.
func Write(dir, name string, render func(io.Writer) error) error {
	f, err := temp(dir, "."+name+"-*")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	err = errors.Join(f.Chmod(0o644), render(f), f.Close())
	if err == nil {
		err = move(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		_ = drop(f.Name())
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func temp(dir, pattern string) (*os.File, error) {
	mu.Lock()
	defer mu.Unlock()
	f, err := os.CreateTemp(dir, pattern)
	if err == nil {
		making[f.Name()] = true
	}
	return f, err
}

// move gives a file its name. It waits for ever once all is abandoned.
func move(from, to string) error {
	mu.Lock()
	defer mu.Unlock()
	err := os.Rename(from, to)
	if err == nil {
		delete(making, from)
	}
	return err
}

// Folder makes a folder that goes with this process at the latest. done says that it is
// needed no more under its name: it was renamed, or is removed now.
func Folder(parent, pattern string) (path string, done func() error, err error) {
	mu.Lock()
	defer mu.Unlock()
	path, err = os.MkdirTemp(parent, pattern)
	if err != nil {
		return "", nil, err
	}
	making[path] = true
	return path, func() error { return drop(path) }, nil
}

func drop(path string) error {
	mu.Lock()
	defer mu.Unlock()
	delete(making, path)
	return os.RemoveAll(path)
}

// Abandon removes what is not whole yet, and lets nothing become whole any more: the
// process is about to end. Who goes on writing waits for that.
func Abandon() {
	mu.Lock()
	for path := range making {
		_ = os.RemoveAll(path) // there is nobody to tell
	}
}
