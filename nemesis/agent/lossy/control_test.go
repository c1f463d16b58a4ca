package lossy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A connection is found where fusectl is mounted nowhere, and nothing is mounted or left
// for that: who is killed meanwhile leaves no folder.
func TestControlMountsNowhere(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	t.Setenv("TMPDIR", t.TempDir())
	before, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	err = control("", func(folder string) error {
		var fs unix.Statfs_t
		if err := unix.Statfs(filepath.Clean(folder)+"/.", &fs); err != nil || fs.Type != 0x65735543 {
			t.Errorf("%s is of type %#x: %v", folder, fs.Type, err)
		}
		now, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil || strings.Count(string(now), "fusectl") != strings.Count(string(before), "fusectl") {
			t.Errorf("mounts now, %v:\n%s", err, now)
		}
		left, err := os.ReadDir(os.TempDir())
		if err != nil || len(left) > 0 {
			t.Errorf("in TMPDIR: %v %v", left, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
