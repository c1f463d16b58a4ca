package hunt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/stats"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/shrink"
	"github.com/dlmtest/dlmtest/scenarios"
)

// leastRuns is how many runs there must be time for to make anything of a finding.
const leastRuns = 6

// proofs is how often the smallest scenario of a finding is run again.
const proofs = 3

// least makes one finding small.
type least struct {
	h    *Hunt
	f    *Finding
	live *shrink.Live
}

// makeSmall makes a finding small as far as the time goes.
func (h *Hunt) makeSmall(ctx context.Context, f *Finding) error {
	defer func() { _ = h.locked(func() error { h.shrinking--; return nil }) }()
	h.mu.Lock()
	left, each := h.share(), h.took
	h.mu.Unlock()
	if left < leastRuns*each { // a session that goes on has more
		return h.locked(func() error { f.Note = "there was no time to make it smaller"; return h.save() })
	}
	err := h.shrink(ctx, f, left-Repeats*each)
	return errors.Join(err, h.locked(h.save))
}

// share is the time for one of the findings that are not small.
func (h *Hunt) share() time.Duration {
	waiting := 1
	for _, f := range h.Report.Findings {
		if !f.Shrunk && !f.begun {
			waiting++
		}
	}
	workers := max(h.Parallel, 1)
	return (h.For - time.Since(h.begun)) / time.Duration((waiting+workers-1)/workers)
}

