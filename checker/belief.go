package checker

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
func (r *run) hold(g *grant) {
	for i, id := range []session{{node: g.node}, {g.node, g.process}} {
		if !g.filed[i] && (i == 0 || g.process != 0) {
			g.filed[i] = true
			r.sessions[id] = append(r.sessions[id], g)
		}
	}
}

// toldNode calls f for the open grants of a process, or of its whole node. Grants whose
// belief has ended are forgotten on the way.
func (r *run) toldNode(node string, process int, f func(*grant)) {
	id, i := session{node, process}, 0
	if process != 0 {
		i = 1
	}
	open := slices.DeleteFunc(r.sessions[id], func(g *grant) bool {
		g.filed[i] = g.end == forever
		return g.end != forever
	})
	r.sessions[id] = open
	for _, g := range open {
		f(g)
	}
}

// validSpans are the times in which the lease of g was valid, in order, those that touch
// as one, as far as its deadlines are known; false: not all of them are.
func (r *run) validSpans(g *grant) ([]span, bool) {
	if g.valid == nil {
		spans, known := r.validity(nil, g, 0)
		g.valid, g.validKnown = []span{}, known
		for _, s := range spans {
			g.valid = extend(g.valid, s.from, s.to)
		}
	}
	return g.valid, g.validKnown
}

// validAt is the end of the time around t in which the lease of g was valid, and
// whether there is one.
func (r *run) validAt(g *grant, t int64) (until int64, valid bool) {
	spans, known := r.validSpans(g)
	i := sort.Search(len(spans), func(i int) bool { return spans[i].to > t })
	if !known || i == len(spans) || spans[i].from > t {
		return t, false
	}
	return spans[i].to, true
}

// inOrder are the acts of a grant by their time; of those at one time the last that was
// recorded comes first.
func (r *run) inOrder(g *grant) []act {
	if g.sorted == nil {
		for i := g.acts; i != 0; i = r.acts[i-1].next {
			g.sorted = append(g.sorted, r.acts[i-1])
		}
		slices.SortStableFunc(g.sorted, func(a, b act) int { return cmp.Compare(a.time, b.time) })
	}
	return g.sorted
}
