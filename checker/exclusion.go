package checker

import (
	"fmt"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// mutualExclusion finds, for each grant, whether its holder acted on it after a
// later grant of the key was made, while both holders believed. Looking at the
// first proven of the later grants that it meets is enough: who acted after some
// later grant acted after that one. So it is O(n log n), where all pairs would be O(n²).
// Where nothing can have ended the older grant by then, the overlap counts though
// nobody acted: see keptUntil.
func mutualExclusion(r *run) outcome {
	var f found
	var idle idleOverlaps
	twice := 0
	for _, k := range r.keys {
		doubles := r.doubles(k)
		for _, g := range k.Grants {
			r.judgePair(g, k, &f, &idle, doubles)
		}
		twice += len(doubles)
		r.addDoubles(k, doubles, &f)
		r.judgeGhosts(k, &f)
	}
	acted := f.certain - twice
	r.strangers(&f)
	r.counts.IdleOverlaps, r.counts.IdleLongest = idle.count, idle.longest
	o := outcome{verdict: Holds, found: f}
	o.reason = fmt.Sprintf("No stale holder acted on its grant in %s", nouns.Count(len(r.Grants), "grant"))
	o.summary = fmt.Sprintf("%s acted after a later grant of %d was made", nouns.Count(acted, "stale holder"), len(r.Grants))
	if strange := f.certain - twice - acted; strange > 0 {
		o.summary += fmt.Sprintf("; %s of owners that did not hold it", nouns.Count(strange, "write"))
	}
	if twice > 0 {
		o.summary += fmt.Sprintf("; %s to another while nothing had ended the one before", nouns.Count(twice, "grant"))
	}
	if r.Setup.Strict {
		o.reason = fmt.Sprintf("No two clients believed to hold a key at once in %s", nouns.Count(len(r.Grants), "grant"))
		o.summary = fmt.Sprintf("%s of %d %s a later one", nouns.Count(f.certain, "grant"), len(r.Grants), verb(f.certain, "overlap"))
	}
	o.reason += idle.String() + "."
	o.summary += idle.String() + "."
	return r.orUnseen(o)
}

// orUnseen says unknown instead of holds when nothing was put to the test.
func (r *run) orUnseen(o outcome) outcome {
	switch {
	case o.verdict != Holds:
	case len(r.Grants) == 0:
		o.verdict, o.reason, r.tooLittle = Unknown, "Nobody was granted the lock.", true
	case r.counts.Contended == 0:
		o.verdict, r.tooLittle = Unknown, true
		o.reason = fmt.Sprintf("No contention: in %s nobody waited for a key that another client held.", nouns.Count(len(r.Grants), "grant"))
		if r.Setup.Kind == history.Alone && len(o.found.list) == 0 {
			o.verdict, r.tooLittle = NA, false // nobody was meant to
		}
	}
	return o
}

// idleOverlaps counts overlaps on which the stale holder did nothing.
type idleOverlaps struct {
	count   int
	longest int64
}

func (i idleOverlaps) String() string {
	if i.count == 0 {
		return ""
	}
	return fmt.Sprintf("; %s, on which the stale holder did nothing, the longest %s", nouns.Count(i.count, "idle overlap"), length(i.longest))
}

// judgePair judges g against the later grants that its belief can meet. What is
// certain comes before what is only possible.
func (r *run) judgePair(g *trace.Grant, k *keyLog, f *found, idle *idleOverlaps, doubles map[[2]*trace.Grant]bool) {
	worst := int64(-1)
	var both, acted []overlap
	for _, h := range k.later(g) {
		from, to := max(g.OK, h.OK), min(g.End, h.End)
		if from >= to {
			continue
		}
		o := overlap{g: g, h: h, from: from, length: min(to, max(r.End, from)) - from}
		if r.staleAct(&o); o.certain {
			delete(doubles, [2]*trace.Grant{g, h})
			r.addAct(o, f)
			return
		}
		if doubles[[2]*trace.Grant{g, h}] {
			return // it is no idle one
		}
		if both = append(both, o); o.stale != nil {
			acted = append(acted, o)
		}
		worst = max(worst, o.length)
	}
	switch {
	case len(both) > 0 && r.Setup.Strict:
		o := both[0]
		f.add(r, Violation{Key: k.Name, At: o.from, Operations: []int{g.Op, o.h.Op, g.EndOp}},
			"%s and %s both believed to hold %q for %s from %s.",
			g.Who(), o.h.Who(), k.Name, length(o.length), r.seconds(o.from))
	case len(acted) > 0:
		r.addAct(acted[0], f)
	case worst >= 0:
		idle.count++
		idle.longest = max(idle.longest, worst)
	}
}

// overlap is a time in which the holders of g and of the later h both believe,
// with the act of the stale one of them.
type overlap struct {
	g, h         *trace.Grant
	from, length int64
	stale        *trace.Grant // nil: it did nothing
	at           int64
	op           int
	other        int // the act of the other one, without which this is not certain; 0: none is needed
	certain      bool
}

func (r *run) addAct(o overlap, f *found) {
	other := o.h
	if o.stale == o.h {
		other = o.g
	}
	ops := []int{o.stale.Op, other.Op, o.op}
	if o.other > 0 {
		ops = append(ops, o.other)
	}
	f.add(r, Violation{Key: o.g.Key.Name, At: o.at, Possible: !o.certain, Operations: ops},
		"%s acted on its grant of %q at %s (%s) although %s had been granted it at %s.",
		o.stale.Who(), o.g.Key.Name, r.seconds(o.at), r.Ops[o.op].F, other.Who(), r.seconds(other.OK))
}

// staleAct finds the act that makes an overlap of g and the later h a violation.
// Where their order is open, it is certain only if both acted after both were
// granted: one of them was stale then, whichever it was, and that is certain by the later of the two acts.
func (r *run) staleAct(o *overlap) {
	mine, mineOp := r.actAfter(o.g, o.h.OK)
	if trace.Surely(o.g, o.h) {
		if mineOp >= 0 {
			o.stale, o.at, o.op, o.certain = o.g, mine, mineOp, true
		}
		return
	}
	theirs, theirsOp := r.actAfter(o.h, max(o.g.OK, o.h.OK))
	switch {
	case mineOp < 0 && theirsOp < 0:
	case theirsOp < 0 || mineOp >= 0 && mine >= theirs:
		o.stale, o.at, o.op, o.other = o.g, mine, mineOp, max(theirsOp, 0)
	default:
		o.stale, o.at, o.op, o.other = o.h, theirs, theirsOp, max(mineOp, 0)
	}
	o.certain = mineOp >= 0 && theirsOp >= 0
}

// actAfter returns the first act of g after t.
func (r *run) actAfter(g *trace.Grant, t int64) (at int64, op int) {
	op = -1
	if g.LastAct <= t {
		return 0, op
	}
	acts := r.InOrder(g)
	if i := sort.Search(len(acts), func(i int) bool { return acts[i].Time > t }); i < len(acts) {
		return acts[i].Time, acts[i].Op
	}
	return 0, op
}

// judgeGhosts judges acquires whose outcome is unknown but whose owner acted: they
// may have been granted, and while another client held the key. Of the grants made
// before the act, the one believed longest tells whether any was believed beyond
// the answer that never told. O(n).
func (r *run) judgeGhosts(k *keyLog, f *found) {
	if len(k.Ghosts) == 0 {
		return
	}
	longest := make([]*trace.Grant, len(k.Grants)+1) // of the first i grants
	for i, g := range k.Grants {
		if longest[i+1] = longest[i]; longest[i] == nil || g.End > longest[i].End {
			longest[i+1] = g
		}
	}
	for _, ghost := range k.Ghosts {
		act := r.Ops[ghost.Act].Time
		g := longest[sort.Search(len(k.Grants), func(i int) bool { return k.Grants[i].OK >= act })]
		if g == nil || g.End <= r.Ops[ghost.Info].Time {
			continue
		}
		f.add(r, Violation{Key: k.Name, At: act, Possible: true, Operations: []int{ghost.Info, ghost.Act, g.Op}},
			"%s acted on %q at %s after an acquire with an unknown outcome, and %s had been granted it at %s.",
			r.Ops[ghost.Act].Node, k.Name, r.seconds(act), g.Who(), r.seconds(g.OK))
	}
}
