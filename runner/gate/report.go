package gate

import (
	"fmt"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/internal/stats"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
)

// Format is the version of gate.json that this package writes.
const Format = 1

// Report is what a gate has decided and why; gate.json holds it. Durations are
// nanoseconds.
type Report struct {
	Format  int           `json:"dlmtest_gate"` // version of this file
	ID      string        `json:"id"`
	Name    string        `json:"name"`
	File    string        `json:"file"` // the gate's
	Command []string      `json:"command"`
	Version string        `json:"version"` // of dlmtest
	Started time.Time     `json:"started"`
	Took    time.Duration `json:"took"`
	Budget  time.Duration `json:"budget,omitempty"`
	Seed    uint64        `json:"seed"` // of cells that have none of their own
	State   State         `json:"state"`
	Stopped string        `json:"stopped,omitempty"` // why it ended early
	Cells   []CellReport  `json:"cells"`
}

// stop says why a gate ended early: it is then not green, whatever was decided.
func (r *Report) stop(why string) {
	r.Stopped = why
	if r.State == Pass {
		r.State = Inconclusive
	}
}

// CellReport is one cell of the file.
type CellReport struct {
	Name       string          `json:"name"` // Cell.Label
	Scenario   string          `json:"scenario"`
	Backend    string          `json:"backend"`
	Library    string          `json:"library"`
	Line       int             `json:"line"` // in the gate's file
	Count      int             `json:"count"`
	State      State           `json:"state"`
	Answers    checker.Answers `json:"answers"` // of the runs that took place
	Took       time.Duration   `json:"took"`    // by all its runs
	Runs       []pages.CellRun `json:"runs"`
	Properties []Judgement     `json:"properties"`
	Left       int             `json:"left,omitempty"` // runs that were not needed
	Notes      []string        `json:"notes,omitempty"`
}

// Judgement is what the gate decided of one property of a cell.
type Judgement struct {
	Property string `json:"property"`
	Want     Want   `json:"want"`
	Named    bool   `json:"named"` // the file names it
	Reason   string `json:"reason,omitempty"`
	Link     string `json:"link,omitempty"`
	Line     int    `json:"line"`
	State    State  `json:"state"`
	Why      string `json:"why"`
	Gone     bool   `json:"gone,omitempty"`  // a known weakness that was not seen
	Flaky    bool   `json:"flaky,omitempty"` // violated in some runs and not in others
	Tally    Tally  `json:"tally"`
	// Rate is how often it was violated, with 95 % confidence.
	Rate stats.Interval `json:"rate"`
	// Seeds are those of the runs that violated it.
	Seeds []uint64 `json:"seeds,omitempty"`
	// FirstRun is the first run that violated it, from 1; 0: none.
	FirstRun int `json:"first_run,omitempty"`
	// Detection is the time from the first grant of a run to its first violation of
	// any property: the median of the runs that violated this one.
	Detection time.Duration `json:"detection,omitempty"`

	certain bool
}

// Judge decides a cell from its runs so far. It is a pure function.
func Judge(cell Cell, runs []pages.CellRun) CellReport {
	r := CellReport{Name: cell.Label(), Scenario: scenarioName(cell.Scenario), Backend: cell.Backend, Library: cell.Library, Count: cell.Count, Runs: runs}
	for _, run := range runs {
		r.Took += run.Took
	}
	r.Answers = pages.AnswersOf(slices.DeleteFunc(slices.Clone(runs), func(run pages.CellRun) bool {
		return run.Verdict == reports.NotRun || run.Verdict == reports.Waiting
	}))
	for _, name := range judged(cell, runs) {
		r.Properties = append(r.Properties, judge(cell, name, runs))
	}
	r.settle()
	r.Notes = notes(runs)
	return r
}

// judged are the properties that a cell is about: those of every history, and of the kinds
// and uses of a lock those that its file names or its runs have judged.
func judged(cell Cell, runs []pages.CellRun) []string {
	return slices.DeleteFunc(checker.Names(), func(name string) bool {
		_, named := cell.Expect[name]
		c, _ := checker.Find(name)
		return !c.Always() && !named && !slices.ContainsFunc(runs, func(r pages.CellRun) bool {
			return slices.ContainsFunc(r.Properties, func(p pages.Decided) bool { return p.Name == name })
		})
	})
}

// judge decides one property of a cell.
func judge(cell Cell, name string, runs []pages.CellRun) Judgement {
	e, named := cell.wants(name)
	j := Judgement{Property: name, Want: e.Is, Named: named, Reason: e.Reason, Link: e.Link}
	var took []float64
	for _, s := range bySeed(runs) {
		shown := s.shows(name)
		j.Tally.add(shown)
		if shown == reports.Violates {
			j.Seeds = append(j.Seeds, s.last.Seed)
			if first := s.firstViolation(); first > 0 {
				took = append(took, float64(first))
			}
			if j.FirstRun == 0 {
				j.FirstRun = s.number
			}
		}
	}
	j.Tally.Left += max(0, cell.Count-j.Tally.planned()) // those that were left out
	d := Decide(e, named, j.Tally)
	j.State, j.Why, j.Gone, j.certain = d.State, d.Why, d.Gone, d.Certain
	j.Flaky, j.Rate = j.Tally.Flaky(), stats.Wilson(j.Tally.Violated, j.Tally.Conclusive())
	j.Detection = time.Duration(stats.Median(took))
	return j
}

// settle works out the state of the cell, and what is open in it for good.
func (r *CellReport) settle() {
	var all []State
	judged := false
	for _, j := range r.Properties {
		all = append(all, j.State)
		judged = judged || j.State != Skipped
		r.Left = max(r.Left, j.Tally.Left)
	}
	r.State = Worst(all)
	if !judged {
		r.State = Inconclusive // a cell that looks at nothing proves nothing
	}
	if r.State != Fail {
		return
	}
	for i := range r.Properties {
		if j := &r.Properties[i]; j.State == Undecided {
			j.State = Stopped
			j.Why = fmt.Sprintf("not decided: the cell had failed already, so %d of %s were left out", j.Tally.Left, nouns.Count(r.Count, "run"))
		}
	}
}

// Decided says that no further run can change the state of the cell.
func (r CellReport) Decided() bool {
	return r.State == Fail || !slices.ContainsFunc(r.Properties, func(j Judgement) bool { return !j.certain })
}

// notes list what happened to the runs beside their verdicts, so that nothing of it
// is silent.
func notes(runs []pages.CellRun) (all []string) {
	for _, s := range bySeed(runs) {
		all = append(all, s.notes()...)
	}
	return all
}
