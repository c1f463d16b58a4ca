package checker

import (
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// slowAnswer is what any answer may take on a busy machine, however short the lease.
const slowAnswer = int64(50 * time.Millisecond)

// waitLimit finds acquires that came back long after the limit that they were given, or
// not at all. A quarter of a lease, and slowAnswer at least, is for the machine. A try has the limit zero. Who is killed waits no more. What a fault or a
// stall delays is not judged, but what goes on for as long when the fault has faded; and no acquire of a lock that says that
// it knows no limit.
func waitLimit(r *run) outcome {
	var f found
	machine := max(int64(r.Setup.Lease)/4, slowAnswer)
	slack := int64(r.Setup.Promise.Bound) + machine
	judged, pending, hindered, worst := 0, 0, 0, int64(0)
	for _, k := range r.keys {
		for _, w := range k.Waits {
			op := &r.Ops[w.Invoke]
			to, until, last := min(w.To, max(r.End, w.From)), "by the end of the run", len(r.Ops)-1
			if death := r.deathAfter(op.Node, w.From); w.Done < 0 && death != nil { // nobody answers the dead
				to, until, last = min(to, death.From), "before it was killed", death.Begin
			}
			if op.F == history.Acquire && (op.Limit == 0 || r.Setup.Promise.NoLimit) {
				continue
			}
			late := to - w.From - op.Limit
			said := length(late) + " after that"
			if faults := r.faultsFor(op.Node); trace.Meets(faults, w.From, to) {
				if late = longestOf(without(trace.Span{From: w.From + op.Limit, To: to}, faults)); late <= slack {
					hindered++
					continue
				}
				said += fmt.Sprintf(", of which %s without a fault", length(late))
			}
			if w.Done < 0 {
				if late > slack {
					pending++
					f.add(r, Violation{Key: k.Name, At: w.From + op.Limit + slack, Operations: []int{w.Invoke, last}},
						"%s asked for %q at %s to wait for %s at most, and was not answered %s, %s.",
						r.client(w.Invoke), k.Name, r.seconds(w.From), length(op.Limit), until, said)
				}
				continue
			}
			judged++
			worst = max(worst, late)
			if late > slack {
				f.add(r, Violation{Key: k.Name, At: w.To, Operations: []int{w.Invoke, w.Done}},
					"%s asked for %q at %s to wait for %s at most, and was answered %s.",
					r.client(w.Invoke), k.Name, r.seconds(w.From), length(op.Limit), said)
			}
		}
	}
	o := outcome{verdict: Holds, found: f,
		reason: fmt.Sprintf("%s came back at most %s after its limit; the lock states %s, and %s are "+
			"for the machine.", countOf("Each of ", judged, "attempt"), length(worst), length(int64(r.Setup.Promise.Bound)), length(machine)),
		summary: fmt.Sprintf("%d of %s came back more than %s after its limit, or not at all.", f.certain,
			nouns.Count(judged+pending, "attempt"), length(slack)),
	}
	switch {
	case judged > 0:
	case hindered > 0:
		o.verdict, o.reason = Unknown, fmt.Sprintf("%s had a limit, and each met a fault.", nouns.Count(hindered, "attempt"))
	default:
		o.verdict, o.reason = Unknown, "No attempt had a limit that the lock was told."
	}
	return o
}

// longestOf is the length of the longest of some spans.
func longestOf(spans []trace.Span) (longest int64) {
	for _, s := range spans {
		longest = max(longest, s.To-s.From)
	}
	return longest
}
