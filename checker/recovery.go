package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/internal/nouns"
)

// recovery looks at each grant whose holder was killed. Nobody gives it back: the
// next grant may come when its lease has ended and not before, and must come,
// where somebody waits, within a lease and the bound that the lock states.
func recovery(r *run) outcome {
	d := deaths{run: r}
	for _, g := range r.grants {
		if death := r.deathOf(g); death != nil {
			d.count++
			d.judge(g, death)
		}
	}
	limit := length(r.aftermath())
	o := outcome{verdict: Holds, found: d.found,
		reason: fmt.Sprintf("After %s of a holder nobody was granted the key before its lease ended or waited for it beyond that for more than the stated bound, %s; the next grant came up to %s after the death.",
			nouns.Count(d.judged, "death"), length(int64(r.setup.Promise.Bound)), length(d.longest)),
		summary: fmt.Sprintf("Of %s of a holder, %d %s followed by a grant before the lease ended, and %d by none within a lease and the stated bound, %s.",
			nouns.Count(d.count, "death"), d.early, was(d.early), d.late, limit),
	}
	switch {
	case d.count == 0:
		o.verdict, o.reason = NA, "No holder of a key was killed."
	case d.open != "":
		o.verdict, o.reason = Unknown, d.open
	case d.judged == 0:
		o.verdict, o.reason = NA, fmt.Sprintf("Nothing is owed: %s.", lower(d.excuse))
	case d.excuse != "":
		o.reason += fmt.Sprintf(" %d not judged: %s", d.count-d.judged, d.excuse)
	}
	return o
}

// deaths are the holders that were killed, and what came after.
type deaths struct {
	run           *run
	found         found
	count, judged int
	early, late   int
	longest       int64  // from a death to the next grant
	open          string // why one of them cannot be decided
	excuse        string // why one of them cannot be judged
}

// deathOf is the kill that ended the belief of g, unless its lease was over by
// then or another grant had been made.
func (r *run) deathOf(g *grant) *fault {
	if !g.killed || g.supersededAt(g.end) {
		return nil
	}
	if deadline, known := r.raw(g.node, g.deadline(r)); known && deadline <= g.end {
		return nil
	}
	death := r.beganBy(g.endOp)
	if death == nil || !death.observed {
		return nil // it wrote after that: it was not dead
	}
	return death
}

func (d *deaths) judge(g *grant, death *fault) {
	next := g.key.nextAfter(g, death.from)
	early, late := d.judgeEarly(g, death, next), d.judgeLate(g, death, next)
	if !early || !late {
		return
	}
	d.judged++
	if next != nil {
		d.longest = max(d.longest, next.ok-death.from)
	}
}

// nextAfter is the first grant proven after t, unless it was certainly made before g.
func (k *keyLog) nextAfter(g *grant, t int64) *grant {
	for i := sort.Search(len(k.grants), func(i int) bool { return k.grants[i].ok > t }); i < len(k.grants); i++ {
		if !surely(k.grants[i], g) {
			return k.grants[i]
		}
	}
	return nil
}

// judgeEarly compares the next grant with the deadline that the dead holder
// claimed, and says whether it could. What the library renewed by itself and did
// not record only makes the lease longer. A wrong clock is judged by
// lease-exclusion alone: what it measures is no lease.
func (d *deaths) judgeEarly(g *grant, death *fault, next *grant) bool {
	r := d.run
	if !r.setup.Promise.Leased || next == nil || g.deadline(r) == 0 {
		return true
	}
	deadline, known := r.deadlineAt(g, g.deadline(r))
	bent := r.faultyAs("clock", func(f *fault) bool { return f.kind == "clock" })
	switch {
	case meets(bent, g.sent, next.ok):
		d.excuse = "a clock was wrong meanwhile."
		return false
	case !known:
		d.open = fmt.Sprintf("When the lease of %s ended cannot be told: %s.", g.who(), r.bentClock(g.node))
		return false
	case g.suspended() || next.ok >= deadline:
		return true
	}
	if surely(g, next) {
		d.early++
	}
	d.found.add(r, Violation{Key: g.key.name, At: next.ok, Possible: !surely(g, next), Operations: []int{g.op, death.begin, next.op}},
		"%s was killed at %s with a lease on %q until %s, and %s was granted it at %s, %s too early.",
		g.who(), r.seconds(death.from), g.key.name, r.seconds(deadline), next.who(), r.seconds(next.ok), length(deadline-next.ok))
	return true
}

