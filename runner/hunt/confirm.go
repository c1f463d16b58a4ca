package hunt

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// candidate is a violated property of a trial, while it is looked into.
type candidate struct {
	Evidence
	cause, message string
	unfenced       bool // what is broken is data without a fence
}

// suspect is a trial that has violated something.
type suspect struct {
	number int
	seed   uint64
	trial  scenarios.Scenario
	met    []map[history.Phase]bool // what came of its faults, when it was tried
	all    []*candidate
}

// stale says that the candidate is what any holder does that acts after its lease: it breaks one such
// property or another, as chance has it.
func (c *candidate) stale() bool { return c.Owed == checker.Unleased || c.unfenced }

// strays says that a holder acted after its lease in a run, whatever came of it.
func strays(out *runner.Outcome) bool {
	return slices.ContainsFunc(out.Result.Properties, func(p checker.Property) bool {
		row, _ := checker.Find(p.Name)
		return p.Verdict == checker.Violated && (row.Owed == checker.Unleased || row.Owed == checker.Data && !row.Fenced)
	})
}

// dismissals are how often a cause is dismissed until it is not looked into any more.
const dismissals = 3

// candidates are what a trial has violated.
func (h *Hunt) candidates(t scenarios.Scenario, out *runner.Outcome) (all []*candidate) {
	for _, p := range out.Result.Properties {
		if p.Verdict != checker.Violated {
			continue
		}
		row, _ := checker.Find(p.Name)
		c := &candidate{cause: cause(out.Setup, out.Ops, p), unfenced: row.Owed == checker.Data && !row.Fenced, Evidence: Evidence{Property: p.Name, Owed: row.Owed,
			Compared: h.Reference != nil, Excuse: excuse(t, out.Setup.Clients)}}
		if v := firmest(p); v != nil {
			c.message = v.Message
		}
		if row.Owed == checker.Unleased && !out.Setup.Promise.Leased {
			c.Owed = checker.Service
		}
		all = append(all, c)
	}
	return all
}

// suspect takes a trial that is to be looked into. Where a cause of it is looked into already,
// it waits for what comes of that.
func (h *Hunt) suspect() *suspect {
	for i := 0; i < len(h.suspects); i++ {
		s := h.suspects[i]
		if slices.ContainsFunc(s.all, func(c *candidate) bool { return h.looks(c) }) {
			continue
		}
		h.suspects = slices.Delete(h.suspects, i, i+1)
		s.all = slices.DeleteFunc(s.all, func(c *candidate) bool { return h.settled(c, s.trial) })
		if len(s.all) > 0 {
			for _, c := range s.all {
				h.looking[c.cause] = true
			}
			return s
		}
		i--
	}
	return nil
}

// looks says whether a cause like that of c is looked into.
func (h *Hunt) looks(c *candidate) bool {
	for cause, now := range h.looking {
		if now && sameCause(cause, c.cause) {
			return true
		}
	}
	return false
}

// examine looks into what a trial has violated, and keeps what is a finding.
func (h *Hunt) examine(ctx context.Context, s *suspect) error {
	l := &look{h: h, s: s, shows: map[string]string{}}
	err := l.all(ctx)
	return errors.Join(err, h.locked(func() (err error) {
		for _, c := range s.all {
			delete(h.looking, c.cause)
			if ctx.Err() != nil {
				continue
			}
			decision, why := Decide(c.Evidence)
			if decision == Excused && l.unmet >= Repeats {
				why = fmt.Sprintf("the reference lock met not all faults of the trial in %s, so nothing can be compared, and %s",
					nouns.Count(l.unmet, "run"), "the service alone does not owe it")
			}
			if decision == Worse {
				err = errors.Join(err, h.found(c, why, s, l.shows[c.Property]))
				continue
			}
			if decision == Passing && c.Found.Seen > 0 && c.Reference.Seen == 0 {
				h.pool.Press(s.number, s.trial)
			}
			h.says(fmt.Sprintf("no finding, %s: %s", c.Property, h.dismiss(c, decision, why)))
		}
		for _, run := range l.runs {
			if !slices.ContainsFunc(h.Report.Findings, func(f *Finding) bool { return filepath.Join(h.Dir, f.Run) == run }) {
				err = errors.Join(err, h.forget(run))
			}
		}
		return errors.Join(err, h.save())
	}))
}

// settled says that a violation is known already: found, dismissed often enough, or accepted.
func (h *Hunt) settled(c *candidate, t scenarios.Scenario) bool {
	for _, f := range h.Report.Findings {
		if sameCause(f.Cause, c.cause) {
			f.Again++
			return true
		}
	}
	if why := h.Known.accepts(c.Property, t); why != "" {
		h.dismiss(c, Accepted, why)
		return true
	}
	for _, d := range h.Report.Left {
		if d.Cause == c.cause && d.Times >= dismissals {
			d.Times++
			return true
		}
	}
	return false
}

// dismiss files a violation that is no finding, and returns why it is none.
func (h *Hunt) dismiss(c *candidate, decision Decision, why string) string {
	if why == "" {
		why = fmt.Sprintf("not decided: seen again in %d of %d, at the reference lock in %d of %d", c.Found.Seen,
			c.Found.Of, c.Reference.Seen, c.Reference.Of)
	}
	for _, d := range h.Report.Left {
		if d.Cause == c.cause {
			d.Times, d.Decision, d.Why = d.Times+1, decision, why
			return why
		}
	}
	h.Report.Left = append(h.Report.Left, &Dismissed{Property: c.Property, Cause: c.cause, Decision: decision,
		Why: why, Times: 1})
	return why
}

