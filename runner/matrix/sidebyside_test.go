package matrix

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/runner"
)

// Each scenario that was judged on two backends gets a page that sets them side by side and leads to
// their reports; one of which only one run can be read has none.
func TestSideBySide(t *testing.T) {
	dir := t.TempDir()
	x := reports.Index{Scenarios: []string{"both", "one"}, Backends: []string{"redis", "etcd"}}
	for _, s := range x.Scenarios {
		for _, b := range x.Backends {
			c := reports.Cell{Scenario: s, Backend: b, Runs: []reports.CellRun{{Verdict: reports.Failed}}}
			if s == "both" || b == "etcd" {
				c.Runs[0] = judgedRun(t, dir, s+"_"+b)
			}
			c.Settle()
			x.Cells = append(x.Cells, c)
		}
	}
	if err := compareAll(t.Context(), dir, &x); err != nil {
		t.Fatal(err)
	}
	if len(x.Compared) != 1 || x.Compared["both"] != "side-by-side/both.html" {
		t.Fatalf("compared %v", x.Compared)
	}
	page, err := os.ReadFile(filepath.Join(dir, x.Compared["both"]))
	for _, link := range []string{`href="../both_redis/report.html"`, `href="../both_etcd/report.html"`} {
		if err != nil || !strings.Contains(string(page), link) {
			t.Errorf("no %s: %v", link, err)
		}
	}
}

// judgedRun judges a recorded history in a folder of the matrix.
func judgedRun(t *testing.T, dir, name string) reports.CellRun {
	t.Helper()
	text, err := os.ReadFile("../../reports/testdata/history-gc-pause-etcd.jsonl")
	own := filepath.Join(dir, name)
	if err == nil {
		err = os.Mkdir(own, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(own, "history.jsonl"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := runner.Check(t.Context(), own, checker.Oracle{})
	r := judged(dir, out, err)
	if r.Violation("no-lost-update/unfenced") == "" || r.Remedy == "" || r.Violation("no-lost-update/fenced") != "" {
		t.Errorf("the index says nothing of what happened: %+v", r)
	}
	return r
}
