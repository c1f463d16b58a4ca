package clusters

import (
	"archive/tar"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestResolveEtcdRefusesWhatItCannotBuild(t *testing.T) {
	for _, version := range []string{"", "3", "3.4", "3.4.23", "4.0", "latest", "3.6.16-rc.1", "3.6/../.."} {
		if got, err := resolveEtcd(t.Context(), version); err == nil {
			t.Errorf("%q became %q", version, got)
		}
	}
	for _, version := range []string{"3.6.16", "v3.6.16"} {
		if got, err := resolveEtcd(t.Context(), version); got != "v3.6.16" || err != nil {
			t.Errorf("%q became %q, %v", version, got, err)
		}
	}
}

func TestFilesContext(t *testing.T) {
	program := filepath.Join(t.TempDir(), "etcd")
	if err := os.WriteFile(program, []byte("binary"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := tar.NewReader(filesContext("FROM x\n", program))
	for _, want := range []struct {
		name, text string
		mode       int64
	}{{"Dockerfile", "FROM x\n", 0o644}, {"etcd", "binary", 0o755}} {
		h, err := files.Next()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(files)
		if h.Name != want.name || h.Mode != want.mode || string(text) != want.text || err != nil {
			t.Errorf("%s %o %q %v, want %+v", h.Name, h.Mode, text, err, want)
		}
	}
	if _, err := io.Copy(io.Discard, filesContext("FROM x\n", program+"-missing")); err == nil {
		t.Error("a missing program makes half a context")
	}
}

// One whole build; a second finds the image.
func TestBuildEtcd(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles etcd, about a minute")
	}
	d := docker(t)
	image, err := d.BuildEtcd(t.Context(), "3.6", func(s string) { t.Log(s) })
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.BuildEtcd(t.Context(), "3.6", func(s string) { t.Errorf("built once more: %s", s) })
	if again != image || err != nil {
		t.Errorf("%s, then %s: %v", image, again, err)
	}
	t.Log(image)
}
