package matrix

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ownFolder wants the folder of a run to be below dir by its name alone: an index is
// what somebody wrote, and a link in a folder leads wherever they wished. Nothing is
// read or written through one.
func ownFolder(dir, name string) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("its folder %q is not below this one; put it there, or check it by itself", name)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	path := ""
	for part := range strings.SplitSeq(filepath.Clean(name), string(filepath.Separator)) {
		path = filepath.Join(path, part)
		if err := noLink(root, path); err != nil {
			return err
		}
	}
	return fs.WalkDir(root.FS(), path, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSymlink != 0 {
			return linked(file)
		}
		return err
	})
}

func noLink(root *os.Root, path string) error {
	info, err := root.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // whoever reads it says so
	}
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return linked(path)
	}
	return err
}

func linked(path string) error {
	return fmt.Errorf("%s is a link, which is not followed: put the file or folder itself in its place", path)
}
