package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// witness notes what a test says of itself.
type witness struct {
	testing.TB
	said string
}

func (w *witness) Helper()                      {}
func (w *witness) Errorf(f string, args ...any) { w.said = fmt.Sprintf(f, args...) }
func (w *witness) Fatal(args ...any)            { w.said = fmt.Sprint(args...); panic(w) }

func compared(path, got string) (said string) {
	w := &witness{}
	defer func() { _ = recover(); said = w.said }()
	Compare(w, path, []byte(got))
	return w.said
}

func TestCompare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.golden")
	if compared(path, "a") == "" {
		t.Error("a file that is missing was taken for right")
	}
	*Update = true
	said := compared(path, "a")
	*Update = false
	if text, err := os.ReadFile(path); said != "" || string(text) != "a" || err != nil {
		t.Errorf("written: %q %q %v", said, text, err)
	}
	if compared(path, "a") != "" || compared(path, "b") == "" {
		t.Error("the same differs, or another does not")
	}
}
