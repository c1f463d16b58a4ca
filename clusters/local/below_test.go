package local

import (
	"os"
	"path/filepath"
	"testing"
)

// Nothing is made, mounted upon or removed outside of a node's own folder, whatever its
// compose file calls it and wherever links lead.
func TestBelow(t *testing.T) {
	outside, own := t.TempDir(), t.TempDir()
	precious := filepath.Join(outside, "precious")
	err := os.WriteFile(precious, nil, 0o600)
	for name, to := range map[string]string{"out": outside, "up": "../../../../../../../..", "a": "/dlmtest", "run": "/var/run"} {
		if err == nil {
			err = os.Symlink(to, filepath.Join(own, name))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{"/out/x": filepath.Join(own, outside, "x"), "/up/etc": own + "/etc", "../../x": own + "/x", "/run/x": own + "/var/run/x",
		"/a/dlmtest": "", "/": "", "/proc/1": "", "/up": ""} {
		got, err := below(own, target)
		if want == "" && err == nil || want != "" && (err != nil || got != want) {
			t.Errorf("%q: %q, %v; want %q", target, got, err, want)
		}
	}
	relative, err := filepath.Rel(own, outside)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{cache: t.TempDir()}
	for _, database := range []string{relative, "/out", "/", "/up" + outside} {
		_ = r.copyDatabase(nodeConfig{Own: own, Node: Node{Database: database}}) // refused, or made below own
		if _, err := os.Stat(precious); err != nil {
			t.Fatalf("the database at %q: %v", database, err)
		}
	}
}
