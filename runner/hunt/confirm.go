package hunt

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/stats"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// candidate is a violated property of a trial, while it is looked into.
type candidate struct {
	Evidence
	cause    Cause
	worst    *checker.Violation // that is to be told; nil: none is
	unfenced bool               // what is broken is data without a fence
	firm     bool               // it was certain when the trial was tried
	of       *sighted           // what is looked into once more as other trials have shown it, too; nil: it is not
}

// suspect is a trial that has violated something.
type suspect struct {
	number int
	seed   uint64
	trial  scenarios.Scenario
	met    []map[history.Phase]bool // what came of its faults, when it was tried
	all    []*candidate
	longer bool // it is the longer trial of another that came again too seldom
}

// stale says that the candidate is what any holder does that acts after its lease: it breaks one such
// property or another, as chance has it.
func (c *candidate) stale() bool { return c.Owed == checker.Unleased || c.unfenced }

// anew is the candidate before any run was made for it, in a trial that has no more kinds of faults.
func (c *candidate) anew(t scenarios.Scenario) *candidate {
	fresh := *c
	fresh.Found, fresh.Reference, fresh.firm = stats.Rate{}, stats.Rate{}, false
	if excuse(t, nil) == "" {
		fresh.Excuse = ""
	}
	return &fresh
}

// strays says that a holder acted after its lease in a run, whatever came of it.
func strays(out *runner.Outcome) bool {
	return slices.ContainsFunc(out.Result.Properties, func(p checker.Property) bool {
		row, _ := checker.Find(p.Name)
		return p.Verdict == checker.Violated && (row.Owed == checker.Unleased || row.Owed == checker.Data && !row.Fenced)
	})
}

// How often a cause is dismissed until it is not looked into any more. What came again too seldom may come again in the next trial.
const (
	dismissals       = 3
	passingDismissed = 2 * dismissals
)

// shaken says that a property of the service was violated while the machine stalled, so that the run itself decides nothing. On a busy
// machine what takes long, such as a wait without an end, is seldom seen in any other way; runs with nothing beside them decide.
func shaken(p checker.Property, row checker.Checker) bool {
	return p.Disturbed && row.Owed == checker.Service && len(p.Violations) > 0
}

// candidates are what a trial has violated, or may have.
func (h *Hunt) candidates(t scenarios.Scenario, out *runner.Outcome) (all []*candidate) {
	for _, p := range out.Result.Properties {
		row, _ := checker.Find(p.Name)
		if p.Verdict != checker.Violated && !shaken(p, row) {
			continue
		}
		c := candidateOf(out, p)
		c.Compared, c.Excuse, c.firm = h.Reference != nil, excuse(t, out.Setup.Clients), p.Verdict == checker.Violated
		all = append(all, c)
	}
	return all
}

// candidateOf is what one run shows of a violated property. A fence that sees tokens of writes alone lets a late holder's write pass
// until the next one has written: every lease allows that, too.
func candidateOf(out *runner.Outcome, p checker.Property) *candidate {
	row, _ := checker.Find(p.Name)
	c := &candidate{Evidence: Evidence{Property: p.Name, Owed: row.Owed}, unfenced: row.Owed == checker.Data && !row.Fenced}
	c.cause, c.worst, c.Allowed = causeOf(out.Setup, out.Ops, p, c.stale() || row.Fenced && out.Setup.FenceOn != history.OnRead)
	if row.Owed == checker.Unleased && !out.Setup.Promise.Ends() && !c.Allowed {
		c.Owed = checker.Service
	}
	return c
}

// looked is a cause that is looked into.
type looked struct {
	Cause
	since time.Time
}

// longLook is the time after which a cause that is looked into keeps no other trial of it waiting: what came by chance takes long to be
// dismissed, and the next trial may show it each time.
const longLook = 30 * time.Second

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
				h.looking[c.cause.Name] = looked{c.cause, time.Now()}
			}
			return s
		}
		i--
	}
	return nil
}

