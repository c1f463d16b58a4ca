package cli

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// inOrder are the paths of files, sorted.
func inOrder(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }

// writeAll writes files that must not be there yet, below a folder: all of them or none.
func writeAll(dir string, files map[string][]byte) error {
	var there []string
	for _, path := range inOrder(files) {
		if _, err := os.Lstat(filepath.Join(dir, path)); !errors.Is(err, os.ErrNotExist) {
			there = append(there, path)
		}
	}
	if len(there) > 0 {
		return usageError{fmt.Errorf("nothing was written, as this is there already: %s; move it away, or give another folder", strings.Join(there, ", "))}
	}
	root, err := os.OpenRoot(dir) // no link of the project leads out of it
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	defer root.Close()
	for _, path := range inOrder(files) {
		if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("init: %w", err)
		}
		file, err := root.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o644)
		if err != nil {
			return fmt.Errorf("init: %w", err)
		}
		_, err = file.Write(files[path])
		if err := errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("init: %s: %w", path, err)
		}
	}
	return nil
}
