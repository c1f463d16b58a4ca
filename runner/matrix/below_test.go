package matrix

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/golden"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
)

// Whatever an index names, only folders below the matrix are judged, and no link in
// them is followed.
func TestCheckFollowsNoLink(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "history.jsonl")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c/d"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"linked": outside, "c/out": outside, "a/history.jsonl": secret, "b/violations": outside} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"linked": "is a link", "c/out": "is a link", "a": "is a link", "b": "is a link", "../" + filepath.Base(outside): "not below", outside: "not below", "..": "not below", "c/d/../../..": "not below",
		"c/d": "history.jsonl", // no link: it is only empty
	} {
		r := again(t.Context(), golden.Root(t, dir), pages.CellRun{Dir: name}, checker.Oracle{})
		if r.Verdict != reports.Failed || !strings.Contains(r.Error, want) || strings.Contains(r.Error, "secret") {
			t.Errorf("%s: %s %q, want %q", name, r.Verdict, r.Error, want)
		}
	}
	left, err := os.ReadDir(outside)
	if err != nil || len(left) != 1 {
		t.Errorf("outside: %v, %v", left, err)
	}
}
