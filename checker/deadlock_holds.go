package checker

import (
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history/trace"
)

// For how long who waits for each other's keys holds them, and may have had what it waited for.

// believedUntil is the end of a belief, and what shows it. Who waited for another key until it was asked to end was
// alive, though it said nothing after its deadline.
func (r *run) believedUntil(g *trace.Grant) (to int64, op int) {
	to, op = g.End, g.EndOp
	if op >= 0 || to == trace.Forever {
		return to, op
	}
	left := r.leftWaiting(g.Node)
	n := sort.Search(len(left), func(n int) bool { return r.Ops[left[n]].Time > to })
	stop, stopped := r.Stops[g.Node]
	if n == 0 || !stopped || r.Ops[stop].Time <= to || r.diedAfter(g.Node, left[n-1]) != nil {
		return to, op
	}
	return r.Ops[stop].Time, stop
}

// leftWaiting are the invokes of acquires of a node that were never answered, in order.
func (r *run) leftWaiting(node string) []int {
	if r.known.waiting == nil {
		r.known.waiting = map[string][]int{}
		for _, k := range r.keys {
			for _, w := range k.Waits {
				if w.Done < 0 {
					of := r.Ops[w.Invoke].Node
					r.known.waiting[of] = append(r.known.waiting[of], w.Invoke)
				}
			}
		}
		for _, all := range r.known.waiting {
			slices.Sort(all)
		}
	}
	return r.known.waiting[node]
}

// leaseIn is the longest lease of g that was in force between two times: a renewal may make it longer.
func (r *run) leaseIn(g *trace.Grant, from, to int64) int64 {
	n := sort.Search(len(g.Claims), func(n int) bool { return g.Claims[n].At > from }) - 1
	for n >= 0 && g.Claims[n].Cut {
		n--
	}
	longest := r.LeaseOf(&r.Ops[g.Op])
	if n >= 0 {
		longest = r.LeaseOf(&r.Ops[g.Claims[n].Op])
	}
	for _, c := range g.Claims[n+1:] {
		if c.At > to {
			break
		}
		if !c.Cut {
			longest = max(longest, r.LeaseOf(&r.Ops[c.Op]))
		}
	}
	return longest
}

// mayHaveHad is for how long members of a circle may have had what they waited for: each request of unknown outcome
// for a lease and the bound, unless the holder was told after it that it holds on, or nothing but a fault ends its hold.
func (r *run) mayHaveHad(c *circle) (all int64) {
	for i, h := range c.holds {
		unknown := c.waits[i].wait.unknown
		if !r.Setup.Promise.Leased || len(unknown) == 0 {
			continue
		}
		claims, held := h.grant.Claims, max(h.grant.OK, c.from)
		n := sort.Search(len(claims), func(n int) bool { return claims[n].At > c.to })
		for n > 0 && claims[n-1].Cut {
			n--
		}
		if n > 0 {
			held = max(held, claims[n-1].At)
		}
		first := sort.Search(len(unknown), func(n int) bool { return unknown[n] > held })
		end := sort.Search(len(unknown), func(n int) bool { return unknown[n] >= c.to })
		all += int64(max(0, end-first)) * r.mayBeGranted(c.waits[i].key)
	}
	return all
}
