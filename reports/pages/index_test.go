package pages

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/junit"
	"github.com/dlmtest/dlmtest/reports/sample"
)

// sampleIndex has a cell of each kind.
func sampleIndex() Index {
	decided := func(verdict checker.Verdict) []Decided {
		return []Decided{{Name: "mutual-exclusion", Verdict: verdict}, {Name: "lease-exclusion", Verdict: checker.Holds}}
	}
	x := Index{
		Format: IndexFormat, ID: "20261121T120000.000_matrix", Version: "v1", Ended: true, Count: 3, Parallel: 2,
		Command: []string{"dlmtest", "run", "--scenario", "all", "--backend", "redis,etcd"},
		Started: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Took: 95 * time.Second,
		Titles: map[string]string{"gc-pause": "The holder stops for longer than its lease"}, Compared: map[string]string{"gc-pause": "side-by-side/gc pause.html"},
		Scenarios: []string{"gc-pause", "leader-crash", "partition-ring"}, Backends: []string{"redis", "etcd"},
		Cells: []Cell{
			{Scenario: "gc-pause", Backend: "redis", Runs: []CellRun{
				{Seed: 1, Verdict: reports.Violates, Dir: "a b", Took: 9 * time.Second, Properties: decided(checker.Violated), FirstViolation: 2100 * time.Millisecond},
				{Seed: 2, Verdict: reports.Unclear, Dir: "c", Properties: decided(checker.Unknown), Doubts: []string{"Disturbed; repeat: a stall"}, Repeated: true},
				{Seed: 2, Verdict: reports.Good, Dir: "d", Properties: decided(checker.Holds),
					Differs: []checker.Difference{{Property: "mutual-exclusion", Is: checker.Holds, Expected: checker.Violated, Note: "as | published"}}},
				{Seed: 3, Verdict: reports.Violates, Dir: "e", Properties: decided(checker.Violated), FirstViolation: 1900 * time.Millisecond},
			}},
			{Scenario: "gc-pause", Backend: "etcd", Runs: []CellRun{{Seed: 1, Verdict: reports.Good, Dir: "f", Took: 8 * time.Second, Properties: decided(checker.Holds)}}},
			{Scenario: "leader-crash", Backend: "redis", Verdict: reports.NoSense, Reason: "no server of redis leads"},
			{Scenario: "leader-crash", Backend: "etcd", Runs: []CellRun{{Seed: 1, Verdict: reports.Failed, Error: "no Docker daemon answers"}}},
			{Scenario: "partition-ring", Backend: "redis", Runs: []CellRun{{Seed: 1, Verdict: reports.NotRun}}},
			{Scenario: "partition-ring", Backend: "etcd", Runs: []CellRun{{Seed: 1, Verdict: reports.Unclear, Dir: "g", Properties: decided(checker.Unknown), Doubts: []string{"Too little was seen."}}}},
		},
	}
	for i := range x.Cells {
		for n := range x.Cells[i].Runs {
			x.Cells[i].Runs[n].answered()
		}
		if x.Cells[i].Verdict != reports.NoSense {
			x.Cells[i].Settle()
		} else {
			x.Cells[i].Answers = checker.Skipped()
		}
	}
	return x
}

// answered gives a run the answers that go with its properties, as of a lock with leases and no tokens.
func (r *CellRun) answered() {
	if len(r.Properties) == 0 {
		return
	}
	result := checker.Result{Verdict: checker.Holds, Doubts: r.Doubts, Counts: checker.Counts{Faults: 1}}
	for _, p := range r.Properties {
		result.Properties = append(result.Properties, checker.Property{Name: p.Name, Verdict: p.Verdict, Reason: "It is so."})
	}
	result.Properties = append(result.Properties, checker.Property{Name: "no-lost-update/fenced", Verdict: checker.NA, Reason: "No token."})
	checker.Expect(history.Setup{Promise: history.Promise{Leased: true}}, &result, nil)
	result.Answers.AsExpected = result.Answers.AsExpected && len(r.Differs) == 0
	r.Answers = &result.Answers
}

