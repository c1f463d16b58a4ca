package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A gate file that no person would write is refused before it is read to its end.
func TestTooLarge(t *testing.T) {
	endless := filepath.Join(t.TempDir(), "gate.yaml")
	if err := os.Symlink("/dev/zero", endless); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(endless); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%v", err)
	}
	text := "name: a\nx: &x " + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "\n"
	if _, err := Parse("deep.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%v", err)
	}
}
