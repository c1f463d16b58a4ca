package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jacoelho/xsd"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/golden"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

// sample is a gate with a cell of each kind of end.
func sample(t *testing.T) Report {
	t.Helper()
	c, err := Parse("ci/gate.yaml", []byte(`
cells:
  - {scenario: baseline, backend: redis, count: 2}
  - scenario: gc-pause
    backend: redis
    count: 3
    expect:
      mutual-exclusion: {is: known-weakness, reason: "every lease | ends", link: "https://example.org/(1)"}
      honest-claims: {is: known-weakness, reason: was, link: docs/was.md}
  - scenario: naive-release
    backend: broken/no-owner-check
    count: 1
    others: not-judged
    expect: {release-by-owner: must-detect}
  - {scenario: gc-pause, backend: etcd, count: 3}
  - {scenario: orphan, backend: etcd, count: 2}
`))
	if err != nil {
		t.Fatal(err)
	}
	g := gate{Spec: Spec{Config: c, Version: "1.0", Command: []string{"dlmtest", "gate"}, Seed: 1}}
	disturbed := shown(2, checker.Holds, map[string]checker.Verdict{"recovery": checker.Unknown})
	disturbed.Repeated, disturbed.Doubts = true, []string{"Disturbed; repeat: a stall"}
	weak := map[string]checker.Verdict{"mutual-exclusion": checker.Violated, "fairness": checker.NA}
	failed := pages.CellRun{Seed: 1, Verdict: reports.Failed, Error: "no daemon\nanswers \x1b[31m"}
	r := g.report(pages.Index{ID: "20261121_gate", Started: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Cells: []pages.Cell{
		{Runs: []pages.CellRun{shown(1, checker.Holds, nil), disturbed, shown(2, checker.Holds, nil)}},
		{Runs: []pages.CellRun{shown(1, checker.Holds, weak), shown(2, checker.Holds, weak), shown(3, checker.Holds, map[string]checker.Verdict{"fairness": checker.NA})}},
		{Runs: []pages.CellRun{shown(1, checker.Holds, map[string]checker.Verdict{"release-by-owner": checker.Violated, "mutual-exclusion": checker.Violated})}},
		{Runs: []pages.CellRun{shown(1, checker.Holds, nil), shown(2, checker.Holds, map[string]checker.Verdict{"fenced-writes": checker.Violated})}},
		{Runs: []pages.CellRun{failed, {Seed: 2, Verdict: reports.NotRun}}},
	}}, 12*time.Second)
	r.Stopped = "The budget of 12s was used up before the end."
	return r
}

var styles = regexp.MustCompile(`(?s)<style>.*</style>\n`)

func TestOutputs(t *testing.T) {
	r := sample(t)
	if r.State != Fail {
		t.Errorf("state %s", r.State)
	}
	for name, write := range map[string]func(io.Writer) error{
		"gate.txt":   func(w io.Writer) error { return Text(w, "runs/latest-gate", r, false) },
		"gate.md":    func(w io.Writer) error { return Markdown(w, r) },
		"gate.xml":   func(w io.Writer) error { return JUnit(w, r) },
		"gate.sarif": func(w io.Writer) error { return SARIF(w, r) },
		"gate.html":  func(w io.Writer) error { return Page(w, r) },
		"gate.jsonl": func(w io.Writer) error { return Lines(w, r) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(name, err)
		}
		golden.Compare(t, filepath.Join("testdata", name), styles.ReplaceAll(b.Bytes(), nil))
	}
}

func TestJUnitFollowsTheSchema(t *testing.T) {
	schema, err := xsd.LoadFile("../../reports/testdata/junit.xsd")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]Report{"sample": sample(t), "empty": {}} {
		var b bytes.Buffer
		if err := JUnit(&b, r); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(bytes.NewReader(b.Bytes())); err != nil {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
		// A known weakness is no failure, and what is inconclusive is never skipped.
		if name == "sample" && !strings.Contains(b.String(), `failures="1" errors="14" skipped="27"`) {
			t.Errorf("the counts are not as expected:\n%s", strings.SplitN(b.String(), "\n", 3)[1])
		}
	}
}

