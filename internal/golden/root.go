package golden

import (
	"os"
	"path/filepath"
)

// Root reads a file at the top of the module, from the folder of any package's tests. It
// panics where there is none: it is called before a test runs.
func Root(name string) []byte {
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		panic(err)
	}
	return text
}
