package checker

import (
	"fmt"
	"sort"
)

// mutualExclusion finds, for each grant, whether its holder acted on it after a
// later grant of the key was made, while both holders believed. Looking at the
// next later grants is enough: who acted after some later grant acted after the
// first proven of them. So it is O(n log n), where all pairs would be O(n²).
func mutualExclusion(r *run) outcome {
	var f found
	var idle idleOverlaps
	for _, k := range r.keys {
		for _, g := range k.grants {
			r.judgePair(g, k, &f, &idle)
		}
		r.judgeGhosts(k, &f)
	}
	r.counts.IdleOverlaps = idle.count
	o := outcome{verdict: Holds, found: f}
	o.reason = fmt.Sprintf("No stale holder acted on its grant in %s", count(len(r.grants), "grant"))
	o.summary = fmt.Sprintf("%s acted after a later grant of %d was made", count(f.certain, "stale holder"), len(r.grants))
	if r.setup.Strict {
		o.reason = fmt.Sprintf("No two clients believed to hold a key at once in %s", count(len(r.grants), "grant"))
		o.summary = fmt.Sprintf("%s of %d overlap a later one", count(f.certain, "grant"), len(r.grants))
	}
	o.reason += idle.String() + "."
	o.summary += idle.String() + "."
	return r.orUnseen(o)
}

// orUnseen says unknown instead of holds when nothing was put to the test.
func (r *run) orUnseen(o outcome) outcome {
	switch {
	case o.verdict != Holds:
	case len(r.grants) == 0:
		o.verdict, o.reason = Unknown, "Nobody was granted the lock."
	case r.counts.Contended == 0:
		o.verdict = Unknown
		o.reason = fmt.Sprintf("No contention: in %s nobody asked for a key that another client held.", count(len(r.grants), "grant"))
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
	return fmt.Sprintf("; %s, on which the stale holder did nothing, the longest %s", count(i.count, "idle overlap"), length(i.longest))
}

// judgePair judges g against the later grants that its belief can meet.
func (r *run) judgePair(g *grant, k *keyLog, f *found, idle *idleOverlaps) {
	worst := int64(-1)
	for _, h := range later(g, k) {
		from, to := max(g.ok, h.ok), min(g.end, h.end)
		if from >= to {
			continue
		}
		stale, at, op, certain := r.staleAct(g, h)
		switch {
		case stale != nil && (certain || worst < 0):
			other := h
			if stale == h {
				other = g
			}
			f.add(r, Violation{Key: k.name, At: at, Possible: !certain, Operations: []int{stale.op, other.op, op}},
				"%s acted on its grant of %q at %s (%s) although %s had been granted it at %s.",
				stale.who(), k.name, r.seconds(at), r.ops[op].F, other.who(), r.seconds(other.ok))
			return
		case r.setup.Strict:
			f.add(r, Violation{Key: k.name, At: from, Operations: []int{g.op, h.op, g.endOp}},
				"%s and %s both believed to hold %q for %s from %s.",
				g.who(), h.who(), k.name, length(min(to, max(r.end, from))-from), r.seconds(from))
			return
		}
		worst = max(worst, min(to, max(r.end, from))-from)
	}
	if worst >= 0 {
		idle.count++
		idle.longest = max(idle.longest, worst)
	}
}

// scanned bounds how many later grants with an earlier ok are looked at: only
// answers that come out of order make more than one necessary.
const scanned = 32

// later returns the later grants against which g must be judged.
func later(g *grant, k *keyLog) []*grant {
	if k.sure {
		for i := g.pos + 1; i < len(k.order) && i <= g.pos+scanned; i++ {
			if h := k.order[i]; h.end > g.ok {
				return k.order[i : i+1]
			}
		}
		return nil
	}
	var hs []*grant
	if g.maybe != nil && g.maybe.ok < g.end {
		hs = append(hs, g.maybe)
	}
	if g.by != nil && g.by.ok < g.end {
		hs = append(hs, g.by)
	}
	return hs
}

// staleAct finds the act that makes an overlap of g and the later h a violation.
// Where their order is open, it is certain only if both acted after both were
// granted: one of them was stale then, whichever it was.
func (r *run) staleAct(g, h *grant) (stale *grant, at int64, op int, certain bool) {
	mine, mineOp := r.actAfter(g, h.ok)
	if surely(g, h) {
		if mineOp < 0 {
			return nil, 0, -1, false
		}
		return g, mine, mineOp, true
	}
	theirs, theirsOp := r.actAfter(h, max(g.ok, h.ok))
	switch {
	case mineOp >= 0 && theirsOp >= 0:
		return g, max(mine, theirs), mineOp, true
	case mineOp >= 0:
		return g, mine, mineOp, false
	case theirsOp >= 0:
		return h, theirs, theirsOp, false
	}
	return nil, 0, -1, false
}

// actAfter returns the first act of g after t.
func (r *run) actAfter(g *grant, t int64) (at int64, op int) {
	op = -1
	if g.acts == 0 || g.lastAct <= t {
		return 0, op
	}
	for i := g.acts; i != 0; i = r.acts[i-1].next {
		if a := r.acts[i-1]; a.time > t && (op < 0 || a.time < at) {
			at, op = a.time, a.op
		}
	}
	return at, op
}

// judgeGhosts judges acquires whose outcome is unknown but whose owner acted:
// they may have been granted, and while another client held the key.
func (r *run) judgeGhosts(k *keyLog, f *found) {
	for _, ghost := range k.ghosts {
		act := r.ops[ghost.act].Time
		i := sort.Search(len(k.grants), func(i int) bool { return k.grants[i].ok >= act })
		if i == 0 || k.grants[i-1].end <= r.ops[ghost.info].Time {
			continue
		}
		g := k.grants[i-1]
		f.add(r, Violation{Key: k.name, At: act, Possible: true, Operations: []int{ghost.info, ghost.act, g.op}},
			"%s acted on %q at %s after an acquire with an unknown outcome, and %s had been granted it at %s.",
			r.ops[ghost.act].Node, k.name, r.seconds(act), g.who(), r.seconds(g.ok))
	}
}
