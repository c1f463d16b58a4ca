package checker

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/dlmtest/dlmtest/history/trace"
)

func byStart(shares []trace.Share) {
	slices.SortStableFunc(shares, func(a, b trace.Share) int { return cmp.Compare(a.From, b.From) })
}

// rivalries sweeps over shares of a read-write lock in the order of their start, and
// reports each that begins while one of another grant lasts that it must not be beside,
// with the latest ending of those. It is overlaps with two kinds of span: a writer's
// must meet none, a reader's no writer's. A history of a read-write lock is linearizable
// if and only if its certain holds have no such pair, as with a mutex. O(n log n).
func rivalries(shares []trace.Share, report func(earlier, later trace.Share)) {
	byStart(shares)
	var writers, all [2]trace.Share // the latest ends so far, of two different grants
	for _, s := range shares {
		if s.From >= s.To {
			continue
		}
		rivals := &writers
		if s.Exclusive {
			rivals = &all
		}
		for _, rival := range rivals {
			if rival.Grant != nil && rival.Grant != s.Grant {
				if rival.To > s.From {
					report(rival, s)
				}
				break
			}
		}
		latest(&all, s)
		if s.Exclusive {
			latest(&writers, s)
		}
	}
}

// latest keeps the latest ends of two different grants, the later first.
func latest(two *[2]trace.Share, s trace.Share) {
	switch {
	case two[0].Grant == nil || two[0].Grant == s.Grant:
		if two[0].Grant == nil || s.To > two[0].To {
			two[0] = s
		}
	case s.To > two[0].To:
		two[0], two[1] = s, two[0]
	case two[1].Grant == nil || s.To > two[1].To:
		two[1] = s
	}
}

// crowds sweeps over shares in the order of their start, and reports each that begins
// while those that last take more than n permits with it. It is linearizable, by the
// argument of overlaps, if and only if there is none. O(n log n) beside what it reports.
func crowds(shares []trace.Share, n int, report func(later trace.Share, beside []trace.Share, taken int)) {
	byStart(shares)
	var open ends
	taken := 0
	for _, s := range shares {
		if s.From >= s.To {
			continue
		}
		for len(open) > 0 && open[0].To <= s.From {
			taken -= heap.Pop(&open).(trace.Share).Permits
		}
		if taken+s.Permits > n {
			report(s, open, taken)
		}
		taken += s.Permits
		heap.Push(&open, s)
	}
}

// ends is a heap of shares, the first to end on top.
type ends []trace.Share

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i].To < e[j].To }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push implements heap.Interface.
func (e *ends) Push(x any) { *e = append(*e, x.(trace.Share)) }

// Pop implements heap.Interface.
func (e *ends) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}
