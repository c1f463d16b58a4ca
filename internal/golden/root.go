package golden

import (
	"os"
	"path/filepath"
)

// Root reads a file at the top of the module, from the folder of any package's tests: the
// nearest of that name above. nil: there is none, for this test binary plays a program of a node.
func Root(name string) []byte {
	dir, err := os.Getwd()
	for err == nil {
		if text, missing := os.ReadFile(filepath.Join(dir, name)); missing == nil {
			return text
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
		dir = filepath.Dir(dir)
	}
	return nil
}
