package history

import (
	"cmp"
	"slices"
)

// Sort orders ops by time, keeps the order of equal times, and numbers them.
func Sort(ops []Op) {
	if !slices.IsSortedFunc(ops, byTime) {
		sortByTime(ops)
	}
	for i := range ops {
		ops[i].Index = i
	}
}

func byTime(a, b Op) int { return cmp.Compare(a.Time, b.Time) }

// sortByTime sorts (time, position) pairs and moves each operation once: an
// operation is fourteen times as large as a pair.
func sortByTime(ops []Op) {
	type place struct {
		time int64
		from int
	}
	places := make([]place, len(ops))
	for i := range ops {
		places[i] = place{ops[i].Time, i}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.from, b.from))
	})
	old := slices.Clone(ops)
	for i, p := range places {
		ops[i] = old[p.from]
	}
}
