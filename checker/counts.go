package checker

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/dlmtest/dlmtest/history"
)

// count fills the counts that need the whole history.
func (r *run) count() {
	c := &r.counts
	c.Grants = len(r.grants)
	seen := map[int]bool{} // by fault: all its victims were observed
	skipped := map[int]bool{}
	for _, f := range r.faults {
		if f.skipped {
			skipped[f.id] = true
			continue
		}
		before, known := seen[f.id]
		seen[f.id] = f.observed && !f.missed && (before || !known)
	}
	c.Faults = len(seen)
	for id := range skipped {
		if _, other := seen[id]; !other {
			c.FaultsSkipped++
		}
	}
	for _, ok := range seen {
		if ok {
			c.FaultsSeen++
		}
	}
	for i := range r.writes {
		r.countStale(&r.writes[i])
	}
	for _, i := range r.abstained {
		if g := r.byOwner[r.ops[i].Owner]; g != nil && g.supersededAt(r.ops[i].Time) {
			c.Abstained++
		}
	}
	for _, k := range r.keys {
		c.Contended += r.contended(k)
	}
	c.GrantsDuringFault = r.grantsDuringFault()
}

// countStale counts a write that was invoked, or reached the resource, after
// its grant had been superseded.
func (r *run) countStale(w *write) {
	if w.grant == nil {
		return
	}
	at := r.ops[max(w.invoke, w.apply)].Time
	if !w.grant.supersededAt(at) {
		return
	}
	r.counts.StaleWrites++
	refused := func(op int, t history.Type) bool {
		return op >= 0 && r.ops[op].Type == t && r.ops[op].Fenced != nil && !r.ops[op].Fenced.Accepted
	}
	if refused(w.apply, history.Note) || (w.apply < 0 && refused(w.done, history.OK)) {
		r.counts.StaleRefused++
	}
}

// client names the client of an operation.
func (r *run) client(op int) string {
	if node := r.ops[op].Node; node != "" {
		return node
	}
	return strconv.Itoa(r.ops[op].Process)
}

// grantsDuringFault counts the grants of others than the victim while a fault
// lasts. Both are in the order of time, so it is one walk.
func (r *run) grantsDuringFault() int {
	begins := slices.DeleteFunc(slices.Clone(r.faults), func(f *fault) bool { return f.begin < 0 || f.to <= f.from })
	slices.SortStableFunc(begins, func(a, b *fault) int { return cmp.Compare(a.from, b.from) })
	ends := slices.Clone(begins)
	slices.SortStableFunc(ends, func(a, b *fault) int { return cmp.Compare(a.to, b.to) })
	open, at := 0, map[string]int{} // at each node
	n, begun, ended := 0, 0, 0
	for _, g := range r.grants {
		for ; begun < len(begins) && begins[begun].from < g.ok; begun++ {
			open++
			at[begins[begun].target]++
		}
		for ; ended < len(ends) && ends[ended].to <= g.ok; ended++ {
			open--
			at[ends[ended].target]--
		}
		if open > at[g.node] {
			n++
		}
	}
	return n
}
