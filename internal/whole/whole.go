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

// making removes what is under way, by its path: it must not outlive this process.
var (
	mu     sync.Mutex
	making = map[string]func() error{}
)

// Write makes a file of a folder, whole or not at all. The folder is held, and not named: who exchanges it, or what it
// lies in, for a link meanwhile has nothing written where that leads. A link that has the file's name is replaced.
func Write(in *os.Root, name string, render func(io.Writer) error) error {
	f, as, err := temp(in, ".dlmtest-tmp-"+name+"-")
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(in.Name(), name), err)
	}
	err = errors.Join(f.Chmod(0o644), render(f))
	if err == nil {
		err = move(in, f, as, name)
	}
	err = errors.Join(err, f.Close()) // not before: a sweep would come in between
	if err != nil {
		_ = drop(f.Name())
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// At is Write for a path that the user named, through the links that are in it now.
func At(path string, render func(io.Writer) error) error {
	in, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(Write(in, filepath.Base(path), render), in.Close())
}

func temp(in *os.Root, begins string) (f *os.File, name string, err error) {
	mu.Lock()
	defer mu.Unlock()
	if f, name, err = scratch.File(in, begins); err == nil {
		making[f.Name()] = func() error { return in.Remove(name) }
	}
	return f, name, err
}

// move gives a file its name. It waits for ever once all is abandoned.
func move(in *os.Root, f *os.File, from, to string) error {
	mu.Lock()
	defer mu.Unlock()
	err := in.Rename(from, to)
	if err == nil {
		delete(making, f.Name())
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
	making[f.Path] = func() error { return os.RemoveAll(f.Path) }
	return f.Path, func() error { return errors.Join(drop(f.Path), f.Remove()) }, nil
}

// drop removes what is not to become whole.
func drop(path string) error {
	mu.Lock()
	defer mu.Unlock()
	remove, under := making[path]
	if !under {
		return nil
	}
	delete(making, path)
	return remove()
}

// Abandon removes what is not whole yet, and lets nothing become whole any more: the
// process is about to end. Who goes on writing waits for that.
func Abandon() {
	mu.Lock()
	for _, remove := range making {
		_ = remove() // there is nobody to tell
	}
}