func rendered(t *testing.T, render func(io.Writer, Index) error, x Index) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := render(&b, x); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestIndex(t *testing.T) {
	x := sampleIndex()
	page := rendered(t, IndexHTML, x)
	if dir := os.Getenv("REPORTS_OUT"); dir != "" { // to be looked at
		if err := os.WriteFile(filepath.Join(dir, "index.html"), page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page = regexp.MustCompile(`(?s)<style>.*</style>`).ReplaceAll(page, []byte("<style></style>"))
	sample.Same(t, "index.html", page)
	sample.Same(t, "index.md", rendered(t, IndexMarkdown, x))
	sample.Same(t, "index.xml", rendered(t, IndexJUnit, x))
}

func TestIndexIsSelfContained(t *testing.T) {
	page := rendered(t, IndexHTML, sampleIndex())
	for _, bad := range []string{`https?://`, `["'(]//\w`, `@import`, `url\(`, `<link`, `<iframe`, `<img`, `\bsrc=`, `fetch\(`, `XMLHttpRequest`, `import\(`} {
		if m := regexp.MustCompile(bad).Find(page); m != nil {
			t.Errorf("the index holds %q, which may lead out of it", m)
		}
	}
	sample.OnlyItsScript(t, page)
}

func TestIndexEscapes(t *testing.T) {
	const hostile = `</style><script>alert(1)</script><img src=x onerror=alert(2)>"'&`
	x := sampleIndex()
	plain := sample.Shape(t, rendered(t, IndexHTML, x))
	x.ID, x.Version, x.Scenarios[0], x.Backends[0] = hostile, hostile, hostile, hostile
	x.Titles, x.Compared = map[string]string{hostile: hostile}, map[string]string{hostile: hostile}
	x.Command = append(x.Command, hostile)
	for i := range x.Cells {
		c := &x.Cells[i]
		if c.Scenario == "gc-pause" {
			c.Scenario = hostile
		}
		if c.Backend == "redis" {
			c.Backend = hostile
		}
		if c.Reason != "" {
			c.Reason = hostile
		}
		for n := range c.Runs {
			if c.Runs[n].Error != "" {
				c.Runs[n].Error = hostile
			}
			if c.Runs[n].Dir != "" {
				c.Runs[n].Dir = "javascript:alert(1)" + hostile
			}
		}
	}
	page := rendered(t, IndexHTML, x)
	if got := sample.Shape(t, page); got != plain {
		t.Errorf("hostile text changed the elements of the page:\n%s\nwant\n%s", got, plain)
	}
	if bytes.Contains(page, []byte(`href="javascript:`)) {
		t.Error("a folder's name became a script")
	}
	if md := rendered(t, IndexMarkdown, x); bytes.Contains(md, []byte("<script")) {
		t.Errorf("the Markdown holds a script:\n%s", md)
	}
}

// Every row of the Markdown table has the same number of cells, whatever stands in them.
func TestIndexMarkdownIsATable(t *testing.T) {
	x := sampleIndex()
	x.Cells[3].Scenario, x.Scenarios[1] = "leader|crash", "leader|crash"
	for line := range strings.Lines(string(rendered(t, IndexMarkdown, x))) {
		if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); strings.HasPrefix(line, "|") && n != 4 {
			t.Errorf("%d bars: %s", n, line)
		}
	}
}

func TestIndexJUnitCounts(t *testing.T) {
	var got junit.XMLSuite
	if err := xml.Unmarshal(rendered(t, IndexJUnit, sampleIndex()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 9 || got.Failures != 2 || got.Errors != 3 || got.Skipped != 2 {
		t.Errorf("tests %d failures %d errors %d skipped %d, want 9 2 3 2", got.Tests, got.Failures, got.Errors, got.Skipped)
	}
}

// A violation wins over a failure, a failure over what is inconclusive, and
// nothing that was not judged is green.
func TestWorst(t *testing.T) {
	for _, c := range []struct {
		all  []reports.Outcome
		want reports.Outcome
	}{
		{[]reports.Outcome{reports.Good, reports.NoSense}, reports.Good}, {[]reports.Outcome{reports.Good, reports.Unclear}, reports.Unclear}, {[]reports.Outcome{reports.Unclear, reports.Failed, reports.Good}, reports.Failed},
		{[]reports.Outcome{reports.Failed, reports.Violates}, reports.Violates}, {[]reports.Outcome{reports.Good, reports.NotRun}, reports.NotRun}, {[]reports.Outcome{reports.Good, reports.Waiting}, reports.Waiting}, {nil, reports.Waiting},
	} {
		if got := reports.Worst(c.all); got != c.want {
			t.Errorf("worst of %v: %s, want %s", c.all, got, c.want)
		}
	}
}

func TestSettleCountsARepeatOnly(t *testing.T) {
	c := Cell{Runs: []CellRun{{Verdict: reports.Unclear, Repeated: true}, {Verdict: reports.Good}}}
	if c.Settle(); c.Verdict != reports.Good {
		t.Errorf("%s", c.Verdict)
	}
	c.Runs[0].Verdict = reports.Violates
	if c.Settle(); c.Verdict != reports.Violates {
		t.Errorf("a violation of a disturbed run: %s", c.Verdict)
	}
	c.Runs[0].Verdict, c.Runs[1].Verdict = reports.Unclear, reports.Waiting
	if c.Settle(); c.Verdict != reports.Waiting {
		t.Errorf("before its repeat has ended: %s", c.Verdict)
	}
}

// What an interrupted matrix has not run is not as expected: nobody knows.
func TestSummaryOfWhatRan(t *testing.T) {
	good := Cell{Scenario: "baseline", Backend: "redis", Runs: []CellRun{{Verdict: reports.Good, Properties: []Decided{{Name: "mutual-exclusion", Verdict: checker.Holds}}}}}
	good.Runs[0].answered()
	good.Settle()
	missing := Cell{Scenario: "baseline", Backend: "etcd", Verdict: reports.NotRun, Runs: []CellRun{{Verdict: reports.NotRun}}}
	for want, cells := range map[string][]Cell{
		"1 cell: 1 holds; all as expected":                      {good},
		"2 cells: 1 not run, 1 holds; all that ran as expected": {good, missing},
	} {
		if got := (Index{Cells: cells}).Summary(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
