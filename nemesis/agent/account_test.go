package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A file of users is the image's: it may be a pipe, a device, endless or wrong, and nothing waits for it.
func TestEntryOf(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	text := "broken\nx:x:7:8\n8:x:1:2\ny:x:8:9\n" + strings.Repeat("z", 2*entriesMax) + "\nlate:x:3:3\n"
	if err := os.WriteFile(at("file"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{syscall.Mkfifo(at("pipe"), 0o644), os.Symlink("/dev/zero", at("device")), os.Mkdir(at("folder"), 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ file, name, want string }{
		{"file", "x", "[x x 7 8] <nil>"}, {"file", "7", "[x x 7 8] <nil>"}, {"file", "8", "[8 x 1 2] <nil>"},
		{"file", "9", "[] <nil>"}, {"file", "late", "[] <nil>"}, {"file", "broken", "[] <nil>"}, {"none", "x", "[] <nil>"},
		{"pipe", "x", "[] its " + at("pipe") + " is no file"}, {"device", "x", "[] its " + at("device") + " is no file"},
		{"folder", "x", "[] its " + at("folder") + " is no file"},
	} {
		entry, err := entryOf(at(c.file), c.name, 4)
		if got := fmt.Sprintf("%v %v", entry, err); got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.name, c.file, got, c.want)
		}
	}
}