// shrink makes a finding small: less of its scenario while this lock shows it and the reference
// lock does not.
func (h *Hunt) shrink(ctx context.Context, f *Finding, budget time.Duration) error {
	start, err := scenarios.Parse("hunt", []byte(f.Draft))
	if err != nil {
		return err
	}
	own := filepath.Join(findingsDir, fmt.Sprintf("trial-%d-%s", f.Trial, filepath.Base(f.Property)))
	dir := filepath.Join(h.Dir, own)
	if err := h.in.MkdirAll(own, 0o755); err != nil {
		return err
	}
	o := h.Options
	o.Seed, o.Oracle = f.Seed, "off"
	l := &least{h: h, f: f}
	l.live = &shrink.Live{Options: o, Property: f.Property, Tries: 2, Prove: proofs, Dir: dir,
		Deadline: time.Now().Add(budget), See: watching{h},
		Keep: func(c shrink.Candidate) error { return l.write(c.Scenario, "it was made no smaller yet") },
		Run: func(ctx context.Context, o runner.Options, p runner.Progress) (*runner.Outcome, error) {
			return h.within(ctx, o, p, false)
		}}
	oracle := l.onlyHere(ctx)
	switch yes, err := oracle(*start); {
	case err != nil && !errors.Is(err, shrink.ErrBudget):
		return ignoreCancel(ctx, err)
	case !yes && err != nil:
		return l.write(*start, "there was no time to make it smaller")
	case !yes:
		return l.done("it did not appear again at once, so it was not shrunk")
	}
	_, why := shrink.Smallest(*start, oracle)
	if why != nil && !errors.Is(why, shrink.ErrBudget) {
		return ignoreCancel(ctx, why)
	}
	best, unproven := l.live.Proven(ctx, func(s scenarios.Scenario) (*scenarios.Scenario, error) { return &s, nil })
	if unproven != nil && !errors.Is(unproven, shrink.ErrBudget) {
		return ignoreCancel(ctx, unproven)
	}
	return l.smallest(ctx, best, why)
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
func (l *least) onlyHere(ctx context.Context) shrink.Oracle {
	violates := l.live.Violates(ctx)
	return func(s scenarios.Scenario) (bool, error) {
		known := len(l.live.Kept)
		yes, err := violates(s)
		if !yes || err != nil || l.f.Owed || l.h.Reference == nil || l.f.ReferenceOf == 0 {
			return yes, err
		}
		seen, _, err := l.atReference(ctx, s, 1)
		if err == nil && seen == 0 {
			return true, nil
		}
		l.live.Kept = l.live.Kept[:known]
		return false, err
	}
}

// atReference counts in how many runs of a scenario the reference lock shows the violation.
func (l *least) atReference(ctx context.Context, s scenarios.Scenario, runs int) (seen, of int, err error) {
	var mu sync.Mutex
	one := func(attempt int) {
		out, _ := l.h.run(ctx, *l.h.Reference, l.h.beside(s), l.f.Seed+uint64(attempt), false)
		if out == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		p := out.Result.Property(l.f.Property)
		switch {
		case p != nil && p.Verdict == checker.Violated:
			seen++
			of++
		case usable(out):
			of++
		}
		err = errors.Join(err, l.h.forget(out.Dir))
	}
	for attempt := 0; of < runs && attempt < 2*runs && ctx.Err() == nil && err == nil; {
		var all sync.WaitGroup
		for range runs - of {
			own := attempt // the loop goes on meanwhile
			all.Go(func() { one(own) })
			attempt++
		}
		all.Wait()
	}
	return seen, of, errors.Join(err, ctx.Err())
}

// done says that no more can be made of a finding.
func (l *least) done(note string) error {
	return l.h.locked(func() error {
		l.f.Shrunk, l.f.Note = true, note
		return nil
	})
}

// smallest files the least scenario that was proven, with what the reference lock shows in it.
func (l *least) smallest(ctx context.Context, best shrink.Candidate, why error) error {
	f := l.f
	if best.Rate.Of == 0 || best.Rate.Seen < Again {
		return l.asFirst(fmt.Sprintf("the smallest scenario showed it in %d of %d runs", best.Rate.Seen, best.Rate.Of))
	}
	seen, of := f.ReferenceFound, f.ReferenceOf
	if f.ReferenceOf > 0 {
		var err error
		seen, of, err = l.atReference(ctx, best.Scenario, Repeats)
		switch {
		case err != nil:
			return ignoreCancel(ctx, err)
		case seen > 0 && !f.Owed:
			return l.asFirst(fmt.Sprintf("after shrinking, the reference lock showed it too (%d of %d)", seen, of))
		}
	}
	note := ""
	if why != nil {
		note = "the time was up, so less may do"
	}
	return errors.Join(l.h.locked(func() error {
		f.Shrunk, f.ReferenceFound, f.ReferenceOf = true, seen, of
		f.Found, f.Of = best.Rate.Seen, best.Rate.Of
		if run, err := filepath.Rel(l.h.Dir, best.Dir); err == nil && best.Dir != "" {
			f.Run = run
		}
		return nil
	}), l.write(best.Scenario, note), l.h.locked(func() error {
		if err := l.h.tell(f); err != nil {
			l.h.says(err.Error())
		}
		return nil
	}))
}

// asFirst tells a finding as it was seen first: what was made of it does not show it.
func (l *least) asFirst(why string) error {
	start, err := scenarios.Parse("hunt", []byte(l.f.Draft))
	if err != nil {
		return err
	}
	why += ", so it is told as it was seen first"
	return errors.Join(l.done(why), l.write(*start, why))
}

// write writes the scenario of the finding with a note.
func (l *least) write(s scenarios.Scenario, note string) error {
	return l.h.locked(func() error {
		l.f.Note = note
		return l.h.write(l.f, s, note)
	})
}

// write writes the scenario of a finding, ready to be committed, and names it in the finding.
func (h *Hunt) write(f *Finding, s scenarios.Scenario, note string) error {
	o := h.Options
	o.Seed = f.Seed
	name := h.name(f)
	r := shrink.Regression{Name: name, Options: o, Property: f.Property, Message: f.Message,
		Before: "trial " + fmt.Sprint(f.Trial),
		Rate:   stats.Rate{Seen: f.Found, Of: f.Of}, Proven: f.Found == f.Of && f.Of > 0, Note: note,
		From: reports.Run{ID: filepath.Base(h.Dir), Scenario: "hunt", Started: h.Report.Started}}
	path := filepath.Join(h.Dir, name+".yaml")
	f.Scenario, f.Size, f.Command = name+".yaml", shrink.Size(s), shrink.Command(o, path)
	return runner.Write(h.in, f.Scenario, func(w io.Writer) error { return r.Write(w, r.Scenario(s)) })
}

// watching passes on what a search for the smallest tells.
type watching struct{ to *Hunt }

func (w watching) Begins(shrink.Candidate) runner.Progress { return quiet{} }

func (w watching) Ended(c shrink.Candidate, proof bool) {
	what := "making it smaller"
	if proof {
		what = "proving it"
	}
	w.to.says(fmt.Sprintf("%s: %d of %d showed it: %s", what, c.Rate.Seen, c.Rate.Of, c.Size))
}
