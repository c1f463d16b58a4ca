package checker

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// count fills the counts that need the whole history.
func (r *run) count() {
	c := &r.counts
	c.Grants, c.FaultsSkipped = len(r.Grants), r.Unbegun
	for i := range r.Ops {
		switch r.Ops[i].Type {
		case history.Invoke:
			c.Operations++
		case history.Info:
			c.Unknowns++
		}
	}
	seen := map[int]bool{} // by fault: all its victims were observed
	skipped := map[int]bool{}
	for _, f := range r.idle {
		skipped[f.ID] = true
	}
	for _, f := range r.Faults {
		if f.Skipped {
			skipped[f.ID] = true
			continue
		}
		before, known := seen[f.ID]
		seen[f.ID] = f.Observed && !f.Missed && (before || !known)
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
	for i := range r.Writes {
		if r.Writes[i].Invoke >= 0 {
			c.Writes++
		}
		r.countStale(&r.Writes[i])
	}
	for _, k := range r.keys {
		r.countOpen(k)
	}
	for _, i := range r.Abstained {
		if g := r.ByOwner[r.Ops[i].Owner]; g != nil && g.SupersededAt(r.Ops[i].Time) {
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
func (r *run) countStale(w *trace.Write) {
	if w.Grant == nil {
		return
	}
	at := r.Ops[max(w.Invoke, w.Apply)].Time
	if !w.Grant.SupersededAt(at) {
		return
	}
	r.counts.StaleWrites++
	refused := func(op int, t history.Type) bool {
		return op >= 0 && r.Ops[op].Type == t && r.Ops[op].Fenced != nil && !r.Ops[op].Fenced.Accepted
	}
	if refused(w.Apply, history.Note) || (w.Apply < 0 && refused(w.Done, history.OK)) {
		r.counts.StaleRefused++
	}
}

// countOpen counts a stale write of each two grants of which nobody knows which came first, where both were written on
// after both had been made: one of the two had been superseded, whichever it was.
func (r *run) countOpen(k *keyLog) {
	if k.Sure || r.Setup.Kind.Shares() {
		return
	}
	last := map[*trace.Grant]int64{} // write on it that no count of its own has: nothing superseded it for certain
	for _, w := range r.Writes {
		if g := w.Grant; g != nil && g.Key == k.Key {
			if at := r.Ops[max(w.Invoke, w.Apply)].Time; !g.SupersededAt(at) {
				last[g] = max(last[g], at)
			}
		}
	}
	for i, h := range k.openAfter(func(h *trace.Grant) bool { return last[h] > h.OK }) {
		if h != nil && last[k.Grants[i]] > h.OK {
			r.counts.StaleWrites++
		}
	}
}

// client names the client of an operation.
func (r *run) client(op int) string {
	if node := r.Ops[op].Node; node != "" {
		return node
	}
	return strconv.Itoa(r.Ops[op].Process)
}

// grantsDuringFault counts the grants of others than the victim while a fault
// lasts. Both are in the order of time, so it is one walk.
func (r *run) grantsDuringFault() int {
	begins := slices.DeleteFunc(slices.Clone(r.Faults), func(f *trace.Fault) bool { return f.Begin < 0 || f.To <= f.From })
	slices.SortStableFunc(begins, func(a, b *trace.Fault) int { return cmp.Compare(a.From, b.From) })
	ends := slices.Clone(begins)
	slices.SortStableFunc(ends, func(a, b *trace.Fault) int { return cmp.Compare(a.To, b.To) })
	open, at := 0, map[string]int{} // at each node
	n, begun, ended := 0, 0, 0
	for _, g := range r.Grants {
		for ; begun < len(begins) && begins[begun].From < g.OK; begun++ {
			open++
			at[begins[begun].Target]++
		}
		for ; ended < len(ends) && ends[ended].To <= g.OK; ended++ {
			open--
			at[ends[ended].Target]--
		}
		if open > at[g.Node] {
			n++
		}
	}
	return n
}
