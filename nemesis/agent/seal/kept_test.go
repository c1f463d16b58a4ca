package seal_test

import (
	"testing"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

func TestKept(t *testing.T) {
	for target, want := range map[string]bool{"/": true, "": true, "/proc": true, "/proc/self": true, "/x/../proc": true, "//dlmtest/dlmtest": true,
		"/dlmtest/": true, "/dev/null": true, "/sys/fs": true, "/dev/shm": false, "/dev/shm/a": false, "/dev/shmx": true, "/devices": false, "/etc/redis": false} {
		if seal.Kept(target) != want {
			t.Errorf("%q: %v", target, !want)
		}
	}
}

func TestFollow(t *testing.T) {
	links := map[string]string{"/bin": "usr/bin", "/var/run": "/run", "/out": "../../../etc", "/a": "/b", "/b": "a", "/m/x": "/dlmtest", "/d": "/m/./x/"}
	link := func(path string) (string, bool) { to, is := links[path]; return to, is }
	for target, want := range map[string]string{"/var/lib": "/var/lib", "/bin/sh": "/usr/bin/sh", "/var/run/x": "/run/x", "/out/x": "/etc/x",
		"/m/x/dlmtest": "/dlmtest/dlmtest", "/d/y": "/dlmtest/y", "../../x": "/x", "": "/", "/new/folder": "/new/folder"} {
		if got, err := seal.Follow(target, link); err != nil || got != want {
			t.Errorf("%q: %q, %v", target, got, err)
		}
	}
	if got, err := seal.Follow("/a/x", link); err == nil {
		t.Errorf("a circle leads to %q", got)
	}
}
