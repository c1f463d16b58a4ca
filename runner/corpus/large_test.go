package corpus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A record without an end is refused.
func TestReadTooLarge(t *testing.T) {
	endless := filepath.Join(t.TempDir(), "record.json")
	if err := os.Symlink("/dev/zero", endless); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(endless); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%v", err)
	}
}
