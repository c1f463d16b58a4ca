package golden

import (
	"os"
	"path/filepath"
)

// Root reads a file at the top of the module, from the folder of any package's tests; nil:
// this test binary plays a program of a node, where there is no module.
func Root(name string) []byte {
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if text, missing := os.ReadFile(filepath.Join(dir, "go.mod")); missing == nil && len(text) > 0 {
			break
		}
		dir = filepath.Dir(dir)
	}
	text, _ := os.ReadFile(filepath.Join(dir, name))
	return text
}
