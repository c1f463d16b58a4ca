package bounded

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// made is a folder with each thing that a folder of runs must not have, and one it may.
func made(t *testing.T) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "below") // short: the path of a socket is bounded
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	outside := filepath.Join(dir, "outside")
	for _, d := range []string{"top/good/logs", "top/file", "top/folder", "top/pipe", "top/socket", "top/device/logs", "outside"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"top/good/logs/a.log", "outside/history.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"linked": outside, "file/history.jsonl": outside + "/history.jsonl", "folder/logs": outside, "device/logs/a": "/dev/zero", "inner": "good"} {
		if err := os.Symlink(to, filepath.Join(dir, "top", from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "top/pipe/history.jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "top/socket/results.json"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return filepath.Join(dir, "top")
}

// What an index names is below its folder, through no link, and has nothing in it but
// files and folders.
func TestBelow(t *testing.T) {
	dir := made(t)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, want := range map[string]string{
		"good": "", "good/logs": "", "good/../good": "", "none": "none: no such", "none/at/all": "none: no such",
		"linked": "linked is a link", "inner": "inner is a link", "linked/history.jsonl": "linked is a link",
		"file": "file/history.jsonl is a link", "folder": "folder/logs is a link", "device": "device/logs/a is a link",
		"pipe": "pipe/history.jsonl is a pipe", "socket": "socket/results.json is a pipe, a socket",
		"..": "not below", "../outside": "not below", "": "not below", dir: "not below", "good/../../outside": "not below",
	} {
		below, err := Below(root, name)
		if err == nil {
			_ = below.Close()
		}
		switch {
		case want == "" && (err != nil || filepath.Clean(below.Name()) != filepath.Join(dir, name)):
			t.Errorf("%q: %v", name, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v; want %q", name, err, want)
		}
	}
}

// Nothing of a folder is waited for. What a user names is.
func TestFilesOfFoldersDoNotWait(t *testing.T) {
	dir := made(t)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"pipe/history.jsonl", "socket/results.json", "device/logs/a"} {
		for how, read := range map[string]func() error{
			"ReadFile": func() error { _, err := ReadFile(filepath.Join(dir, name), 1<<20); return err },
			"ReadIn":   func() error { _, err := ReadIn(root, name, 1<<20); return err },
			"Open": func() error {
				f, err := Open(dir, name)
				if err == nil {
					_ = f.Close()
				}
				return err
			},
		} {
			ended := make(chan error, 1)
			go func() { ended <- read() }()
			select {
			case err := <-ended:
				if err == nil {
					t.Errorf("%s: %s reads it", name, how)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s: %s waits", name, how)
			}
		}
	}
	pipe := filepath.Join(dir, "pipe/history.jsonl")
	go func() { _ = os.WriteFile(pipe, []byte("late"), 0) }()
	if data, err := ReadNamed(pipe, 100); string(data) != "late" || err != nil {
		t.Errorf("a pipe that was named: %q, %v", data, err)
	}
}

// lengthens adds to a file with each piece that is taken from it.
type lengthens struct{ f *os.File }

func (l lengthens) Write(b []byte) (int, error) {
	if _, err := l.f.Write(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// A file that grows as it is copied, and one with a hole that no run has, have an end.
func TestCopyHasAnEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grows")
	if err := os.WriteFile(path, []byte(strings.Repeat("a", 100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	more, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer more.Close()
	f, err := Open(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := Copy(lengthens{more}, f); n != 100_000 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if err := os.Truncate(path, mostCopied+1); err != nil {
		t.Skip(err)
	}
	if _, err := Copy(io.Discard, f); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a hole: %v", err)
	}
}
