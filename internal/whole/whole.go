// Package whole writes files and folders that are there whole or not at all, also when
// the process ends in the midst of it: by an interrupt it removes them itself (Abandon),
// and what a killed one has left goes with the next that is made in the same place.
package whole

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/dlmtest/dlmtest/internal/scratch"
)

// making is what is under way: paths that must not outlive this process.
var (
	mu     sync.Mutex
	making = map[string]bool{}
)

// Write makes a file whole or not at all.
func Write(dir, name string, render func(io.Writer) error) error {
	f, err := temp(dir, ".dlmtest-tmp-"+name+"-")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	err = errors.Join(f.Chmod(0o644), render(f))
	if err == nil {
		err = move(f.Name(), filepath.Join(dir, name))
	}
	err = errors.Join(err, f.Close()) // not before: a sweep would come in between
	if err != nil {
		_ = drop(f.Name())
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func temp(dir, begins string) (*os.File, error) {
	mu.Lock()
	defer mu.Unlock()
	f, err := scratch.File(dir, begins)
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

// Folder makes a folder that goes with this process at the latest: in a parent, with the
// beginning of its name, or in TMPDIR, with a word. done says that it is needed no more
// under its name: it was renamed, or is removed now.
func Folder(parent, begins string) (path string, done func() error, err error) {
	mu.Lock()
	defer mu.Unlock()
	var f *scratch.Folder
	if parent == "" {
		f, err = scratch.New(begins)
	} else {
		f, err = scratch.In(parent, begins)
	}
	if err != nil {
		return "", nil, err
	}
	making[f.Path] = true
	return f.Path, func() error { return errors.Join(drop(f.Path), f.Remove()) }, nil
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
