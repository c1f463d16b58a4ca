package checker

import (
	"cmp"
	"container/heap"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
)

// turn is a change of the mode in which a grant is held.
type turn struct {
	at   int64
	mode history.Mode
}

func modeOf(op *history.Op) history.Mode {
	if op.Mode == history.Shared {
		return history.Shared
	}
	return history.Exclusive
}

// shareInvoked takes a read or a change of a kind that shares. To look at the resource is
// to act on a grant there, and a writer that asks to be a reader is none from then on.
func (r *run) shareInvoked(i int, op *history.Op, g *grant) {
	switch {
	case g == nil || !r.setup.Kind.Shares():
	case op.F == history.Read:
		r.acted(g, i, op, op.Time)
	case op.Mode == history.Shared:
		g.turn(op.Time, history.Shared)
	}
}

// turn changes the mode in which g is held, if that is another.
func (g *grant) turn(at int64, mode history.Mode) {
	now := g.mode
	if n := len(g.turns); n > 0 {
		now = g.turns[n-1].mode
	}
	if now != mode {
		g.turns = append(g.turns, turn{at, mode})
	}
}

// changed takes the end of a change. A reader is the writer once it was told so; a
// writer that could not become a reader is the writer again.
func (r *run) changed(i int, op *history.Op, p pending) {
	g, wanted := p.grant, r.ops[p.invoke-1].Mode
	if g == nil {
		return
	}
	switch {
	case op.Type == history.OK:
		if wanted == history.Exclusive {
			g.turn(op.Time, wanted)
		}
		g.claims = append(g.claims, claim{at: op.Time, deadline: op.Deadline, op: i})
	case op.Type == history.Fail && len(g.turns) > 0 && g.turns[len(g.turns)-1].at == r.ops[p.invoke-1].Time:
		g.turn(op.Time, history.Exclusive)
	}
}

// share is a time in which a grant is held in one way.
type share struct {
	from, to  int64
	grant     *grant
	exclusive bool
	permits   int
}

// shares cuts a time in which g is held by its modes.
func (g *grant) shares(to []share, from, until int64) []share {
	s := share{from: from, grant: g, exclusive: g.mode == history.Exclusive, permits: g.permits}
	i := sort.Search(len(g.turns), func(i int) bool { return g.turns[i].at > from })
	if i > 0 {
		s.exclusive = g.turns[i-1].mode == history.Exclusive
	}
	for ; i < len(g.turns) && g.turns[i].at < until; i++ {
		if s.to = g.turns[i].at; s.to > s.from {
			to = append(to, s)
		}
		s.from, s.exclusive = s.to, g.turns[i].mode == history.Exclusive
	}
	if s.to = until; s.from < s.to {
		to = append(to, s)
	}
	return to
}

func byStart(shares []share) {
	slices.SortStableFunc(shares, func(a, b share) int { return cmp.Compare(a.from, b.from) })
}

// rivalries sweeps over shares of a read-write lock in the order of their start, and
// reports each that begins while one of another grant lasts that it must not be beside,
// with the latest ending of those. It is overlaps with two kinds of span: a writer's
// must meet none, a reader's no writer's. A history of a read-write lock is linearizable
// if and only if its certain holds have no such pair, as with a mutex. O(n log n).
func rivalries(shares []share, report func(earlier, later share)) {
	byStart(shares)
	var writers, all [2]share // the latest ends so far, of two different grants
	for _, s := range shares {
		if s.from >= s.to {
			continue
		}
		rivals := &writers
		if s.exclusive {
			rivals = &all
		}
		for _, rival := range rivals {
			if rival.grant != nil && rival.grant != s.grant {
				if rival.to > s.from {
					report(rival, s)
				}
				break
			}
		}
		latest(&all, s)
		if s.exclusive {
			latest(&writers, s)
		}
	}
}

// latest keeps the latest ends of two different grants, the later first.
func latest(two *[2]share, s share) {
	switch {
	case two[0].grant == nil || two[0].grant == s.grant:
		if two[0].grant == nil || s.to > two[0].to {
			two[0] = s
		}
	case s.to > two[0].to:
		two[0], two[1] = s, two[0]
	case two[1].grant == nil || s.to > two[1].to:
		two[1] = s
	}
}

// crowds sweeps over shares in the order of their start, and reports each that begins
// while those that last take more than n permits with it. It is linearizable, by the
// argument of overlaps, if and only if there is none. O(n log n) beside what it reports.
func crowds(shares []share, n int, report func(later share, beside []share, taken int)) {
	byStart(shares)
	var open ends
	taken := 0
	for _, s := range shares {
		if s.from >= s.to {
			continue
		}
		for len(open) > 0 && open[0].to <= s.from {
			taken -= heap.Pop(&open).(share).permits
		}
		if taken+s.permits > n {
			report(s, open, taken)
		}
		taken += s.permits
		heap.Push(&open, s)
	}
}

// ends is a heap of shares, the first to end on top.
type ends []share

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i].to < e[j].to }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push implements heap.Interface.
func (e *ends) Push(x any) { *e = append(*e, x.(share)) }

// Pop implements heap.Interface.
func (e *ends) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}