// look runs the trial of a suspect again, each time in a fresh cluster, until each candidate is decided.
type look struct {
	h         *Hunt
	s         *suspect
	reference bool // there is one, and it can run the trial

	attempts int

	mu    sync.Mutex        // of what follows, and of the candidates
	alone bool              // a run was disturbed, so that the next ones have no company
	unmet int               // runs of the reference lock that did not meet a fault that the trial had met
	shows map[string]string // by property, a run that shows it
	runs  []string          // folders
}

// mostAttempts are the runs after which a violation is not decided.
const mostAttempts = 12

// all makes runs until everything is decided, those that nothing depends on at the same time.
// The reference lock comes first: what it shows as well is done with after one run.
func (l *look) all(ctx context.Context) error {
	if l.reference = l.h.Reference != nil; l.reference {
		o := *l.h.Reference
		o.Scenario = l.h.beside(l.s.trial)
		why, err := l.h.Applies(ctx, o)
		if err != nil {
			return err
		}
		l.reference = why == ""
	}
	for _, c := range l.s.all {
		c.Compared = l.reference
	}
	for l.attempts < mostAttempts && ctx.Err() == nil {
		ours, theirs := l.need()
		if ours+theirs == 0 {
			return nil
		}
		l.tell(ours, theirs)
		alone := l.alone
		var runs sync.WaitGroup
		for n := range ours + theirs {
			if l.h.Parallel > 1 && !alone {
				runs.Go(func() { l.once(ctx, n < ours, false) })
			} else {
				l.once(ctx, n < ours, alone)
			}
		}
		runs.Wait()
		l.attempts += ours + theirs
	}
	return nil
}

// need is how many runs the next step takes, of this lock and of the reference lock.
func (l *look) need() (ours, theirs int) {
	for _, c := range l.s.all {
		switch decision, _ := Decide(c.Evidence); {
		case decision != Open:
		case c.Compared && c.Reference.Of == 0:
			return 0, 1
		case c.Found.Of < Again:
			ours = max(ours, Again-c.Found.Of)
		case c.Found.Seen < Again:
			ours = max(ours, 1)
		case c.Compared:
			theirs = max(theirs, Repeats-c.Reference.Of)
		}
	}
	if ours > 0 {
		return ours, 0
	}
	return 0, theirs
}

func (l *look) tell(ours, theirs int) {
	what := "again, " + nouns.Count(ours, "run")
	if theirs > 0 {
		what = "the reference lock, " + nouns.Count(theirs, "run")
	}
	if l.alone {
		what += ", with nothing beside them"
	}
	l.h.says(fmt.Sprintf("looking into %s: %s", names(l.s.all), what))
}

func names(all []*candidate) string {
	var words []string
	for _, c := range all {
		words = append(words, c.Property)
	}
	return strings.Join(words, ", ")
}

// once makes one run more and counts it for each candidate. A run that reached no judgement,
// or that the machine disturbed, counts for nobody. Each has the seed of the trial: with another one
// a fault would strike somebody else, and half of what is real would not come again.
func (l *look) once(ctx context.Context, ours, alone bool) {
	o, trial := l.h.Options, l.s.trial
	if !ours {
		o, trial = *l.h.Reference, l.h.beside(trial)
	}
	out, err := l.h.run(ctx, o, trial, l.s.seed, alone)
	l.mu.Lock()
	defer l.mu.Unlock()
	if out == nil {
		_ = l.h.locked(func() error { l.h.last = err; return nil })
		return
	}
	l.runs = append(l.runs, out.Dir)
	l.alone = l.alone || l.h.Parallel > 1 && !usable(out)
	met := ours || l.meets(out)
	if !met {
		l.unmet++
	}
	for _, c := range l.s.all {
		rate := &c.Found
		if !ours {
			rate = &c.Reference
		}
		p := out.Result.Property(c.Property)
		switch {
		case rate.Of >= Repeats:
		case p == nil || p.Verdict == checker.NA:
			c.Compared = c.Compared && ours // the reference does not promise it, so it cannot be compared
		case !ours && c.stale() && !out.Setup.Promise.Leased:
			c.Compared = false // it ends no lease, so nobody acts after one there
		case p.Verdict == checker.Violated, !ours && c.stale() && strays(out):
			rate.Seen++
			rate.Of++
			if ours {
				l.shows[c.Property] = out.Dir
			}
		case l.unmet >= Repeats && c.Reference.Of == 0:
			c.Compared = false
		case met && usable(out):
			rate.Of++
		}
	}
}

// meets says that each fault that struck in the trial has struck in a run of the reference lock, too: a
// message that this lock alone sends may be what a fault waits for, and then nothing was compared.
func (l *look) meets(out *runner.Outcome) bool {
	for i, seen := range outcomes(l.s.trial, out.Ops) {
		if i < len(l.s.met) && l.s.met[i][history.Observed] && !seen[history.Observed] {
			return false
		}
	}
	return true
}
