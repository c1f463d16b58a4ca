package dlmtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/gate"
)

// said is a test that keeps what it is told.
type said struct {
	testing.TB
	bad, good []string
}

func (*said) Helper()                        {}
func (s *said) Failed() bool                 { return len(s.bad) > 0 }
func (s *said) Error(args ...any)            { s.bad = append(s.bad, fmt.Sprint(args...)) }
func (s *said) Errorf(f string, args ...any) { s.Error(fmt.Sprintf(f, args...)) }
func (s *said) Log(args ...any)              { s.good = append(s.good, fmt.Sprint(args...)) }
func (s *said) Logf(f string, args ...any)   { s.Log(fmt.Sprintf(f, args...)) }
func (s *said) Fatalf(f string, args ...any) { panic(fmt.Sprintf(f, args...)) }
func (s *said) has(all []string, w string) bool {
	return slices.ContainsFunc(all, func(line string) bool { return strings.Contains(line, w) })
}

// ran is a run that has decided properties so.
func ran(seed uint64, verdict reports.Outcome, of map[string]checker.Verdict) pages.CellRun {
	r := pages.CellRun{Seed: seed, Verdict: verdict, Dir: fmt.Sprintf("run-%d", seed)}
	for _, c := range checker.Checkers {
		v, named := of[c.Name]
		if !named {
			v = checker.NA
		}
		r.Properties = append(r.Properties, pages.Decided{Name: c.Name, Verdict: v})
	}
	return r
}

// Every outcome but the one that was expected fails the test, and says which it was.
func TestTell(t *testing.T) {
	const property = "mutual-exclusion"
	weak := map[string]gate.Expectation{property: {Is: gate.Weakness, Reason: "so it is", Link: "README.md"}}
	control := map[string]gate.Expectation{property: {Is: gate.MustDetect}}
	shows := func(v checker.Verdict) map[string]checker.Verdict { return map[string]checker.Verdict{property: v} }
	failed := pages.CellRun{Seed: 1, Verdict: reports.Failed, Error: "the daemon is gone"}
	for _, c := range []struct {
		what      string
		expect    map[string]gate.Expectation
		runs      []pages.CellRun
		bad, good string // a word that must be there; "": nothing bad
	}{
		{"holds", nil, []pages.CellRun{ran(1, reports.Good, shows(checker.Holds))}, "", "1 pass"},
		{"violated", nil, []pages.CellRun{ran(1, reports.Violates, shows(checker.Violated))}, property + ": violated in 1 of 1 run", "1 fail"},
		{"unknown", nil, []pages.CellRun{ran(1, reports.Unclear, shows(checker.Unknown))}, "inconclusive, which is not green", ""},
		{"nothing judged", nil, []pages.CellRun{ran(1, reports.Good, nil)}, "inconclusive", ""},
		{"failed", nil, []pages.CellRun{failed}, "no verdict about the lock", ""},
		{"failed, with its words", nil, []pages.CellRun{failed}, "the daemon is gone", ""},
		{"weakness seen", weak, []pages.CellRun{ran(1, reports.Violates, shows(checker.Violated))}, "", "known weakness, violated in 1 of 1 run"},
		{"weakness gone", weak, []pages.CellRun{ran(1, reports.Good, shows(checker.Holds))}, "", "NOT SEEN any more"},
		{"weakness not tried", weak, []pages.CellRun{ran(1, reports.Unclear, shows(checker.Unknown))}, "inconclusive", ""},
		{"detected", control, []pages.CellRun{ran(1, reports.Violates, shows(checker.Violated))}, "", "detected in 1 of 1 run"},
		{"not detected", control, []pages.CellRun{ran(1, reports.Good, shows(checker.Holds))}, "must be detected", ""},
		{"flaky", nil, []pages.CellRun{ran(1, reports.Good, shows(checker.Holds)), ran(2, reports.Violates, shows(checker.Violated))}, "FLAKY", ""},
	} {
		cell := gate.Cell{Scenario: "baseline", Backend: "redis", Count: len(c.runs), Expect: c.expect}
		if c.expect[property].Is == gate.MustDetect {
			cell.Others = gate.NotJudged
		}
		judged := gate.Judge(cell, c.runs)
		r := gate.Report{State: judged.State, Cells: []gate.CellReport{judged}}
		s := &said{}
		(&attempt{TB: s}).tell(t.TempDir(), r)
		if s.Failed() != (c.bad != "") || c.bad != "" && !s.has(s.bad, c.bad) {
			t.Errorf("%s: failed with %q, want %q", c.what, s.bad, c.bad)
		}
		if c.good != "" && !s.has(s.good, c.good) {
			t.Errorf("%s: logged %q, want %q", c.what, s.good, c.good)
		}
	}
}

// One course of events that breaks two properties is told once, and to its end.
func TestTellsAStoryOnce(t *testing.T) {
	f, err := os.Open("reports/testdata/history-gc-pause-read-redis.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	setup, ops, err := history.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	out := &runner.Outcome{Dir: "run-1", Setup: setup, Ops: ops, Result: checker.Judge(setup, ops)}
	told := stories{}
	first := told.tell(out, "no-lost-update/unfenced")
	_, v, _ := story.First(out.Result)
	steps := story.Of(setup, ops, v)
	if last := steps[len(steps)-1].What; !strings.Contains(first, last) || strings.Count(first, "\n") != len(steps) {
		t.Errorf("%d steps, the last %q; told:\n%s", len(steps), last, first)
	}
	if again := told.tell(out, "mutual-exclusion"); !strings.Contains(again, "as told of no-lost-update/unfenced") || strings.Contains(again, steps[1].What) {
		t.Errorf("told again:\n%s", again)
	}
	other := *out
	other.Dir = "run-2"
	if again := told.tell(&other, "mutual-exclusion"); strings.Contains(again, "as told") {
		t.Errorf("another run is no story told:\n%s", again)
	}
}

// A report that does not pass fails the test, whatever else it says.
func TestTellWhatIsStopped(t *testing.T) {
	for _, r := range []gate.Report{{State: gate.Inconclusive, Stopped: "The budget was used up."}, {State: gate.Undecided}, {State: gate.Broken}} {
		s := &said{}
		(&attempt{TB: s}).tell(t.TempDir(), r)
		if !s.Failed() {
			t.Errorf("%+v is green", r)
		}
	}
}

func TestMistakesOfALock(t *testing.T) {
	sound := memory(everything)
	for want, change := range map[string]func(*Lock){
		"Lock.Name":           func(l *Lock) { l.Name = "a b" },
		"is taken":            func(l *Lock) { l.Name = "reference" },
		"Lock.Version":        func(l *Lock) { l.Version = "v1 beta" },
		"Lock.Backends is":    func(l *Lock) { l.Backends = nil },
		`no backend is "etc"`: func(l *Lock) { l.Backends = []string{"etc"} },
		"Lock.Open is nil":    func(l *Lock) { l.Open = nil },
		"about a lease":       func(l *Lock) { l.Promise.Leased = false },
	} {
		l := sound
		l.Name = "mine"
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
		if change(&l); l.Check() == nil || !strings.Contains(l.Check().Error(), want) {
			t.Errorf("got %v, want %q", l.Check(), want)
		}
	}
}
