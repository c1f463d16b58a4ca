package local

import (
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// inside names the folder in which TestRoot builds, in namespaces of its own.
const inside = "LOCAL_TEST_ROOT"

// The root folder of nodes shows the machine's packages and nothing else of it, and what a
// guest can write to has an end.
func TestRoot(t *testing.T) {
	if folder := os.Getenv(inside); folder != "" {
		lookAround(t, folder)
		return
	}
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("unshare is missing")
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	cmd := exec.Command("unshare", "-Urm", "/proc/self/fd/3", "-test.run=^TestRoot$", "-test.v")
	cmd.ExtraFiles, cmd.Env = []*os.File{self}, append(os.Environ(), inside+"="+t.TempDir())
	if text, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(text), "looked around") {
		t.Errorf("%v\n%s", err, text)
	}
}

func lookAround(t *testing.T, folder string) {
	root, own := filepath.Join(folder, "root"), filepath.Join(folder, "own")
	c := Config{Path: "/usr/bin:/bin", Nodes: []Node{{Name: "b", Addr: netip.MustParseAddr("10.77.0.2")}}}
	err := errors.Join(os.Mkdir(root, 0o755), tmpfs(root, "mode=755"))
	for _, name := range append([]string{"etc", "opt"}, OwnFolders...) {
		err = errors.Join(err, os.Mkdir(filepath.Join(root, name), 0o755))
	}
	for _, part := range []func(string, Config) error{hostFolders, ownDevices, ownEtc, ownOpt} {
		err = errors.Join(err, part(root, c))
	}
	for _, f := range []string{"tmp", "run/lock", "var/tmp", "var/lib/redis"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(own, f), 0o755))
	}
	guest := nodeConfig{Node: Node{Temp: 16 << 20}, Root: root, Own: own}
	if err := errors.Join(err, guest.ownFolders(), readOnly(root, 0)); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if n := "/" + e.Name(); Hidden(n) && !strings.Contains(" /etc /opt /proc /sys /dev /tmp /run /var /dlmtest ", " "+n+" ") {
			t.Errorf("%s is in view", n)
		}
	}
	for _, gone := range []string{"/home", "/root", "/srv", "/mnt", "/media", "/etc/shadow", "/etc/ssh", "/etc/sudoers"} {
		if _, err := os.Lstat(filepath.Join(root, gone)); err == nil || !Hidden(gone) {
			t.Errorf("%s is in view", gone)
		}
	}
	if text, err := os.ReadFile(filepath.Join(root, "etc/hosts")); err != nil || !strings.Contains(string(text), "10.77.0.2\tb") {
		t.Errorf("hosts %q, %v", text, err)
	}
	for _, path := range []string{"/usr/bin/env", "/etc/passwd", "/bin/sh"} {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{"usr/x", "etc/x", "x", "var/x", "var/lib/redis/x", "opt/x"} {
		if err := os.WriteFile(filepath.Join(root, path), nil, 0o600); !errors.Is(err, unix.EROFS) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for path, most := range map[string]int{"tmp": 16 << 20, "var/tmp": 4 << 20, "run": 1 << 20} {
		err := os.WriteFile(filepath.Join(root, path, "x"), make([]byte, most+1<<20), 0o600)
		if !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%s takes more than %d bytes: %v", path, most, err)
		}
	}
	t.Log("looked around")
}
