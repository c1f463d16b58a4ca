package pins

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestNearest(t *testing.T) {
	all := []string{"v1.0.0", "v1.1.0", "v1.2.0", "v2.0.0", "v2.1.0"}
	for v, want := range map[string][]string{
		"v9.0.0": {"v2.0.0", "v2.1.0"}, "v0.1.0": {"v1.0.0", "v1.1.0"}, "v1.1.5": {"v1.0.0", "v1.1.0", "v1.2.0", "v2.0.0"},
	} {
		if got := nearest(v, all); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", v, got, want)
		}
	}
}

// A version that does not exist is told in plain words, with those that do; any other
// reason why a build fails keeps its own.
func TestNoVersion(t *testing.T) {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(out)))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	proxy := t.TempDir()
	t.Setenv("GOPROXY", "file://"+proxy)
	t.Setenv("GONOSUMDB", "*")
	pin := Pin{Library: "redsync", Version: "v4.99.0", Source: Source{Module: "github.com/go-redsync/redsync/v4", Since: "v4.0.0", Folder: "redsync", Name: "Adapter"},
		Sources: fstest.MapFS{"redsync/redsync.go": {Data: []byte("package redsync\n\nimport _ \"github.com/go-redsync/redsync/v4\"\n")}}}
	_, err = pin.Build(t.Context(), func(string) {})
	if err == nil || errors.Is(err, ErrNoVersion) {
		t.Errorf("a proxy that knows nothing: %v", err)
	}
	folder := filepath.Join(proxy, "github.com/go-redsync/redsync/v4/@v")
	if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, "list"), []byte("v4.15.0\nv4.0.1\nv4.16.0\nv4.14.1\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	_, err = pin.Build(t.Context(), func(string) {})
	want := "--library redsync@v4.99.0: there is no such version: github.com/go-redsync/redsync/v4 has no v4.99.0. The nearest are v4.15.0, v4.16.0, the newest is v4.16.0. What to do: --library redsync@v4.16.0; go list -m -versions github.com/go-redsync/redsync/v4 shows all"
	if !errors.Is(err, ErrNoVersion) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	pin.Version = "v4.15.0" // which is there, and cannot be had
	if _, err := pin.Build(t.Context(), func(string) {}); err == nil || errors.Is(err, ErrNoVersion) {
		t.Errorf("a version that is in the list: %v", err)
	}
}
