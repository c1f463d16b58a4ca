package matrix

import (
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
)

// TestCounts holds that a cell says of how many runs a violation is true, and hides no run that reached no verdict.
func TestCounts(t *testing.T) {
	run := func(o reports.Outcome, first time.Duration, violated ...string) pages.CellRun {
		r := pages.CellRun{Verdict: o, FirstViolation: first}
		for _, name := range []string{"mutual-exclusion", "no-lost-update/unfenced", "free-lock"} {
			v := checker.Holds
			for _, n := range violated {
				if n == name {
					v = checker.Violated
				}
			}
			r.Properties = append(r.Properties, pages.Decided{Name: name, Verdict: v})
		}
		return r
	}
	disturbed := run(reports.Violates, time.Millisecond, "free-lock")
	disturbed.Repeated = true
	for _, c := range []struct {
		want string
		runs []pages.CellRun
	}{
		{"–", nil},
		{"holds", []pages.CellRun{run(reports.Good, 0), run(reports.Good, 0)}},
		{"ME LU 1.2 s", []pages.CellRun{
			run(reports.Violates, 2*time.Second, "mutual-exclusion", "no-lost-update/unfenced"),
			run(reports.Violates, 1200*time.Millisecond, "mutual-exclusion", "no-lost-update/unfenced")}},
		{"ME 2/3 LU 1/3 2.0 s", []pages.CellRun{
			run(reports.Good, 0),
			run(reports.Violates, 2*time.Second, "mutual-exclusion", "no-lost-update/unfenced"),
			run(reports.Violates, 3*time.Second, "mutual-exclusion")}},
		{"free-lock 1/2 0.5 s unknown 1/2", []pages.CellRun{
			run(reports.Violates, time.Second/2, "free-lock"), run(reports.Unclear, 0)}},
		{"unknown", []pages.CellRun{run(reports.Failed, 0)}},
		{"holds", []pages.CellRun{disturbed, run(reports.Good, 0)}},
		{"not run", []pages.CellRun{run(reports.NotRun, 0), run(reports.Waiting, 0)}},
		{"ME 1.0 s not run 1/2", []pages.CellRun{run(reports.Violates, time.Second, "mutual-exclusion"), run(reports.NotRun, 0)}},
	} {
		half := len(c.runs) / 2 // in two matrices
		x := func(runs []pages.CellRun) pages.Index {
			return pages.Index{Scenarios: []string{"s"}, Backends: []string{"redis", "etcd"},
				Cells: []pages.Cell{{Scenario: "s", Backend: "redis", Runs: runs}}}
		}
		var b strings.Builder
		if err := Counts(&b, x(c.runs[:half]), x(c.runs[half:])); err != nil {
			t.Fatal(err)
		}
		want := "| scenario | redis | etcd |\n|---|---|---|\n| s | " + c.want + " | – |\n"
		if b.String() != want {
			t.Errorf("got\n%swant\n%s", b.String(), want)
		}
	}
}
