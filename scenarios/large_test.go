package scenarios

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bomb is a small text whose aliases unfold to ten billion values.
func bomb() string {
	var b strings.Builder
	b.WriteString("name: bomb\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 10; i++ {
		last := "*a" + string(rune('0'+i-1))
		b.WriteString("a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " [" + strings.Repeat(last+", ", 9) + last + "]\n")
	}
	return b.String()
}

// A file that no person would write is refused at once, and named.
func TestTooLarge(t *testing.T) {
	long := filepath.Join(t.TempDir(), "long.yaml")
	if err := os.WriteFile(long, []byte("name: long\n"+strings.Repeat("# more\n", 1<<20)), 0o644); err != nil {
		t.Fatal(err)
	}
	endless := filepath.Join(t.TempDir(), "endless.yaml")
	if err := os.Symlink("/dev/zero", endless); err != nil {
		t.Fatal(err)
	}
	folded := filepath.Join(t.TempDir(), "folded.yaml")
	if err := os.WriteFile(folded, []byte(bomb()), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{long, endless, folded} {
		begun := time.Now()
		_, err := Load(path)
		if err == nil || !strings.Contains(err.Error(), "too large") || !strings.Contains(err.Error(), filepath.Base(path)) || time.Since(begun) > 5*time.Second {
			t.Errorf("%s: %v, after %v", path, err, time.Since(begun))
		}
	}
}
