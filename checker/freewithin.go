package checker

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// setsFree says that a run sets for how long a free key may stay so while somebody waits.
func setsFree(s history.Setup) bool {
	return s.FreeWithin > 0 && s.Kind != history.Alone && !s.Kind.Shares()
}

// freeWithin finds times longer than the limit of the run in which nobody can have had a key (see mayBeHeld), one client
// waited for it by one request all the time, and no fault was felt by the servers or by it. A lock whose waiters are woken by a timer
// alone, as a notice was lost or never sent, shows itself so.
func freeWithin(r *run) outcome {
	limit, handed, longest := int64(r.Setup.FreeWithin), 0, int64(0)
	var f found
	for _, k := range r.keys {
		held, _ := r.mayBeHeld(k)
		free, told := r.freeOfAll(held), int64(0)
		for _, w := range k.Waits {
			op := &r.Ops[w.Invoke]
			w, known := r.lasted(w)
			if !known || op.F != history.Acquire {
				continue
			}
			for _, part := range r.clearOf(stretch{w.From, w.To, nil}, free, op.Node) {
				switch lasted := part.To - part.From; {
				case lasted <= limit:
					if lasted > 0 && part.From > w.From && part.To == w.To && r.Ops[w.Done].Type == history.OK {
						handed, longest = handed+1, max(longest, lasted)
					}
				case part.From >= told: // others waited for it, too
					told = part.To
					f.add(r, Violation{Key: k.Name, At: part.From + limit, Operations: []int{w.Invoke, w.Done}, lasts: part, limit: limit},
						"%s waited for %q from %s to %s although nobody can have had it and no fault was open; the limit of this run is %s.",
						r.client(w.Invoke), k.Name, r.seconds(part.From), r.seconds(part.To), length(limit))
				}
			}
		}
	}
	o := outcome{verdict: Holds, found: f,
		reason: fmt.Sprintf("%s of a key to somebody who had waited came within the limit of this run, %s, once nobody can have had it; the slowest took %s.",
			countOf("Each of ", handed, "grant"), length(limit), length(longest)),
		summary: fmt.Sprintf("%s a key stayed free for longer than the limit of this run, %s, while somebody waited for it.",
			nouns.Count(f.certain, "time"), length(limit)),
	}
	if handed == 0 {
		o.verdict, o.reason = Unknown, "Nobody was granted a key for which it had waited until nobody else can have had it, with no fault."
	}
	return o
}
