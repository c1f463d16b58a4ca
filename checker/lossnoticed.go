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
// was stopped itself could tell nobody, until it ran again.
func lossNoticed(r *run) outcome {
	var f found
	told, open, stopped, renewals := 0, 0, 0, 0
	for _, g := range r.Grants {
		deadline, known := r.DeadlineAt(g, r.Ops[g.Op].Deadline)
		by := g.Op                  // what made the claim
		heard := min(g.End, g.Told) // it may have worked on without a look
		warned := false             // it was told that its grant may be lost, and not yet that it is safe
		ranOut := func(until int64) {
			switch {
			case warned:
			case r.Setup.Promise.Renews && by == g.Op: // its session may have renewed it, and tells nobody of that
			case !known:
				open++
			case until <= after(deadline, trace.ClockNoise):
			case until <= r.mayNotKnow(g.Node, deadline):
				stopped++
			default:
				f.add(r, Violation{Key: g.Key.Name, At: deadline, Operations: []int{g.Op, by, g.EndOp}},
					"%s was not told by %s, when the last renewal of %q that was answered ended, that it may be lost: it believed in it for %s more.",
					g.Who(), r.seconds(deadline), g.Key.Name, length(min(until, max(r.End, deadline))-deadline))
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
	switch {
	case open > 0:
		o.verdict, o.reason = Unknown, fmt.Sprintf("The deadlines of %s cannot be converted.", nouns.Count(open, "claim"))
	case renewals == 0:
		o.verdict, o.reason = Unknown, "Nothing was renewed."
	case told == 0 && r.Setup.Expect.Faults == 0:
		o.verdict, o.reason = NA, fmt.Sprintf("No claim ran out: all of %s came in time.", nouns.Count(renewals, "renewal"))
	case told == 0:
		o.verdict, o.reason = Unknown, fmt.Sprintf("No claim ran out while its holder ran (%d ran out while it was stopped).", stopped)
	}
	return o
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
