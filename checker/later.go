package checker

import (
	"cmp"
	"slices"

	"github.com/dlmtest/dlmtest/history/trace"
)

// later returns the later grants against which g must be judged: of those that are
// certainly later, and then of those whose order with it is open, the first proven
// whose belief meets that of g. Of the latter also the first whose holder acted, as
// an idle one may hide it.
func (k *keyLog) later(g *trace.Grant) []*trace.Grant {
	first := g.By
	if first != nil && (first.End <= g.OK || !first.Believed()) { // its first successor was done before, or never believed
		if k.met == nil {
			k.meet()
		}
		first = k.met[g.Pos]
	}
	if k.Sure {
		return some(first)
	}
	if k.beside == nil {
		k.beside = k.openAfter((*trace.Grant).Believed)
		k.acting = k.openAfter(func(h *trace.Grant) bool { return h.Believed() && h.LastAct > h.OK })
	}
	return slices.Concat(some(first), some(k.beside[g.Pos]), some(k.acting[g.Pos]))
}

func some(g *trace.Grant) []*trace.Grant {
	if g == nil {
		return nil
	}
	return []*trace.Grant{g}
}

// openAfter finds for each grant, by its position, the first proven of those that
// count, were proven after it, and whose order with it is open: they were sent by the
// time it was proven. As that time falls on the way back, what was sent too late for
// one grant was for all before it. O(n).
func (k *keyLog) openAfter(counts func(*trace.Grant) bool) []*trace.Grant {
	found := make([]*trace.Grant, len(k.Grants))
	var open []*trace.Grant // the first proven on top
	for i := len(k.Grants) - 1; i >= 0; i-- {
		g := k.Grants[i]
		for len(open) > 0 && open[len(open)-1].Sent > g.OK {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			found[i] = open[len(open)-1]
		}
		if counts(g) {
			open = append(open, g)
		}
	}
	return found
}

// meet finds for each grant, by its position, the first proven of the later
// grants whose belief ends after its own ok. Grants are entered by the end of
// their belief, the latest first, and the tree keeps the first proven of those
// entered from each position on. O(n log n). Where tokens say nothing, what is
// certainly later was sent after that ok, and its belief ends after it too.
func (k *keyLog) meet() {
	if !k.Sure {
		k.met = k.FirstLater((*trace.Grant).Believed, trace.Earlier)
		return
	}
	n := len(k.Order)
	k.met = make([]*trace.Grant, n)
	byOK, byEnd := slices.Clone(k.Order), slices.Clone(k.Order)
	slices.SortFunc(byOK, func(a, b *trace.Grant) int { return cmp.Compare(b.OK, a.OK) })
	slices.SortFunc(byEnd, func(a, b *trace.Grant) int { return cmp.Compare(b.End, a.End) })
	tree := make([]*trace.Grant, n) // a Fenwick tree over the positions, the last one first
	next := 0
	for _, g := range byOK {
		for ; next < n && byEnd[next].End > g.OK; next++ {
			for i := n - byEnd[next].Pos; byEnd[next].Believed() && i < n; i += i & -i {
				tree[i] = trace.Earlier(tree[i], byEnd[next])
			}
		}
		for i := n - g.Pos - 1; i > 0; i -= i & -i {
			k.met[g.Pos] = trace.Earlier(k.met[g.Pos], tree[i])
		}
	}
}

// sooner is the one whose request was sent first; a may be none.
func sooner(a, b *trace.Grant) *trace.Grant {
	if a == nil || b.Sent < a.Sent {
		return b
	}
	return a
}
