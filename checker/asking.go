package checker

import (
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
)

// asking are the acquires of a key of which it is known how long they went on, without
// those that say nothing new: while one goes on, another of whoever asks that began no
// earlier and ended no later changes nothing.
type asking struct {
	by    []asker // in the order of their first acquire
	reach []int64 // the latest end of each asker's acquires and those of all before it
	first map[string]int
}

// asker is one node, or everybody. Both begin and end of its acquires rise.
type asker struct {
	node  string
	waits []wait
}

func (a *asker) add(w wait) {
	if n := len(a.waits); n == 0 || w.to > a.waits[n-1].to {
		a.waits = append(a.waits, w)
	}
}

// meeting are those acquires that meet [from, to]. Of those that had begun by then only
// one is needed: the first that lasts to the end, or else the last.
func (a *asker) meeting(from, to int64) []wait {
	all := a.waits
	first := sort.Search(len(all), func(i int) bool { return all[i].to > from })
	begun := sort.Search(len(all), func(i int) bool { return all[i].from > from }) - 1
	lasts := sort.Search(len(all), func(i int) bool { return all[i].to >= to })
	first = max(first, min(begun, lasts))
	end := first
	for ; end < len(all) && all[end].from < to && end <= lasts; end++ {
	}
	return all[first:end]
}

// asked files the acquires of a key by who asks.
func (r *run) asked(k *keyLog) *asking {
	if k.asked != nil {
		return k.asked
	}
	a := &asking{first: map[string]int{}}
	for _, w := range k.waits {
		op := &r.ops[w.invoke]
		w, known := r.lasted(w)
		if !known || op.F != history.Acquire {
			continue
		}
		i, seen := a.first[op.Node]
		if !seen {
			i = len(a.by)
			a.first[op.Node] = i
			a.by = append(a.by, asker{node: op.Node})
		}
		a.by[i].add(w)
	}
	latest := int64(-forever)
	for _, who := range a.by {
		latest = max(latest, who.waits[len(who.waits)-1].to)
		a.reach = append(a.reach, latest)
	}
	k.asked = a
	return a
}

// in calls f for each asker whose acquires meet [from, to].
func (a *asking) in(from, to int64, f func(node string, waits []wait)) {
	for i := sort.Search(len(a.by), func(i int) bool { return a.reach[i] > from }); i < len(a.by) && a.by[i].waits[0].from < to; i++ {
		if waits := a.by[i].meeting(from, to); len(waits) > 0 {
			f(a.by[i].node, waits)
		}
	}
}

// meets says whether anybody asked at some time of [from, to].
func (a *asking) meets(from, to int64) bool {
	i := sort.Search(len(a.by), func(i int) bool { return a.reach[i] > from })
	return i < len(a.by) && a.by[i].waits[0].from < to
}

// keysIn are the keys that may have been asked for in [from, to], in their order.
func (r *run) keysIn(from, to int64) (keys []*keyLog) {
	if r.known.keys == nil {
		r.known.keys = []keySpan{}
		for i, k := range r.keys {
			if a := r.asked(k); len(a.by) > 0 {
				r.known.keys = append(r.known.keys, keySpan{i, a.by[0].waits[0].from, a.reach[len(a.reach)-1]})
			}
		}
		all := r.known.keys
		slices.SortStableFunc(all, func(a, b keySpan) int { return int(min(max(a.from-b.from, -1), 1)) })
		for i := 1; i < len(all); i++ {
			all[i].reach = max(all[i].reach, all[i-1].reach)
		}
	}
	var places []int
	all := r.known.keys
	for i := sort.Search(len(all), func(i int) bool { return all[i].reach > from }); i < len(all) && all[i].from < to; i++ {
		places = append(places, all[i].place)
	}
	slices.Sort(places)
	for _, i := range places {
		keys = append(keys, r.keys[i])
	}
	return keys
}

// keySpan is when a key was asked for: from the first acquire to the latest end of its
// own and of those of all keys before it.
type keySpan struct {
	place       int // in run.keys
	from, reach int64
}
