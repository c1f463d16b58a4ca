package checker

import (
	"cmp"
	"slices"
)

// later returns the later grants against which g must be judged: those that are
// certainly later first.
func (k *keyLog) later(g *grant) []*grant {
	if k.sure {
		if g.by != nil && g.by.end <= g.ok { // its answer came so late that its first successor was done
			if k.met == nil {
				k.meet()
			}
			return some(k.met[g.pos])
		}
		return some(g.by)
	}
	return append(some(g.by), some(g.maybe)...)
}

func some(g *grant) []*grant {
	if g == nil {
		return nil
	}
	return []*grant{g}
}

// meet finds for each grant, by its position, the first proven of the later
// grants whose belief ends after its own ok. Grants are entered by the end of
// their belief, the latest first, and the tree keeps the first proven of those
// entered from each position on. O(n log n).
func (k *keyLog) meet() {
	n := len(k.order)
	k.met = make([]*grant, n)
	byOK, byEnd := slices.Clone(k.order), slices.Clone(k.order)
	slices.SortFunc(byOK, func(a, b *grant) int { return cmp.Compare(b.ok, a.ok) })
	slices.SortFunc(byEnd, func(a, b *grant) int { return cmp.Compare(b.end, a.end) })
	tree := make([]*grant, n+1) // a Fenwick tree over the positions, the last one first
	next := 0
	for _, g := range byOK {
		for ; next < n && byEnd[next].end > g.ok; next++ {
			for i := n - byEnd[next].pos; i <= n; i += i & -i {
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
