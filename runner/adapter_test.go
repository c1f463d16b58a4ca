package runner

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A folder with a socket in it is no place for an adapter: who reads it could talk to the
// process behind.
func TestAdapterFilesAreFiles(t *testing.T) {
	dir, err := os.MkdirTemp("", "files") // short: the path of a socket is bounded
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, name := range []string{"plain/deep", "socket/deep", "pipe"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", filepath.Join(dir, "socket/deep/s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := errors.Join(syscall.Mkfifo(filepath.Join(dir, "pipe/p"), 0o600), os.WriteFile(filepath.Join(dir, "plain/deep/a.py"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"": "", "plain": "", "socket": "has a socket", "pipe": "has a socket, a pipe", "none": "cannot be looked through"} {
		var o Options
		o.Files = filepath.Join(dir, name)
		if name == "" {
			o.Files = ""
		}
		err := o.filesAlone()
		if want == "" && err != nil || want != "" && (!errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}
