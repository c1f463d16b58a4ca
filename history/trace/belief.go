package trace

import (
	"cmp"
	"slices"
	"sort"
)

// session names a node, or one of its processes.
type session struct {
	node    string
	process int // 0: all
}

// hold files a grant as open under its node and its process, where it is not yet: one
// whose belief had ended may have been forgotten there.
func (t *Trace) hold(g *Grant) {
	for i, id := range []session{{node: g.Node}, {g.Node, g.Process}} {
		if !g.filed[i] && (i == 0 || g.Process != 0) {
			g.filed[i] = true
			t.sessions[id] = append(t.sessions[id], g)
		}
	}
}

// toldNode calls f for the open grants of a process, or of its whole node. Grants whose
// belief has ended are forgotten on the way.
func (t *Trace) toldNode(node string, process int, f func(*Grant)) {
	id, i := session{node, process}, 0
	if process != 0 {
		i = 1
	}
	open := slices.DeleteFunc(t.sessions[id], func(g *Grant) bool {
		g.filed[i] = g.End == Forever
		return g.End != Forever
	})
	t.sessions[id] = open
	for _, g := range open {
		f(g)
	}
}

// validSpans are the times in which the lease of g was valid, in order, those that touch
// as one, as far as its deadlines are known; false: not all of them are.
func (t *Trace) validSpans(g *Grant) ([]Span, bool) {
	if g.valid == nil {
		spans, known := t.Validity(nil, g, 0)
		g.valid, g.validKnown = []Span{}, known
		for _, s := range spans {
			g.valid = Append(g.valid, s.From, s.To)
		}
	}
	return g.valid, g.validKnown
}

// ValidAt is the end of the time around an instant in which the lease of g was valid, and
// whether there is one.
func (t *Trace) ValidAt(g *Grant, at int64) (until int64, valid bool) {
	spans, known := t.validSpans(g)
	i := sort.Search(len(spans), func(i int) bool { return spans[i].To > at })
	if !known || i == len(spans) || spans[i].From > at {
		return at, false
	}
	return spans[i].To, true
}

// InOrder are the acts of a grant by their time; of those at one time the last that was
// recorded comes first.
func (t *Trace) InOrder(g *Grant) []Act {
	if g.sorted == nil {
		for i := g.acts; i != 0; i = t.acts[i-1].next {
			g.sorted = append(g.sorted, t.acts[i-1])
		}
		slices.SortStableFunc(g.sorted, func(a, b Act) int { return cmp.Compare(a.Time, b.Time) })
	}
	return g.sorted
}

// Suspended says that the last word on the claim of g was that it may be lost.
func (g *Grant) Suspended() bool { return len(g.Claims) > 0 && g.Claims[len(g.Claims)-1].Cut }
