package corpus

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/internal/bounded"
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
	many := filepath.Join(t.TempDir(), "many.json")
	if err := os.WriteFile(many, []byte(`{"tracks":[{}`+strings.Repeat(",{}", 20_000)+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(many); !errors.Is(err, bounded.ErrTooLarge) {
		t.Errorf("many tracks: %v", err)
	}
}
