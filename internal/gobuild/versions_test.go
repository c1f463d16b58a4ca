package gobuild

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestVersions(t *testing.T) {
	ownCache(t)
	proxy := t.TempDir()
	t.Setenv("GOPROXY", "file://"+proxy)
	if all, err := Versions(t.Context(), "example.com/lock"); err == nil {
		t.Errorf("of a module that no proxy knows: %q", all)
	}
	folder := filepath.Join(proxy, "example.com/lock/@v")
	info := []byte(`{"Version":"v1.10.0"}`)
	if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, "list"), []byte("v1.10.0\nv1.2.0\nv1.9.1\n"), 0o644),
		os.WriteFile(filepath.Join(folder, "v1.10.0.info"), info, 0o644), os.WriteFile(filepath.Join(folder, "v1.10.0.mod"), []byte("module example.com/lock\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if all, err := Versions(t.Context(), "example.com/lock"); err != nil || !slices.Equal(all, []string{"v1.2.0", "v1.9.1", "v1.10.0"}) {
		t.Errorf("%q %v", all, err)
	}
}
