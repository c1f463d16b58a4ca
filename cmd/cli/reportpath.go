package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// folder finds what an argument names: a folder, or latest in runs.
func folder(arg string) (string, error) {
	dir := filepath.Clean(arg)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && (arg == "latest" || arg == "latest-matrix") {
		dir = filepath.Join("runs", arg)
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return "", usageError{fmt.Errorf("%w; want the folder of a run or of a matrix, such as runs/latest", err)}
	case !info.IsDir():
		return "", usageError{fmt.Errorf("%s is a file: want the folder of a run, such as %s", arg, filepath.Dir(dir))}
	}
	return dir, nil
}

// way leads from the report to the folder that it is about: "" where it is in it.
func (f *reportFlags) way(dir string) string {
	from := filepath.Dir(f.path)
	if f.path == "-" {
		from = "."
	}
	from, err1 := filepath.Abs(from)
	to, err2 := filepath.Abs(dir)
	way, err := filepath.Rel(from, to)
	if err = errors.Join(err, err1, err2); err != nil || way == "." {
		return ""
	}
	return filepath.ToSlash(way)
}

// along puts a way before a path that is relative to its end.
func along(way, path string) string {
	if way == "" || path == "" {
		return path
	}
	return way + "/" + path
}
