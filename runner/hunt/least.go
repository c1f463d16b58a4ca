package hunt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/shrink"
	"github.com/dlmtest/dlmtest/scenarios"
)

// shrinkAll makes each finding small that is not, as far as the time goes.
func (h *Hunt) shrinkAll(ctx context.Context) error {
	for i, f := range h.Report.Findings {
		if f.Shrunk || ctx.Err() != nil {
			continue
		}
		left := (h.For - time.Since(h.begun)) / time.Duration(len(h.Report.Findings)-i)
		if left < leastRuns*h.took { // a session that goes on has more
			f.Note = "there was no time to make it smaller"
			continue
		}
		if err := h.shrink(ctx, f, left-Repeats*h.took); err != nil {
			return err
		}
		if err := h.save(); err != nil {
			return err
		}
	}
	return nil
}

// leastRuns is how many runs there must be time for to make anything of a finding.
const leastRuns = 6

// proofs is how often the smallest scenario of a finding is run again.
const proofs = 3

// shrink makes a finding small: less of its scenario while this lock shows it and the reference
// lock does not.
func (h *Hunt) shrink(ctx context.Context, f *Finding, budget time.Duration) error {
	start, err := scenarios.Parse("hunt", []byte(f.Draft))
	if err != nil {
		return err
	}
	dir := filepath.Join(h.Dir, findingsDir, fmt.Sprintf("trial-%d-%s", f.Trial, filepath.Base(f.Property)))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	o := h.Options
	o.Seed, o.Oracle = f.Seed, "off"
	live := &shrink.Live{Options: o, Property: f.Property, Tries: 2, Prove: proofs, Dir: dir,
		Deadline: time.Now().Add(budget), See: watching{h.Watch},
		Keep: func(c shrink.Candidate) error { return h.write(f, c.Scenario, "it was made no smaller yet") },
		Run: func(ctx context.Context, o runner.Options, p runner.Progress) (*runner.Outcome, error) {
			h.Report.Runs++
			return h.Run(ctx, o, p)
		}}
	oracle := h.onlyHere(ctx, f, live)
	switch yes, err := oracle(*start); {
	case err != nil && !errors.Is(err, shrink.ErrBudget):
		return ignoreCancel(ctx, err)
	case !yes:
		f.Note, f.Shrunk = "there was no time to make it smaller", err == nil
		if f.Shrunk {
			f.Note = "it did not show again at once, so it was made no smaller"
		}
		return h.write(f, *start, f.Note)
	}
	_, why := shrink.Smallest(*start, oracle)
	if why != nil && !errors.Is(why, shrink.ErrBudget) {
		return ignoreCancel(ctx, why)
	}
	best, unproven := live.Proven(ctx, func(s scenarios.Scenario) (*scenarios.Scenario, error) { return &s, nil })
	if unproven != nil && !errors.Is(unproven, shrink.ErrBudget) {
		return ignoreCancel(ctx, unproven)
	}
	return h.smallest(ctx, f, best, why)
}

// ignoreCancel: who interrupts keeps what there is.
func ignoreCancel(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// onlyHere is the oracle of the search: the violation is there, and where the service does not
// owe it in any case, the reference lock does not show it.
func (h *Hunt) onlyHere(ctx context.Context, f *Finding, live *shrink.Live) shrink.Oracle {
	violates := live.Violates(ctx)
	return func(s scenarios.Scenario) (bool, error) {
		known := len(live.Kept)
		yes, err := violates(s)
		if !yes || err != nil || f.owed || h.Reference == nil || f.ReferenceOf == 0 {
			return yes, err
		}
		seen, _, err := h.atReference(ctx, f.Property, s, f.Seed, 1)
		if err == nil && seen == 0 {
			return true, nil
		}
		live.Kept = live.Kept[:known]
		return false, err
	}
}

// atReference counts in how many runs of a scenario the reference lock shows a violation.
func (h *Hunt) atReference(
	ctx context.Context, property string, s scenarios.Scenario, seed uint64, runs int,
) (seen, of int, err error) {
	for attempt := 0; of < runs && attempt < 2*runs && ctx.Err() == nil; attempt++ {
		out, _ := h.run(ctx, *h.Reference, s, seed+uint64(attempt))
		if out == nil {
			continue
		}
		p := out.Result.Property(property)
		switch {
		case p != nil && p.Verdict == checker.Violated:
			seen++
			of++
		case usable(out):
			of++
		}
		if err := os.RemoveAll(out.Dir); err != nil {
			return seen, of, err
		}
	}
	return seen, of, ctx.Err()
}

// smallest files the least scenario that was proven, with what the reference lock shows in it.
func (h *Hunt) smallest(ctx context.Context, f *Finding, best shrink.Candidate, why error) error {
	f.Shrunk = true
	if best.Rate.Of == 0 || best.Rate.Seen < Again {
		f.Note = fmt.Sprintf("the smallest scenario showed it in %d of %d runs, so it is told as it was seen first",
			best.Rate.Seen, best.Rate.Of)
		return nil
	}
	if f.ReferenceOf > 0 {
		seen, of, err := h.atReference(ctx, f.Property, best.Scenario, f.Seed, Repeats)
		switch {
		case err != nil:
			return ignoreCancel(ctx, err)
		case seen > 0 && !f.owed:
			f.Note = fmt.Sprintf("made smaller, the reference lock showed it too (%d of %d), so it is told as it was seen first", seen, of)
			return nil
		}
		f.ReferenceFound, f.ReferenceOf = seen, of
	}
	f.Found, f.Of, f.Note = best.Rate.Seen, best.Rate.Of, ""
	if why != nil {
		f.Note = "the time was up, so less may do"
	}
	if run, err := filepath.Rel(h.Dir, best.Dir); err == nil && best.Dir != "" {
		f.Run = run
	}
	return h.write(f, best.Scenario, f.Note)
}

// write writes the scenario of a finding, ready to be committed, and names it in the finding.
func (h *Hunt) write(f *Finding, s scenarios.Scenario, note string) error {
	o := h.Options
	o.Seed = f.Seed
	name := h.name(f)
	r := shrink.Regression{Name: name, Options: o, Property: f.Property, Message: f.Message,
		Before: "trial " + fmt.Sprint(f.Trial),
		Rate:   reports.Rate{Seen: f.Found, Of: f.Of}, Proven: f.Found == f.Of && f.Of > 0, Note: note,
		From: reports.Run{ID: filepath.Base(h.Dir), Scenario: "hunt", Started: h.Report.Started}}
	path := filepath.Join(h.Dir, name+".yaml")
	f.Scenario, f.Size, f.Command = name+".yaml", shrink.Size(s), shrink.Command(o, path)
	return r.Save(path, r.Scenario(s))
}

// watching passes on what a search for the smallest tells.
type watching struct{ to Watcher }

func (w watching) Begins(shrink.Candidate) runner.Progress { return quiet{} }

func (w watching) Ended(c shrink.Candidate, proof bool) {
	what := "making it smaller"
	if proof {
		what = "proving it"
	}
	w.to.Says(fmt.Sprintf("%s: %d of %d showed it: %s", what, c.Rate.Seen, c.Rate.Of, c.Size))
}