func TestSARIFFollowsTheSchema(t *testing.T) {
	for name, r := range map[string]Report{"sample": sample(t), "empty": {}} {
		var b bytes.Buffer
		if err := SARIF(&b, r); err != nil {
			t.Fatal(err)
		}
		log, err := sarif.FromBytes(b.Bytes())
		if err == nil {
			err = log.Validate()
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
	}
}

func TestLinesAreJSON(t *testing.T) {
	var b bytes.Buffer
	if err := Lines(&b, sample(t)); err != nil {
		t.Fatal(err)
	}
	n, last := 0, map[string]any{}
	for line := range bytes.Lines(b.Bytes()) {
		clear(last)
		if err := json.Unmarshal(line, &last); err != nil {
			t.Fatal(err)
		}
		n++
	}
	always := slices.DeleteFunc(slices.Clone(checker.Checkers), func(c checker.Checker) bool { return !c.Always() })
	if want := 5*len(always) + 1; n != want || last["event"] != "gate" || last["state"] != "fail" {
		t.Errorf("%d lines, want %d; the last is %v", n, want, last)
	}
}

// The budget: what would not end in time is not begun, and that is noted.
func TestBudget(t *testing.T) {
	c := &Config{Cells: []Cell{{Count: 5}, {Count: 5}}}
	took := func(d time.Duration, n int) (cell pages.Cell) {
		for i := range n {
			r := shown(uint64(i+1), checker.Holds, nil)
			r.Took = d
			cell.Runs = append(cell.Runs, r)
		}
		cell.Runs = append(cell.Runs, pages.CellRun{Seed: 9, Verdict: reports.Waiting})
		return cell
	}
	g := &gate{Spec: Spec{Config: c, Budget: time.Hour}, ends: time.Now().Add(time.Minute)}
	for i, step := range []struct {
		cell int
		runs pages.Cell
		want matrix.Next
		late bool
	}{
		{0, took(0, 0), matrix.Go, false},               // nothing is known of it
		{0, took(30*time.Second, 1), matrix.Go, false},  // fits
		{0, took(90*time.Second, 1), matrix.Late, true}, // would not end in time
		{1, took(0, 0), matrix.Late, true},              // no run of this cell yet: the longest of the others
		{1, took(time.Second, 1), matrix.Go, true},      // short ones still fit
	} {
		if got := g.before(step.cell, step.runs); got != step.want || g.late != step.late {
			t.Errorf("step %d: %v, late %v; want %v, %v", i, got, g.late, step.want, step.late)
		}
	}
	red := pages.Cell{Runs: []pages.CellRun{shown(1, checker.Violated, nil), {Seed: 2, Verdict: reports.Waiting}}}
	if got := g.before(0, red); got != matrix.Enough {
		t.Errorf("a decided cell goes on: %v", got)
	}
	g.All = true
	if got := g.before(0, red); got != matrix.Go {
		t.Errorf("--all leaves runs out: %v", got)
	}
}

// What a run says, and where it lies, begins no line of its own, as "--- PASS" would, and is no link and no command.
func TestForeignWordsStayInTheirLine(t *testing.T) {
	r := sample(t)
	for i := range r.Cells {
		for j := range r.Cells[i].Runs {
			run := &r.Cells[i].Runs[j]
			run.Dir = "a; b"
			for k := range run.Properties {
				run.Properties[k].Says = "it\n--- PASS: all\n[click](http://evil)"
			}
		}
	}
	var text, code bytes.Buffer
	if err := errors.Join(Text(&text, "dir", r, true), SARIF(&code, r)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "\n--- PASS: all") || !strings.Contains(text.String(), "it·--- PASS: all") || !strings.Contains(text.String(), "explain 'dir/a; b'") {
		t.Error(text.String())
	}
	if strings.Contains(code.String(), "](") || !strings.Contains(code.String(), "[click] (http") {
		t.Error(code.String())
	}
}
