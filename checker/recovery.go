package checker

import (
	"fmt"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// recovery looks at each grant whose holder was killed. Nobody gives it back: the
// next grant may come when its lease has ended and not before, and must come,
// where somebody waits, within a lease and the bound that the lock states.
func recovery(r *run) outcome {
	d := deaths{run: r}
	for _, g := range r.Grants {
		if death := r.deathOf(g); death != nil {
			d.count++
			d.judge(g, death)
		}
	}
	limit := length(r.aftermath())
	o := outcome{verdict: Holds, found: d.found,
		reason: fmt.Sprintf("After %s of a holder nobody was granted the key before its lease ended or waited for it "+
			"beyond that for more than the stated bound, %s; the next grant came up to %s after the death.",
			nouns.Count(d.judged, "death"), length(int64(r.Setup.Promise.Bound)), length(d.longest)),
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

// keepsAll says that nobody else may hold the key beside g: of a lock that several may hold, a writer or who has all permits.
func (r *run) keepsAll(g *trace.Grant) bool {
	switch r.Setup.Kind {
	case history.ReadWrite:
		return g.Mode == history.Exclusive && len(g.Turns) == 0
	case history.Semaphore:
		return g.Permits >= r.Setup.Permits && len(g.Turns) == 0
	}
	return true
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
func (r *run) deathOf(g *trace.Grant) *trace.Fault {
	if !g.Killed || g.SupersededAt(g.End) {
		return nil
	}
	if deadline, known := r.Raw(g.Node, r.Deadline(g)); known && deadline <= g.End {
		return nil
	}
	death := r.beganBy(g.EndOp)
	if death == nil || !death.Observed {
		return nil // it wrote after that: it was not dead
	}
	return death
}

func (d *deaths) judge(g *trace.Grant, death *trace.Fault) {
	next := d.run.logOf(g.Key).nextAfter(g, death.From)
	rival, with := d.run.reuseAfter(g, death.From)
	early := d.judgeEarly(g, death, rival, with)
	late := d.judgeLate(g, death, next)
	if !early || !late {
		return
	}
	d.judged++
	if next != nil {
		d.longest = max(d.longest, next.OK-death.From)
	}
}

// nextAfter is the first grant proven after t, unless it was certainly made before g.
func (k *keyLog) nextAfter(g *trace.Grant, t int64) *trace.Grant {
	for i := sort.Search(len(k.Grants), func(i int) bool { return k.Grants[i].OK > t }); i < len(k.Grants); i++ {
		if !trace.Surely(k.Grants[i], g) {
			return k.Grants[i]
		}
	}
	return nil
}

// judgeEarly compares the next grant with the deadline that the dead holder
// claimed, and says whether it could. What the library renewed by itself and did
// not record only makes the lease longer. A wrong clock is judged by
// lease-exclusion alone: what it measures is no lease. See byWrongClock. Of a semaphore it may have taken with others, which
// were owed theirs, what the dead holder had.
func (d *deaths) judgeEarly(g *trace.Grant, death *trace.Fault, next *trace.Grant, with []*trace.Grant) bool {
	r := d.run
	untold := r.Deadline(g) == 0
	if next != nil && untold && r.Setup.Promise.Renews && next.OK < death.From+r.shortest(r.LeaseOf(&r.Ops[g.Op]))/2 {
		d.excuse = "the session of the dead holder was over before its time, which the loss of its connection may have ended."
		return false
	}
	if !r.Setup.Promise.Leased || next == nil || untold && !r.keepsLeases() {
		return true
	}
	deadline, known := r.DeadlineAt(g, r.Deadline(g))
	if untold { // the service keeps it for its time all the same
		deadline = r.leaseEnd(g) - trace.ClockNoise
	}
	switch {
	case untold && next.OK < deadline && r.firstCause(g) <= next.OK:
		d.excuse = "another fault may have ended its lease."
		return false
	case r.byWrongClock(g, next):
		d.excuse = "a clock was wrong meanwhile."
		return false
	case !known:
		d.open = fmt.Sprintf("When the lease of %s ended cannot be told: %s.", g.Who(), r.bentClock(g.Node))
		return false
	case g.Suspended() || next.OK >= deadline:
		return true
	}
	if trace.Surely(g, next) {
		d.early++
	}
	d.found.add(r, Violation{Key: g.Key.Name, At: next.OK, Possible: !trace.Surely(g, next), Operations: append(grantsOf(with), g.Op, death.Begin, next.Op)},
		"%s was killed at %s with a lease on %q until %s, and %s was granted it at %s%s, %s too early.",
		g.Who(), r.seconds(death.From), g.Key.Name, r.seconds(deadline), next.Who(), r.seconds(next.OK), besideOf(with), length(deadline-next.OK))
	return true
}

// byWrongClock says that a clock by which the lease of g may have been measured was wrong before the next grant.
func (r *run) byWrongClock(g, next *trace.Grant) bool {
	servers := r.faultyAs("servers' clocks", func(f *trace.Fault) bool { return f.Kind == "clock" && !r.isClient(f.Target) })
	for _, wrong := range [][]trace.Span{servers, r.wrongClocks(g.Node), r.wrongClocks(next.Node), r.askedByWrongClock(r.logOf(g.Key))} {
		if trace.Meets(wrong, g.Sent, next.OK) {
			return true
		}
	}
	return false
}

// judgeLate looks for a time without a grant, of more than the bound, in which
// somebody waited after the lease had ended, and says whether it could. The
// lease may have been renewed until the death. Where other faults, or acquires
// with an unknown outcome, may have kept the key, nothing is owed.
func (d *deaths) judgeLate(g *trace.Grant, death *trace.Fault, next *trace.Grant) bool {
	r := d.run
	whole := trace.Span{From: death.From + r.longestLease(g), To: r.End}
	kept := r.suspects(r.logOf(g.Key))
	if !r.keepsAll(g) { // others may have been granted it beside g, and keep it from who waits
		next = r.logOf(g.Key).nextAfter(g, whole.From)
		kept = trace.Union(append(r.heldBeside(g), kept...))
	}
	if next != nil {
		whole.To = max(whole.From, next.OK)
	}
	bound := int64(r.Setup.Promise.Bound)
	dry := r.drought(r.logOf(g.Key), &incident{from: whole.From, to: whole.To})
	if dry.to-dry.from > bound {
		for _, s := range append(r.unhindered(r.logOf(g.Key), whole, death, kept), r.freeBeside(g, whole)...) {
			if dry := r.drought(r.logOf(g.Key), &incident{from: s.From, to: s.To}); dry.to-dry.from > bound {
				d.tellLate(g, death, next, dry)
				return true
			}
		}
	}
	if dry, kept := r.permitsKept(g, death, whole.From); kept {
		d.tellLate(g, death, r.logOf(g.Key).nextAfter(g, dry.from), dry)
		return true
	}
	switch {
	case dry.to-dry.from > bound:
		d.excuse = "another fault, or an acquire with an unknown outcome, may have kept the key."
		return false
	case next == nil:
		d.excuse = "nobody waited for the key for long enough after that."
		return false
	}
	return true
}

// heldBeside are the times in which other grants of the key of g may have been held.
func (r *run) heldBeside(g *trace.Grant) (spans []trace.Span) {
	k := r.logOf(g.Key)
	for _, a := range r.attempts(k) {
		if w := k.Waits[a.wait]; w.Invoke != g.Invoke && w.Done >= 0 && r.Ops[w.Done].Type == history.OK {
			spans = append(spans, trace.Span{From: w.To, To: a.to})
		}
	}
	return spans
}

// unhindered is what the other faults of servers and of who has asked for a key, with their aftermath, and some ghosts leave of a
// time. Where the fault itself lasts another one lasts only if two do.
func (r *run) unhindered(k *keyLog, whole trace.Span, death *trace.Fault, ghosts []trace.Span) (left []trace.Span) {
	one, two := r.hinderingAll(k), r.sharedFaults(k)
	own := trace.Span{From: death.From, To: r.faded(death, death.To)}
	var clear []trace.Span
	for _, part := range []struct {
		trace.Span
		hinders []trace.Span
	}{
		{trace.Span{From: whole.From, To: min(whole.To, own.From)}, one},
		{trace.Span{From: max(whole.From, own.From), To: min(whole.To, own.To)}, two},
		{trace.Span{From: max(whole.From, own.To), To: whole.To}, one},
	} {
		for _, s := range without(part.Span, part.hinders) {
			clear = trace.Append(clear, s.From, s.To)
		}
	}
	for _, s := range clear {
		left = append(left, without(s, ghosts)...)
	}
	return left
}

// sharedFaults are the times in which two of these faults or more last, with their aftermath.
func (r *run) sharedFaults(k *keyLog) []trace.Span {
	return once(&r.known.spans, "two hinder who asks for "+k.Name, func() []trace.Span {
		var shared []trace.Span
		latest := int64(-trace.Forever)
		for _, s := range r.hinderEach(k) {
			if s.From < latest {
				shared = append(shared, trace.Span{From: s.From, To: min(s.To, latest)})
			}
			latest = max(latest, s.To)
		}
		return trace.Union(shared)
	})
}

func (d *deaths) tellLate(g *trace.Grant, death *trace.Fault, next *trace.Grant, dry drought) {
	r := d.run
	evidence := append([]int{g.Op, death.Begin}, dry.wait.within(dry.from, dry.to)...)
	until := "by the end of the run"
	if next != nil {
		evidence = append(evidence, next.Op)
		until = "before " + r.seconds(next.OK)
	}
	d.late++
	d.found.add(r, Violation{Key: g.Key.Name, At: dry.from + int64(r.Setup.Promise.Bound), Operations: evidence},
		"%s was killed at %s with a lease on %q of %s, and nobody was granted it %s, while %s waited.",
		g.Who(), r.seconds(death.From), g.Key.Name, length(r.longestLease(g)), until, r.whoWaited(dry.wait.within(dry.from, dry.to)))
}