// suspended says that the last word on the claim of g was that it may be lost.
func (g *grant) suspended() bool { return len(g.claims) > 0 && g.claims[len(g.claims)-1].cut }

// judgeLate looks for a time without a grant, of more than the bound, in which
// somebody waited after the lease had ended, and says whether it could. The
// lease may have been renewed until the death. Where other faults, or acquires
// with an unknown outcome, may have kept the key, nothing is owed.
func (d *deaths) judgeLate(g *grant, death *fault, next *grant) bool {
	r := d.run
	whole := span{from: death.from + max(int64(r.setup.Lease), r.leaseOf(&r.ops[g.op])), to: r.end}
	if next != nil {
		whole.to = next.ok
	}
	bound := int64(r.setup.Promise.Bound)
	for _, s := range r.unhindered(whole, death, r.ghostly(g.key)) {
		if dry := r.drought(g.key, &incident{from: s.from, to: s.to}); dry.to-dry.from > bound {
			d.tellLate(g, death, next, dry)
			return true
		}
	}
	switch dry := r.drought(g.key, &incident{from: whole.from, to: whole.to}); {
	case dry.to-dry.from > bound:
		d.excuse = "another fault, or an acquire with an unknown outcome, may have kept the key."
		return false
	case next == nil:
		d.excuse = "nobody waited for the key for long enough after that."
		return false
	}
	return true
}

// unhindered is what the other faults, with their aftermath, and some ghosts leave of a
// time. Where the fault itself lasts another one lasts only if two do.
func (r *run) unhindered(whole span, death *fault, ghosts []span) (left []span) {
	one, two := r.anyFault(), r.sharedFaults()
	own := span{from: death.from, to: after(death.to, r.aftermath())}
	var clear []span
	for _, part := range []struct {
		span
		hinders []span
	}{
		{span{from: whole.from, to: min(whole.to, own.from)}, one},
		{span{from: max(whole.from, own.from), to: min(whole.to, own.to)}, two},
		{span{from: max(whole.from, own.to), to: whole.to}, one},
	} {
		if part.from >= part.to {
			continue
		}
		for _, s := range without(part.span, part.hinders) {
			clear = extend(clear, s.from, s.to)
		}
	}
	for _, s := range clear {
		left = append(left, without(s, ghosts)...)
	}
	return left
}

// sharedFaults are the times in which two faults or more last, with their aftermath.
func (r *run) sharedFaults() []span {
	if r.known.faulty != nil {
		return r.known.faulty
	}
	var all []span
	for _, f := range r.faults {
		if f.begin >= 0 {
			all = append(all, span{from: f.from, to: after(f.to, r.aftermath())})
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	shared, latest := []span{}, int64(-forever)
	for _, s := range all {
		if s.from < latest {
			shared = append(shared, span{from: s.from, to: min(s.to, latest)})
		}
		latest = max(latest, s.to)
	}
	r.known.faulty = union(shared)
	return r.known.faulty
}

func (d *deaths) tellLate(g *grant, death *fault, next *grant, dry drought) {
	r := d.run
	evidence := append([]int{g.op, death.begin}, dry.wait.within(dry.from, dry.to)...)
	until := "by the end of the run"
	if next != nil {
		evidence = append(evidence, next.op)
		until = "before " + r.seconds(next.ok)
	}
	d.late++
	d.found.add(r, Violation{Key: g.key.name, At: dry.from + int64(r.setup.Promise.Bound), Operations: evidence},
		"%s was killed at %s with a lease on %q of %s, and nobody was granted it %s, while %s waited.",
		g.who(), r.seconds(death.from), g.key.name, length(r.leaseOf(&r.ops[g.op])), until, r.ops[dry.wait.waits[0].invoke].Node)
}
