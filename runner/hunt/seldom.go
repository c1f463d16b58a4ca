package hunt

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/internal/stats"
)

// What several trials have shown is evidence, though each has shown it too seldom: the same property by the same story, and never at the
// reference lock. It counts where fresh clusters have shown it Sightings times, and the reference lock, which has run these trials
// as often and met their faults, not once.
const (
	Sightings  = 3
	mostSeldom = 9 // repeats of the trial that has shown it most often
)

// Elsewhere is what other trials have shown of the same cause.
type Elsewhere struct {
	Trials    int        // that have shown it
	Found     stats.Rate // in fresh clusters
	Reference stats.Rate
}

// decideSeldom is Decide of what several trials have shown.
func decideSeldom(e Evidence) (Decision, string) {
	seen, of := e.Found.Seen+e.Elsewhere.Found.Seen, e.Found.Of+e.Elsewhere.Found.Of
	reference := stats.Rate{Seen: e.Reference.Seen + e.Elsewhere.Reference.Seen, Of: e.Reference.Of + e.Elsewhere.Reference.Of}
	where := fmt.Sprintf("%d of %s of %s", seen, nouns.Count(of, "run"), nouns.Count(e.Elsewhere.Trials+1, "trial"))
	switch {
	case reference.Seen > 0:
		return Shared, fmt.Sprintf("the reference lock shows it too, in %d of %d runs", reference.Seen, reference.Of)
	case !e.Compared:
		return Passing, "it came in " + where + ", and there is no reference lock to compare with"
	case seen < Sightings && e.Found.Of >= mostSeldom:
		return Passing, "it came again in " + where
	case seen < Sightings || e.Reference.Of < Repeats || reference.Of < of:
		return Open, ""
	}
	return Worse, "seen in " + where + ", too seldom in each to count alone; the reference lock shows it in none of " +
		nouns.Count(reference.Of, "run") + " under the same trials"
}

// seldom is a cause that trials have shown too seldom to count.
type seldom struct {
	cause  Cause
	cases  []*sighted
	looked int  // how often fresh clusters had shown it when a trial of it was looked into once more
	over   bool // the reference lock shows it, too
}

// sighted is what one trial has shown of it.
type sighted struct {
	suspect *suspect
	c       *candidate
	first   bool   // it was seen when it was tried, and not in repeats alone
	run     string // one that shows it, in a fresh cluster; "": none does
}

// sight files a violation that came again too seldom, or that the reference lock shows as well. h.mu is held.
func (h *Hunt) sight(c *candidate, s *suspect, run string) *seldom {
	i := slices.IndexFunc(h.seldom, func(x *seldom) bool { return x.cause.same(c.cause) })
	if i < 0 {
		i = len(h.seldom)
		h.seldom = append(h.seldom, &seldom{cause: c.cause})
	}
	x := h.seldom[i]
	switch {
	case c.Reference.Seen > 0:
		x.over = true
	case c.comparable():
		x.cases = append(x.cases, &sighted{suspect: s, c: c, first: c.firm, run: run})
	}
	return x
}

// comparable says that the violation was looked for at both locks, that no fault excuses it, and that it is not what any late holder does.
func (c *candidate) comparable() bool {
	return c.Compared && c.Found.Of > 0 && c.Reference.Of > 0 && !c.stale() && c.Excuse == "" && !c.Allowed
}

// enough says that a cause was seen often enough, in trials that differ, to be looked into once more, and how often in fresh clusters.
func (x *seldom) enough() (yes bool, fresh int) {
	trials, all := map[int]bool{}, 0
	for _, one := range x.cases {
		n := one.c.Found.Seen
		fresh += n
		if one.first {
			n++
		}
		if all += n; n > 0 {
			trials[one.suspect.number] = true
		}
	}
	return !x.over && len(trials) > 1 && fresh > 0 && all >= Sightings, fresh
}

// best is the case that has shown it most often, and what the others have.
func (x *seldom) best() (best *sighted, others Elsewhere) {
	for _, one := range x.cases {
		if best == nil || one.c.Found.Seen*max(best.c.Found.Of, 1) > best.c.Found.Seen*max(one.c.Found.Of, 1) {
			best = one
		}
	}
	trials := map[int]bool{best.suspect.number: true}
	for _, one := range x.cases {
		if one == best {
			continue
		}
		others.Found.Seen, others.Found.Of = others.Found.Seen+one.c.Found.Seen, others.Found.Of+one.c.Found.Of
		others.Reference.Of += one.c.Reference.Of
		if one.first || one.c.Found.Seen > 0 {
			trials[one.suspect.number] = true
		}
	}
	others.Trials = len(trials) - 1
	return best, others
}

// together is the suspect that is looked into as several trials have shown it; nil: there is nothing to look into yet.
func (x *seldom) together() *suspect {
	yes, fresh := x.enough()
	if !yes || fresh <= x.looked {
		return nil
	}
	best, others := x.best()
	c := *best.c
	c.Elsewhere, c.of, x.looked = &others, best, fresh
	s := *best.suspect
	s.all = []*candidate{&c}
	return &s
}

// seenSeldom files what an examination has not confirmed, and has what several trials have shown looked into. h.mu is held.
func (h *Hunt) seenSeldom(l *look, c *candidate, decision Decision) {
	if c.Elsewhere != nil {
		h.seenMore(l, c)
		return
	}
	if decision != Passing && decision != Shared {
		return
	}
	x := h.sight(c, l.s, l.shows[c.Property])
	if s := x.together(); s != nil {
		h.suspects = slices.Insert(h.suspects, 0, s)
		h.says(fmt.Sprintf("not yet, %s: %d trials have shown it by the same story, and the reference lock has not; trial %d is looked into for longer",
			c.Property, s.all[0].Elsewhere.Trials+1, s.number))
	}
}

// seenMore files what the longer look into a trial has shown. h.mu is held.
func (h *Hunt) seenMore(l *look, c *candidate) {
	for _, x := range h.seldom {
		if !x.cause.same(c.cause) {
			continue
		}
		x.over = x.over || c.Reference.Seen > 0
		x.looked += c.Found.Seen - c.of.c.Found.Seen
		c.of.c.Found, c.of.c.Reference = c.Found, c.Reference
		c.of.run = cmp.Or(c.of.run, l.shows[c.Property])
	}
}

// keeps says that a run shows what is seen seldom, and is to be told if it counts.
func (h *Hunt) keeps(run string) bool {
	return slices.ContainsFunc(h.seldom, func(x *seldom) bool {
		return !x.over && slices.ContainsFunc(x.cases, func(one *sighted) bool { return one.run == run })
	})
}

// showing is a run that shows c: of this examination, or of an earlier one of the same trial.
func (l *look) showing(c *candidate) string {
	if run := l.shows[c.Property]; run != "" || c.of == nil {
		return run
	}
	return c.of.run
}

// forgetSeldom removes the runs that were kept and show no finding.
func (h *Hunt) forgetSeldom() (err error) {
	for _, x := range h.seldom {
		for _, one := range x.cases {
			if one.run != "" && !h.tells(one.run) {
				err = errors.Join(err, h.forget(one.run))
			}
		}
	}
	h.seldom = nil
	return err
}