// looks says whether a cause like that of c is looked into, and not for long yet.
func (h *Hunt) looks(c *candidate) bool {
	for _, cause := range h.looking {
		if cause.same(c.cause) && time.Since(cause.since) < longLook {
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
		longer := suspect{number: s.number, seed: s.seed, trial: h.Space.longer(s.trial), met: s.met, longer: true}
		lesser, unmet := l.lesser()
		for _, c := range s.all {
			delete(h.looking, c.cause.Name)
			if ctx.Err() != nil {
				continue
			}
			decision, why := Decide(c.Evidence)
			h.seenSeldom(l, c, decision)
			if decision == Excused && l.unmet >= Repeats {
				lesser.all = append(lesser.all, c.anew(lesser.trial))
				h.says(fmt.Sprintf("not yet, %s: %s; the trial without that follows", c.Property, unmet))
				continue
			}
			if decision == Worse {
				if !h.again(c) { // another trial may have shown it meanwhile
					err = errors.Join(err, h.found(c, why, s, l.showing(c)))
				}
				continue
			}
			if decision == Passing && c.Found.Seen > 0 && c.Reference.Seen == 0 {
				h.pool.Press(s.number, s.trial)
			}
			if decision == Passing && c.Reference.Seen == 0 && !c.stale() && c.Excuse == "" && !s.longer && c.Elsewhere == nil {
				longer.all = append(longer.all, c.anew(longer.trial))
				h.says(fmt.Sprintf("not yet, %s: %s; a longer trial follows", c.Property, why))
				continue
			}
			h.says(fmt.Sprintf("no finding, %s: %s", c.Property, h.dismiss(c, decision, why)))
		}
		for _, next := range []*suspect{&longer, &lesser} {
			if len(next.all) > 0 {
				h.suspects = slices.Insert(h.suspects, 0, next)
			}
		}
		for _, run := range l.runs {
			if !h.tells(run) && !h.keeps(run) {
				err = errors.Join(err, h.forget(run))
			}
		}
		return errors.Join(err, h.save())
	}))
}

// tells says that a finding leads to a run.
func (h *Hunt) tells(run string) bool {
	return slices.ContainsFunc(h.Report.Findings, func(f *Finding) bool { return filepath.Join(h.Dir, f.Run) == run })
}

// settled says that a violation is known already: found, dismissed often enough, or accepted.
func (h *Hunt) settled(c *candidate, t scenarios.Scenario) bool {
	if h.again(c) {
		return true
	}
	if why := h.Known.accepts(c.Property, t); why != "" {
		h.dismiss(c, Accepted, why)
		return true
	}
	for _, d := range h.Report.Left {
		if d.Cause == c.cause.Name && d.Decision != Allowed && (d.Times >= passingDismissed || d.Times >= dismissals && d.Decision != Passing) {
			d.Times++
			return true
		}
	}
	return false
}

// again counts a violation that is found already.
func (h *Hunt) again(c *candidate) bool {
	i := slices.IndexFunc(h.Report.Findings, func(f *Finding) bool { return f.cause().same(c.cause) })
	if i >= 0 {
		h.Report.Findings[i].Again++
	}
	return i >= 0
}

// dismiss files a violation that is no finding, and returns why it is none.
func (h *Hunt) dismiss(c *candidate, decision Decision, why string) string {
	if why == "" {
		why = fmt.Sprintf("not decided: seen again in %d of %d, at the reference lock in %d of %d", c.Found.Seen,
			c.Found.Of, c.Reference.Seen, c.Reference.Of)
	}
	for _, d := range h.Report.Left {
		if d.Cause == c.cause.Name && (d.Decision == Allowed) == (decision == Allowed) {
			d.Times, d.Decision, d.Why = d.Times+1, decision, why
			return why
		}
	}
	h.Report.Left = append(h.Report.Left, &Dismissed{Property: c.Property, Cause: c.cause.Name, Decision: decision,
		Why: why, Times: 1})
	return why
}
