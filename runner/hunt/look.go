package hunt

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/runner"
)

// look runs the trial of a suspect again, each time in a fresh cluster, until each candidate is decided.
type look struct {
	h         *Hunt
	s         *suspect
	reference bool // there is one, and it can run the trial

	attempts int

	mu        sync.Mutex        // of what follows, and of the candidates
	disturbed int               // runs that were, beside others
	unmet     int               // runs of the reference lock that did not meet a fault that the trial had met
	other     []int             // places of these faults
	vain      int               // runs with nothing beside them that counted for no candidate
	shows     map[string]string // by property, a run that shows it
	runs      []string          // folders
}

// A violation is not decided after so many runs, nor after so many that count for nothing although nothing is beside them: what
// disturbs these is the trial itself.
const (
	mostAttempts = 12
	mostVain     = 3
)

// mostCompany is how many runs of a suspect may be disturbed beside others before the next ones have nothing beside them: then the whole
// hunt waits for each. One of ten is disturbed by chance.
const mostCompany = 2

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
	for l.attempts < l.mostRuns() && l.vain < mostVain && ctx.Err() == nil {
		ours, theirs := l.need()
		if ours+theirs == 0 {
			return nil
		}
		l.tell(ours, theirs)
		alone := l.alone()
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

// need is how many runs the next step takes, of this lock and of the reference lock. Most suspicions end with the first run of the
// reference lock, so it is made before any other, and beside the first ones where the service owes what is violated, whatever it shows.
func (l *look) need() (ours, theirs int) {
	first, owed := 0, 0
	for _, c := range l.s.all {
		own := 1
		if c.Found.Of < Again {
			own = Again - c.Found.Of
		}
		decision, _ := Decide(c.Evidence)
		if more := c.Elsewhere; more != nil && decision == Open {
			if seen := c.Found.Seen + more.Found.Seen; seen < Sightings {
				ours = max(ours, min(Sightings, mostSeldom-c.Found.Of))
			} else {
				theirs = max(theirs, c.mostOf(false)-c.Reference.Of)
			}
			continue
		}
		switch {
		case decision != Open:
		case c.Compared && c.Reference.Of == 0:
			if first = 1; c.owed() {
				owed = max(owed, own)
			}
		case c.Found.Of < Again || c.Found.Seen < Again:
			ours = max(ours, own)
		case c.Compared:
			theirs = max(theirs, Repeats-c.Reference.Of)
		}
	}
	switch {
	case first > 0:
		return owed, first
	case ours > 0:
		return ours, 0
	}
	return 0, theirs
}

// mostOf is how many runs count for a candidate: of this lock, or of the reference lock.
func (c *candidate) mostOf(ours bool) int {
	switch {
	case c.Elsewhere == nil:
		return Repeats
	case ours:
		return mostSeldom
	}
	return max(Repeats, c.Found.Of+c.Elsewhere.Found.Of-c.Elsewhere.Reference.Of)
}

// mostRuns is after how many runs nothing is decided any more.
func (l *look) mostRuns() int {
	if slices.ContainsFunc(l.s.all, func(c *candidate) bool { return c.Elsewhere != nil }) {
		return 2 * mostAttempts
	}
	return mostAttempts
}

// alone says that the next runs have nothing beside them.
func (l *look) alone() bool { return l.h.Parallel > 1 && l.disturbed >= mostCompany }

func (l *look) tell(ours, theirs int) {
	var what []string
	if ours > 0 {
		what = append(what, "again, "+nouns.Count(ours, "run"))
	}
	if theirs > 0 {
		what = append(what, "the reference lock, "+nouns.Count(theirs, "run"))
	}
	if l.alone() {
		what = append(what, "with nothing beside them")
	}
	l.h.says(fmt.Sprintf("looking into %s: %s", names(l.s.all), strings.Join(what, ", ")))
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
		if o, trial = *l.h.Reference, l.h.beside(trial); l.attempts == 0 { // most suspicions end here
			o.Warm = l.h.warm
		}
	}
	out, err := l.h.run(ctx, o, trial, l.s.seed, alone)
	l.mu.Lock()
	defer l.mu.Unlock()
	if out == nil {
		_ = l.h.locked(func() error { l.h.last = err; return nil })
		return
	}
	l.runs = append(l.runs, out.Dir)
	if !usable(out) && !alone {
		l.disturbed++
	}
	met := ours || l.meets(out)
	counts := false
	for _, c := range l.s.all {
		rate := &c.Found
		if !ours {
			rate = &c.Reference
		}
		p, of := out.Result.Property(c.Property), rate.Of // nil, or n/a, of this lock: nothing came up that the property speaks of
		again := &candidate{}
		if ours && p != nil && p.Verdict == checker.Violated {
			again = candidateOf(out, *p)
		}
		switch {
		case rate.Of >= c.mostOf(ours):
		case !ours && (p == nil || p.Verdict == checker.NA):
			c.Compared = false // the reference does not promise it, so it cannot be compared
		case !ours && (c.stale() || c.Owed == checker.Nobody && l.s.trial.Workload == history.TwoKeys) && !out.Setup.Promise.Ends():
			c.Compared = false // it ends no lease, so nobody acts after one there, and who waits for each other does so for another time
		case p != nil && p.Verdict == checker.Violated && !again.Allowed, !ours && c.stale() && strays(out):
			rate.Seen++
			rate.Of++
			if ours {
				l.shows[c.Property] = out.Dir
				c.worst = cmp.Or(again.worst, c.worst)
			}
		case l.unmet >= Repeats && c.Reference.Of == 0:
			c.Compared = false
		case met && usable(out):
			rate.Of++
		}
		counts = counts || of != rate.Of
	}
	if alone && !counts {
		l.vain++
	}
}

// meets says that each fault that struck in the trial has struck in a run of the reference lock, too: a
// message that this lock alone sends may be what a fault waits for, and then nothing was compared. Another run
// would not help where each waits for a message by its name.
func (l *look) meets(out *runner.Outcome) bool {
	before, named := len(l.other), true
	for i, seen := range outcomes(l.s.trial, out.Ops) {
		if i < len(l.s.met) && l.s.met[i][history.Observed] && !seen[history.Observed] {
			l.other, named = append(l.other, i), named && l.s.trial.Faults[i].When.Name != ""
		}
	}
	if len(l.other) == before {
		return true
	}
	if l.unmet++; named {
		l.unmet = Repeats
	}
	return false
}

// lesser is the suspect without the faults that the reference lock has not met, so that the two can be compared;
// why tells which. What needs such a fault does not come again in it.
func (l *look) lesser() (next suspect, why string) {
	next = *l.s
	next.all, next.met = nil, slices.Clone(l.s.met)
	slices.Sort(l.other)
	var gone []string
	for _, i := range slices.Backward(slices.Compact(l.other)) {
		f := l.s.trial.Faults[i]
		gone = append(gone, f.Fault+" of "+f.Target)
		next.trial.Faults = slices.Clone(next.trial.Faults)
		next.trial, next.met = without(next.trial, i), slices.Delete(next.met, i, i+1)
	}
	slices.Reverse(gone)
	return next, "the reference lock did not meet every fault of the trial: " + strings.Join(gone, ", ")
}
