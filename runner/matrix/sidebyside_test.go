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
	"github.com/dlmtest/dlmtest/runner"
)

// Each scenario that was judged on two backends gets a page that sets them side by side and leads to
// their reports; one of which only one run can be read has none.
func TestSideBySide(t *testing.T) {
	dir := t.TempDir()
	x := pages.Index{Scenarios: []string{"both", "one"}, Backends: []string{"redis", "etcd"}}
	for _, s := range x.Scenarios {
		for _, b := range x.Backends {
			c := pages.Cell{Scenario: s, Backend: b, Runs: []pages.CellRun{{Verdict: reports.Failed}}}
			if s == "both" || b == "etcd" {
				c.Runs[0] = judgedRun(t, dir, s+"_"+b)
			}
			c.Settle()
			x.Cells = append(x.Cells, c)
		}
	}
	if err := compareAll(t.Context(), golden.Root(t, dir), &x); err != nil {
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

// A matrix that was merged of its parts has these pages as well, and their links lead to the runs where they are now.
func TestMergeComparesBackends(t *testing.T) {
	for _, link := range []bool{false, true} {
		dir, out := t.TempDir(), filepath.Join(t.TempDir(), "whole")
		x := pages.Index{Format: pages.IndexFormat, Ended: true, Count: 1, Scenarios: []string{"both"}, Backends: []string{"redis", "etcd"}}
		for i, b := range x.Backends {
			c := pages.Cell{Scenario: "both", Backend: b, Runs: []pages.CellRun{judgedRun(t, dir, "both_"+b)}}
			c.Runs[0].Seed = uint64(i + 1)
			c.Settle()
			x.Cells = append(x.Cells, c)
		}
		if err := save(golden.Root(t, dir), x); err != nil {
			t.Fatal(err)
		}
		whole, err := Merge(Merging{Dirs: []string{dir}, Out: out, Link: link})
		if err != nil || whole.Compared["both"] != "side-by-side/both.html" {
			t.Fatalf("compared %v, %v", whole.Compared, err)
		}
		page, err := os.ReadFile(filepath.Join(out, whole.Compared["both"]))
		for _, c := range whole.Cells {
			if err != nil || !strings.Contains(string(page), `href="../`+c.Runs[0].Dir+`/report.html"`) {
				t.Errorf("link %v: the page does not lead to %s: %v", link, c.Runs[0].Dir, err)
			}
			if _, err := os.Stat(filepath.Join(out, c.Runs[0].Dir, "results.json")); err != nil {
				t.Error(err)
			}
		}
	}
}

// judgedRun judges a recorded history in a folder of the matrix.
func judgedRun(t *testing.T, dir, name string) pages.CellRun {
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

// A matrix that somebody sent is compared without writing where a link of it leads.
func TestSideBySideFollowsNoLink(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	x := pages.Index{Scenarios: []string{"both"}, Backends: []string{"redis", "etcd"}}
	for _, b := range x.Backends {
		c := pages.Cell{Scenario: "both", Backend: b, Runs: []pages.CellRun{judgedRun(t, dir, "both_"+b)}}
		c.Settle()
		x.Cells = append(x.Cells, c)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "side-by-side")); err != nil {
		t.Fatal(err)
	}
	if err := compareAll(t.Context(), golden.Root(t, dir), &x); err == nil || !strings.Contains(err.Error(), "side-by-side is a link") {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("it wrote outside: %v", left)
	}
}
