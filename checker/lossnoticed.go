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
	told, open, stopped, renewals, parted := 0, 0, 0, 0, 0
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
				parted++
				end, answered = after(away, r.LeaseOf(&r.Ops[g.Op])), "that can have been answered"
			}
			switch {
			case warned:
			case !known:
				open++
			case until <= after(end, trace.ClockNoise):
			case until <= r.mayNotKnow(g.Node, end):
				stopped++
			default:
				f.add(r, Violation{Key: g.Key.Name, At: end, Operations: []int{g.Op, by, g.EndOp}},
					"%s was not told by %s, when the last renewal of %q %s ended, that it may be lost: it believed in it for %s more.",
					g.Who(), r.seconds(end), g.Key.Name, answered, length(min(until, max(r.End, end))-end))
			}
		}
		for _, c := range g.Claims {
			if c.At > heard {
				break
			}
			if ranOut(c.At); c.Cut {
				if !warned {
					told++
				}
				warned = true
				continue
			}
			if r.Ops[c.Op].Type == history.OK {
				renewals++
			}
			warned = false
			deadline, known = r.DeadlineAt(g, c.Deadline)
			by = c.Op
		}
		if g.Told != trace.Forever {
			told++
		}
		ranOut(heard)
	}
	o := outcome{verdict: Holds, found: f,
		reason: fmt.Sprintf("%s after %s that %s answered, each before its claim ended.",
			nouns.Count(told, "holder")+" "+was(told)+" told of the loss", nouns.Count(renewals, "renewal"), was(renewals)),
		summary: fmt.Sprintf("%s %s not told before the claim ended; %d were told.", nouns.Count(f.certain, "holder"), was(f.certain), told),
	}
	if renewals == 0 {
		o.reason = fmt.Sprintf("%s %s told of the loss, each before the last renewal that can have been answered ended.",
			nouns.Count(told, "holder"), was(told))
	}
	switch {
	case open > 0:
		o.verdict, o.reason = Unknown, fmt.Sprintf("The deadlines of %s cannot be converted.", nouns.Count(open, "claim"))
	case renewals == 0 && parted == 0 && r.Setup.Promise.Renews:
		o.verdict, o.reason = Unknown, "Nobody records what the lock renews by itself, and no holder was cut off for longer than a lease."
	case renewals == 0 && parted == 0:
		o.verdict, o.reason = Unknown, "Nothing was renewed."
	case told == 0 && r.Setup.Expect.Faults == 0:
		o.verdict, o.reason = NA, fmt.Sprintf("No claim ran out: all of %s came in time.", nouns.Count(renewals, "renewal"))
	case told == 0:
		o.verdict, o.reason = Unknown, fmt.Sprintf("No claim ran out while its holder ran (%d ran out while it was stopped).", stopped)
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
		if cut.change(f, 1); len(cut.servers) > 0 && !cut.serves(client) {
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
