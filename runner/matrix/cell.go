package matrix

import (
	"path/filepath"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/reports/remedies"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/runner"
)

// judged is what an index tells of a run. err is dlmtest's own, beside an outcome
// or instead of one.
func judged(dir string, out *runner.Outcome, err error) pages.CellRun {
	r := pages.CellRun{Verdict: reports.Failed}
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
		r.Properties = append(r.Properties, pages.Decided{Name: p.Name, Verdict: p.Verdict, Says: story.FirstOf(p)})
	}
	if out.Result.Verdict == checker.Violated {
		r.Remedy, r.Command = remedies.Explain(out.Setup, out.Ops, out.Result).Prevented, out.Run.Command
	}
	answers := out.Result.Answers
	r.Answers, r.Differs = &answers, out.Result.Differs
	r.FirstViolation, r.Doubts, r.JudgeFailed = time.Duration(out.Result.FirstViolation), out.Result.Doubts, out.Result.JudgeFailed
	if r.Error == "" || out.Result.Verdict == checker.Violated { // a violation always wins
		r.Verdict = reports.OutcomeOf(out.Result.Verdict)
	}
	return r
}
