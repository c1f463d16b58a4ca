package checker

import (
	"cmp"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// asking are the acquires of a key of which it is known how long they went on, without
// those that say nothing new: while one goes on, another of whoever asks that began no
// earlier and ended no later changes nothing.
type asking struct {
	by  []asker // in the order of their first acquire
	all meetings
}

// asker is one node, or everybody. Both begin and end of its acquires rise.
type asker struct {
	node  string
	waits []trace.Wait
}

func (a *asker) add(w trace.Wait) {
	if n := len(a.waits); n == 0 || w.To > a.waits[n-1].To {
		a.waits = append(a.waits, w)
	}
}

// meeting are those acquires that meet [from, to]. Of those that had begun by then only
// one is needed: the first that lasts to the end, or else the last.
func (a *asker) meeting(from, to int64) []trace.Wait {
	all := a.waits
	first := sort.Search(len(all), func(i int) bool { return all[i].To > from })
	begun := sort.Search(len(all), func(i int) bool { return all[i].From > from }) - 1
	lasts := sort.Search(len(all), func(i int) bool { return all[i].To >= to })
	first = max(first, min(begun, lasts))
	end := first
	for ; end < len(all) && all[end].From < to && end <= lasts; end++ {
	}
	return all[first:end]
}

// asked files the acquires of a key by who asks.
func (r *run) asked(k *keyLog) *asking {
	if k.asked != nil {
		return k.asked
	}
	a, first := &asking{}, map[string]int{}
	for _, w := range k.Waits {
		op := &r.Ops[w.Invoke]
		w, known := r.lasted(w)
		if !known || op.F != history.Acquire && op.F != history.Try { // who tries again and again waits, see joined
			continue
		}
		i, seen := first[op.Node]
		if !seen {
			i = len(a.by)
			first[op.Node] = i
			a.by = append(a.by, asker{node: op.Node})
		}
		a.by[i].add(w)
	}
	for i, who := range a.by {
		for _, w := range who.waits {
			a.all.add(w.From, w.To, i)
		}
	}
	k.asked = a
	return a
}

// in calls f for each asker whose acquires meet [from, to].
func (a *asking) in(from, to int64, f func(node string, waits []trace.Wait)) {
	for _, i := range a.all.in(from, to) {
		f(a.by[i].node, a.by[i].meeting(from, to))
	}
}

// keysIn are the keys that were asked for in [from, to], in their order.
func (r *run) keysIn(from, to int64) (keys []*keyLog) {
	if r.known.asked == nil {
		r.known.asked = &meetings{}
		for i, k := range r.keys {
			for _, w := range r.asked(k).all.spans {
				r.known.asked.add(w.From, w.To, i)
			}
		}
	}
	for _, i := range r.known.asked.in(from, to) {
		keys = append(keys, r.keys[i])
	}
	return keys
}

// meetings finds which of many spans meet a time, by their owners.
type meetings struct {
	spans  []trace.Span
	latest *peaks // ends; made once they are asked for
}

func (m *meetings) add(from, to int64, owner int) {
	m.spans = append(m.spans, trace.Span{From: from, To: to, Owner: owner})
}

// in are the owners, each once and in order, of the spans that meet [from, to].
// O(log n) for each of these.
func (m *meetings) in(from, to int64) (owners []int) {
	if m.latest == nil {
		slices.SortStableFunc(m.spans, func(a, b trace.Span) int { return cmp.Compare(a.From, b.From) })
		m.latest = &peaks{n: len(m.spans), value: func(i int) int64 { return m.spans[i].To }}
	}
	end := sort.Search(len(m.spans), func(i int) bool { return m.spans[i].From >= to })
	for i := 0; ; i++ {
		if i = m.latest.first(i, end, from); i < 0 {
			break
		}
		owners = append(owners, m.spans[i].Owner)
	}
	slices.Sort(owners)
	return slices.Compact(owners)
}
