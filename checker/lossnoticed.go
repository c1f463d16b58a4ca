package checker

import (
	"fmt"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// lossNoticed looks at each claim that ran out while its holder believed in it. The
// watchdog knows, by the holder's own clock and without any answer, that the last
// renewal that was answered ends then, so the holder must have been told before. Who
// was stopped itself could tell nobody, until it ran again. What a session renews by itself nobody records: its last
// renewal may have been answered until its client was cut off.
func lossNoticed(r *run) outcome {
	var f found
	var n lossesSeen
	for _, g := range r.Grants {
		deadline, known := r.DeadlineAt(g, r.Ops[g.Op].Deadline)
		by := g.Op                  // what made the claim
		heard := min(g.End, g.Told) // it may have worked on without a look
		warned := false             // it was told that its grant may be lost, and not yet that it is safe
		ranOut := func(until int64) {
			end, answered := deadline, "that was answered"
			if r.Setup.Promise.Renews && r.Ops[by].F != history.Extend && !warned {
				away, cut := r.lastServed(g.Node, r.Ops[by].Time, until)
				if !cut {
					return
				}
				n.parted++
				end, answered = after(away, r.LeaseOf(&r.Ops[g.Op])), "that can have been answered"
			}
			var early int64 // its clock was bent: the claim ended at end or before, and not before this
			bounded := false
			if !known && (r.Ops[by].F == history.Extend || !r.Setup.Promise.Renews) { // else nobody recorded what it claimed last
				early, end, bounded = r.claimBounds(g, by)
			}
			switch {
			case warned:
			case bounded && until <= after(early, trace.ClockNoise):
			case !known && (!bounded || until <= after(end, trace.ClockNoise)):
				n.open++
			case until <= after(end, trace.ClockNoise):
			case until <= r.mayNotKnow(g.Node, end):
				n.stopped++
			case end <= g.OK && until <= after(g.OK, int64(r.Setup.Lease)/8): // its claim was over before it knew that it had one
			default:
				f.add(r, Violation{Key: g.Key.Name, At: end, Operations: []int{g.Op, by, g.EndOp}},
					"%s was not told by %s, when the last renewal of %q %s ended, that it may be lost: it believed in it for %s more.",
					g.Who(), r.seconds(end), g.Key.Name, answered, length(min(until, max(r.End, end))-max(end, g.OK)))
			}
		}
		for _, c := range g.Claims {
			if c.At > heard {
				break
			}
			if ranOut(c.At); c.Cut {
				if !warned {
					n.told++
				}
				warned = true
				continue
			}
			if r.Ops[c.Op].Type == history.OK {
				n.renewals++
			}
			warned = false
			deadline, known = r.DeadlineAt(g, c.Deadline)
			by = c.By
		}
		if g.Told != trace.Forever {
			n.told++
		}
		ranOut(heard)
	}
	return n.outcome(r, f)
}

// claimBounds is r.ClaimBounds of what an operation claimed, where no server's clock was wrong as well.
func (r *run) claimBounds(g *trace.Grant, by int) (earliest, latest int64, ok bool) {
	if r.begun(true, func(k history.FaultKind) bool { return k.Name == "clock" }) > 0 || r.Ops[by].Type != history.OK {
		return 0, 0, false
	}
	return r.ClaimBounds(g, by)
}

// lossesSeen is what lossNoticed has counted.
type lossesSeen struct {
	told, open, stopped, renewals int
	parted                        int // times in which what a lock renews by itself can have had no answer
}

func (n *lossesSeen) outcome(r *run, f found) outcome {
	o := outcome{verdict: Holds, found: f,
		reason: fmt.Sprintf("%s after %s that %s answered, each before its claim ended.",
			nouns.Count(n.told, "holder")+" "+was(n.told)+" told of the loss", nouns.Count(n.renewals, "renewal"), was(n.renewals)),
		summary: fmt.Sprintf("%s %s not told before the claim ended; %d were told.", nouns.Count(f.certain, "holder"), was(f.certain), n.told),
	}
	if n.renewals == 0 {
		o.reason = fmt.Sprintf("%s %s told of the loss, each before the last renewal that can have been answered ended.",
			nouns.Count(n.told, "holder"), was(n.told))
	}
	switch {
	case n.open > 0:
		o.verdict, o.reason = Unknown, fmt.Sprintf("The deadlines of %s cannot be converted.", nouns.Count(n.open, "claim"))
	case n.renewals == 0 && n.parted == 0 && r.Setup.Promise.Renews:
		o.verdict, o.reason = Unknown, "Nobody records what the lock renews by itself, and no holder was cut off for longer than a lease."
	case n.renewals == 0 && n.parted == 0:
		o.verdict, o.reason = Unknown, "Nothing was renewed."
	case n.told == 0 && r.Setup.Expect.Faults == 0:
		o.verdict, o.reason = NA, fmt.Sprintf("No claim ran out: all of %s came in time.", nouns.Count(n.renewals, "renewal"))
	case n.told == 0:
		o.verdict, o.reason = Unknown, fmt.Sprintf("No claim ran out while its holder ran (%d ran out while it was stopped).", n.stopped)
	}
	return o
}

// lastServed is until when the last renewal that a client may have sent by itself in a time, and that nobody records, can
// have been answered: when the client was first cut off from the service, for a lease at least. ok: it was. A cut is told
// as it begins, and its heal once it is done: each counts a quarter of a lease less.
func (r *run) lastServed(client string, from, to int64) (at int64, ok bool) {
	lease := int64(r.Setup.Lease)
	for _, f := range r.Faults {
		if f.Target != client || !f.Observed || f.Missed || len(f.Cut) == 0 {
			continue
		}
		begun := max(f.From+lease/4, from)
		if begun >= to || ok && begun >= at || after(begun, lease) >= f.To-lease/4 {
			continue
		}
		cut := newNetwork(r.Setup.Servers)
		if cut.change(f, 1); !cut.serves(client) {
			at, ok = begun, true
		}
	}
	return at, ok
}

// mayNotKnow is until when a holder may not know that a claim of its has ended, as a fault had stopped its programs
// shortly before or at that time: who runs again has a lease to learn what it missed. Long ago where there was none.
func (r *run) mayNotKnow(node string, deadline int64) int64 {
	if r.known.stopped == nil {
		r.known.stopped = r.Stopping()
	}
	until, from := int64(-trace.Forever), deadline-int64(r.Setup.Lease)/2
	spans := r.known.stopped[node]
	for i := sort.Search(len(spans), func(i int) bool { return spans[i].To >= from }); i < len(spans) && spans[i].From <= deadline; i++ {
		until = after(max(spans[i].To, deadline), int64(r.Setup.Lease))
	}
	return until
}
