package checker

import (
	"sort"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// restsTold compares claims with the rest of the lease that looks at the servers told: whoever claims its grant for longer,
// without a renewal since, claims what the service never granted. The rest was read at some instant of the look, so it ends at the latest
// so long after its answer. A server of which the clock was bent, or that was away, counts leases anew, and several that vote tell the
// rest at a few of them. It returns how many claims were compared.
func (r *run) restsTold(f *found) (compared int) {
	if r.Setup.Promise.DriftFactor > 0 || r.Setup.Kind.Shares() ||
		r.begun(true, func(k history.FaultKind) bool { return k.Name == "clock" }) > 0 {
		return 0
	}
	unit := r.restUnit()
	told := map[int]bool{} // claims that a look has shown to be too long, or that count as compared
	for _, k := range r.keys {
		for _, i := range k.Holders {
			look := &r.Ops[i]
			g := r.ByOwner[look.Owner]
			if look.Lease <= 0 || g == nil || g.Key != k.Key || !r.trusted(look) {
				continue
			}
			claim := r.claimedAt(g, look)
			if claim < 0 {
				continue
			}
			until, known := r.DeadlineAt(g, r.Ops[claim].Deadline)
			if !known || until == trace.Forever || trace.Meets(r.shaken(), g.Sent, look.Time) {
				continue
			}
			if !told[claim] {
				told[claim] = true
				compared++
			}
			if ends := look.Time + look.Lease + unit; until > ends {
				f.add(r, Violation{Key: k.Name, At: look.Time, Operations: []int{g.Op, claim, i}},
					"%s claimed %q until %s, but a look at the server found at %s that its lease ends by %s.",
					g.Who(), k.Name, r.seconds(until), r.seconds(look.Time), r.seconds(ends))
			}
		}
	}
	return compared
}

// claimedAt is the answer by which g claims its key at a look: the last one before it. -1: it claims nothing, or something that may have
// changed its lease is under way.
func (r *run) claimedAt(g *trace.Grant, look *history.Op) int {
	claim, at := g.Op, g.OK
	if i := sort.Search(len(g.Claims), func(i int) bool { return g.Claims[i].At > look.Sent }); i > 0 {
		c := g.Claims[i-1]
		if claim, at = c.By, c.At; r.Ops[claim].Type != history.OK { // a note of its session
			return -1
		}
	}
	switch {
	case at > look.Sent, g.Nest.Open > 0, min(g.End, g.Told) <= look.Time, g.Release >= 0 && r.Ops[g.Release].Time <= look.Time,
		r.UnansweredIn(g, g.Invoked, look.Time):
		return -1
	}
	return claim
}

// restUnit is what looks cut off the rest of a lease: a second where they tell whole seconds only.
func (r *run) restUnit() int64 {
	for _, k := range r.keys {
		for _, i := range k.Holders {
			if r.Ops[i].Lease%int64(time.Second) != 0 {
				return trace.ClockNoise
			}
		}
	}
	return int64(time.Second)
}
