package bounded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Below opens the folder that an index says lies in another: an index is what somebody wrote, so nothing is read or
// written outside of the folder, through a link in it, or where it holds a pipe, a socket or a device. Who puts a link
// there once it is open leads nobody out of it.
func Below(in *os.Root, name string) (*os.Root, error) {
	name = filepath.FromSlash(name)
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("its folder %q is not below this one; put it there, or name it by itself", name)
	}
	at := ""
	for part := range strings.SplitSeq(filepath.Clean(name), string(filepath.Separator)) {
		at = filepath.Join(at, part)
		info, err := in.Lstat(at)
		if err == nil {
			err = plain(at, info.Mode())
		}
		if err != nil {
			return nil, named(in, at, err)
		}
	}
	err := fs.WalkDir(in.FS(), filepath.ToSlash(at), func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return plain(file, entry.Type())
	})
	if err != nil {
		return nil, err
	}
	below, err := in.OpenRoot(name)
	return below, named(in, name, err)
}

// Made is Below of a folder that is made where it is not there.
func Made(in *os.Root, name string) (*os.Root, error) {
	if err := in.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, named(in, name, err)
	}
	return Below(in, name)
}

// named gives an error about what lies in a folder its whole path, which the error of an os.Root has not.
func named(in *os.Root, name string, err error) error {
	var of *fs.PathError
	if !errors.As(err, &of) || filepath.IsAbs(of.Path) {
		return err
	}
	path := filepath.Join(in.Name(), name)
	if info, wrong := in.Lstat(name); wrong == nil && info.Mode()&fs.ModeSymlink != 0 && !errors.Is(err, fs.ErrNotExist) {
		return plain(path, info.Mode())
	}
	return &fs.PathError{Op: "open", Path: path, Err: of.Err}
}

// plain refuses what is neither a file nor a folder.
func plain(path string, mode fs.FileMode) error {
	switch {
	case mode&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link, which is not followed: put the file or folder itself in its place", path)
	case !mode.IsRegular() && !mode.IsDir():
		return notRegular(path)
	}
	return nil
}

func notRegular(path string) error {
	return fmt.Errorf("%s is a pipe, a socket or a device, which is not read: put the file itself in its place", path)
}

// Open opens a file of a folder that somebody else may have made; no link leads out of that. It never waits: what
// is no regular file is refused, as a pipe has no end before its writer and a device may have none.
func Open(dir, name string) (*os.File, error) {
	in, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f, err := OpenIn(in, name)
	return f, errors.Join(err, in.Close())
}

func regular(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() { // reading a folder fails by itself
		err = notRegular(f.Name())
	}
	if err != nil {
		_ = f.Close() // nothing was read
		return nil, err
	}
	return f, nil
}

// ReadFile reads a file that nobody has named, of at most max bytes. It follows links, and waits as little as Open.
func ReadFile(path string, max int64) ([]byte, error) {
	f, err := regular(os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, path, max)
}

// OpenIn is Open of what lies in a folder that is held.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	f, err := regular(root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0))
	return f, named(root, name, err)
}

// mostCopied is more than any file of a run has: its history ends at 1 GB.
const mostCopied = 4 << 30

// Copy copies what a file of a folder has now: one that somebody lengthens as it is read would have no end.
func Copy(to io.Writer, f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size() > mostCopied {
		return 0, tooLarge(f.Name(), mostCopied)
	}
	return io.Copy(to, io.LimitReader(f, info.Size()))
}

// ReadIn is ReadFile of what lies in a folder that is held; no link leads out of that.
func ReadIn(root *os.Root, name string, max int64) ([]byte, error) {
	f, err := OpenIn(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, name, max)
}

// ReadNamed is ReadFile for a path that the user has typed: it may be /dev/stdin, a
// pipe or <(a command), which is waited for.
func ReadNamed(path string, max int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, path, max)
}

func read(f *os.File, path string, max int64) ([]byte, error) {
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > max {
		return nil, tooLarge(path, max)
	}
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(data)) > max {
		return nil, tooLarge(path, max)
	}
	return data, err
}
