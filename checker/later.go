package checker

import (
	"cmp"
	"slices"
)

// later returns the later grants against which g must be judged: of those that are
// certainly later, and then of those whose order with it is open, the first proven
// whose belief meets that of g. Of the latter also the first whose holder acted, as
// an idle one may hide it.
func (k *keyLog) later(g *grant) []*grant {
	first := g.by
	if first != nil && (first.end <= g.ok || !first.believed()) { // its first successor was done before, or never believed
		if k.met == nil {
			k.meet()
		}
		first = k.met[g.pos]
	}
	if k.sure {
		return some(first)
	}
	if k.beside == nil {
		k.beside = k.openAfter((*grant).believed)
		k.acting = k.openAfter(func(h *grant) bool { return h.believed() && h.lastAct > h.ok })
	}
	return slices.Concat(some(first), some(k.beside[g.pos]), some(k.acting[g.pos]))
}

// believed says whether g was ever believed in: an answer may come after its deadline.
func (g *grant) believed() bool { return g.end > g.ok }

func some(g *grant) []*grant {
	if g == nil {
		return nil
	}
	return []*grant{g}
}

// openAfter finds for each grant, by its position, the first proven of those that
// count, were proven after it, and whose order with it is open: they were sent by the
// time it was proven. As that time falls on the way back, what was sent too late for
// one grant was for all before it. O(n).
func (k *keyLog) openAfter(counts func(*grant) bool) []*grant {
	found := make([]*grant, len(k.grants))
	var open []*grant // the first proven on top
	for i := len(k.grants) - 1; i >= 0; i-- {
		g := k.grants[i]
		for len(open) > 0 && open[len(open)-1].sent > g.ok {
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
	if !k.sure {
		k.met = k.firstLater((*grant).believed, earlier)
		return
	}
	n := len(k.order)
	k.met = make([]*grant, n)
	byOK, byEnd := slices.Clone(k.order), slices.Clone(k.order)
	slices.SortFunc(byOK, func(a, b *grant) int { return cmp.Compare(b.ok, a.ok) })
	slices.SortFunc(byEnd, func(a, b *grant) int { return cmp.Compare(b.end, a.end) })
	tree := make([]*grant, n) // a Fenwick tree over the positions, the last one first
	next := 0
	for _, g := range byOK {
		for ; next < n && byEnd[next].end > g.ok; next++ {
			for i := n - byEnd[next].pos; byEnd[next].believed() && i < n; i += i & -i {
				tree[i] = earlier(tree[i], byEnd[next])
			}
		}
		for i := n - g.pos - 1; i > 0; i -= i & -i {
			k.met[g.pos] = earlier(k.met[g.pos], tree[i])
		}
	}
}

// earlier is the one that was proven first; nil is none.
func earlier(a, b *grant) *grant {
	if a == nil || b != nil && b.ok < a.ok {
		return b
	}
	return a
}

// sooner is the one whose request was sent first; a may be none.
func sooner(a, b *grant) *grant {
	if a == nil || b.sent < a.sent {
		return b
	}
	return a
}
