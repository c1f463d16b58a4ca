package checker

import (
	"sort"

	"github.com/dlmtest/dlmtest/history/trace"
)

// made is when a grant can have been made at the earliest, and until when it was kept for certain from its ok on.
type made struct{ from, kept int64 }

// madeFrom is the earliest time at which g can have been made, unless somebody else held its key at that time. Nobody
// need say when its request was sent: whoever was answered before g, and kept the key for certain, had it first. Had g
// been made before that, it would still have been owed, as its lease was not over. Of a lock that several may hold it is
// when the request was sent. O(n) for each client that waits.
func (r *run) madeFrom(g *trace.Grant) int64 {
	if r.Setup.Kind.Shares() {
		return g.Sent
	}
	k := r.logOf(g.Key)
	if k.made == nil {
		k.made = make(map[*trace.Grant]made, len(k.Grants))
		kept := make([]int64, len(k.Grants)+1) // the latest end of what is kept of the grants before each
		for i, h := range k.Grants {
			first := sort.Search(i, func(n int) bool { return k.Grants[n].OK >= h.Sent })
			m := made{from: r.behind(k, h, max(h.Sent, min(kept[first], h.OK)), k.Grants[first:i])}
			k.made[h] = m // what is kept counts from it: see leaseEnd
			if spans := r.keptSpans(h, trace.ClockNoise); len(spans) > 0 && spans[0].From == h.OK {
				m.kept = spans[0].To
			}
			k.made[h], kept[i+1] = m, max(kept[i], m.kept)
		}
	}
	return k.made[g].from
}

// behind is the earliest time, from one on, at which h can have been made behind some that were answered while it was under way.
func (r *run) behind(k *keyLog, h *trace.Grant, from int64, answered []*trace.Grant) int64 {
	lease, cause := int64(trace.Forever), int64(trace.Forever)
	if len(answered) > 0 {
		cause = r.firstCause(h)
	}
	if r.Setup.Promise.Leased {
		lease = r.shortest(r.LeaseOf(&r.Ops[h.Op]))
	}
	for _, p := range answered {
		if p.OK >= min(cause, after(from, lease), h.OK) {
			break
		}
		from = max(from, k.made[p].from, min(k.made[p].kept, h.OK))
	}
	return from
}

// shortest is how long a lease lasts at least, by servers whose clocks run as fast as the lock allows for.
func (r *run) shortest(lease int64) int64 {
	return lease - int64(r.Setup.Promise.DriftFactor*float64(lease)) - int64(r.Setup.Promise.DriftFixed)
}
