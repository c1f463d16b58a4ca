package matrix

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// judged is what an index tells of a run. err is dlmtest's own, beside an outcome
// or instead of one.
func judged(dir string, out *runner.Outcome, err error) reports.CellRun {
	r := reports.CellRun{Verdict: reports.Failed}
	if err != nil {
		r.Error = err.Error()
	}
	if out == nil {
		return r
	}
	r.Dir = filepath.Base(out.Dir)
	if below, err := filepath.Rel(dir, out.Dir); err == nil {
		r.Dir = filepath.ToSlash(below)
	}
	for _, p := range out.Result.Properties {
		r.Properties = append(r.Properties, reports.Decided{Name: p.Name, Verdict: p.Verdict})
	}
	r.FirstViolation, r.Doubts = time.Duration(out.Result.FirstViolation), out.Result.Doubts
	if r.Error == "" || out.Result.Verdict == checker.Violated { // a violation always wins
		r.Verdict = reports.OutcomeOf(out.Result.Verdict)
	}
	if out.Run.Interrupted == "" {
		r.Differs = differences(out)
	}
	return r
}

// differences compares a run with what its scenario expects of its lock.
func differences(out *runner.Outcome) (all []reports.Difference) {
	scenario, err := scenarios.Parse("run.json", []byte(out.Run.Resolved))
	if err != nil {
		return nil // of a run that was killed before it could say
	}
	for property, e := range scenario.Expected[history.LockName(out.Run.Backend, out.Run.Library)] {
		if is := out.Result.Property(property); is != nil && is.Verdict != e.Verdict {
			all = append(all, reports.Difference{Property: property, Is: is.Verdict, Expected: e.Verdict, Note: e.Note})
		}
	}
	slices.SortFunc(all, func(a, b reports.Difference) int { return cmp.Compare(a.Property, b.Property) })
	return all
}
