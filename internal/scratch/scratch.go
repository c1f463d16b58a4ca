// Package scratch makes folders that last no longer than their process. Each is locked
// by the process that made it; the kernel frees the lock when that process dies, by
// SIGKILL too, and whoever comes next removes what nobody holds.
package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// prefix is how everything of this package in TMPDIR begins. An older dlmtest locked
// nothing, so its folders have other names: they may belong to a living process.
const prefix = "dlmtest-tmp-"

// Folder is one that this process holds.
type Folder struct {
	Path string
	held *os.File
}

// New makes a folder in TMPDIR that nobody else can enter, named by a word, and removes
// those of dead processes.
func New(word string) (*Folder, error) {
	Sweep()
	return newFolder(os.TempDir(), prefix+word+"-")
}

// In is New for a folder that must lie beside what it will become; begins is the
// beginning of its name, which nothing else there may have.
func In(parent, begins string) (*Folder, error) {
	SweepIn(parent, begins)
	return newFolder(parent, begins)
}

func newFolder(parent, begins string) (*Folder, error) {
	for {
		path, err := os.MkdirTemp(parent, begins+"*")
		if err != nil {
			return nil, err
		}
		held, err := holdAt(path, syscall.LOCK_EX)
		if errors.Is(err, errGone) { // a sweep came in between
			continue
		}
		return &Folder{path, held}, nil // where there are no locks nobody sweeps either
	}
}

// Remove removes the folder and all in it.
func (f *Folder) Remove() error {
	err := os.RemoveAll(f.Path)
	release(f.held) // not before: a sweep would come in between
	return err
}

// Sweep removes from TMPDIR what dead processes of this user have left there.
func Sweep() { SweepIn(os.TempDir(), prefix) }

// SweepIn removes from a folder what dead processes of this user have left there under
// names that begin so. It follows no link and touches nothing of another user's, as
// TMPDIR is everybody's. What cannot be removed takes up space and no more.
func SweepIn(parent, begins string) {
	if in, err := os.OpenRoot(parent); err == nil {
		defer func() { _ = in.Close() }() // a folder
		sweepAll(in, begins)
	}
}

func sweepAll(in *os.Root, begins string) {
	entries, _ := fs.ReadDir(in.FS(), ".")
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), begins) {
			_ = sweep(in, e.Name())
		}
	}
}

func sweep(in *os.Root, name string) error {
	held, err := hold(in, name, syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return err // alive, or not ours
	}
	defer release(held)
	return in.RemoveAll(name)
}

// errGone says that a path is no longer what was locked.
var errGone = errors.New("removed in the meantime")

// holdAt is hold of what a path names.
func holdAt(path string, how int) (*os.File, error) {
	in, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // a folder
	return hold(in, filepath.Base(path), how)
}

// hold locks a plain file or a folder of this user's until it is closed. What the name
// leads to afterwards is what is locked.
func hold(in *os.Root, name string, how int) (*os.File, error) {
	before, err := in.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errGone
	}
	if err != nil || !ours(before) {
		return nil, errors.Join(err, fs.ErrPermission)
	}
	// No FIFO or device can have come there meanwhile that would block.
	file, err := in.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errGone
	}
	if err != nil {
		return nil, err
	}
	if err := flock(file, how); err != nil {
		_ = file.Close()
		return nil, err
	}
	is, err := file.Stat()
	now, errNow := in.Lstat(name)
	if err != nil || errNow != nil || !os.SameFile(is, now) || !ours(is) {
		_ = file.Close()
		return nil, errGone
	}
	locks.Store(file, true)
	return file, nil
}

// locks are the files that are held: one that nobody names any more would be closed as
// garbage, and its lock be free.
var locks sync.Map

// release gives a lock back by name: a program that is just being started elsewhere in this process has the file, too, until it
// runs, and a close alone would leave it held until then, which a busy machine makes long.
func release(held *os.File) {
	if held == nil {
		return // there are no locks
	}
	locks.Delete(held)
	_ = flock(held, syscall.LOCK_UN)
	_ = held.Close() // nothing was written
}

// ours says that something is a plain file or a folder, and of this user.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && (info.IsDir() || info.Mode().IsRegular())
}

// flock is interrupted by Go's own signals.
func flock(file *os.File, how int) error {
	for {
		if err := syscall.Flock(int(file.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
