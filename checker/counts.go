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
// lasts. Both are in the order of time, so only the open faults are looked at.
func (r *run) grantsDuringFault() int {
	faults := slices.Clone(r.faults)
	slices.SortStableFunc(faults, func(a, b *fault) int { return cmp.Compare(a.from, b.from) })
	var open []*fault
	n, next := 0, 0
	for _, g := range r.grants {
		for ; next < len(faults) && faults[next].from < g.ok; next++ {
			if faults[next].begin >= 0 {
				open = append(open, faults[next])
			}
		}
		open = slices.DeleteFunc(open, func(f *fault) bool { return f.to <= g.ok })
		if slices.ContainsFunc(open, func(f *fault) bool { return f.target != g.node }) {
			n++
		}
	}
	return n
}
