package trace

import (
	"cmp"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// Nesting is how often a holder of a reentrant lock has it, by what it was told.
type Nesting struct {
	depth     int          // acquires that said ok, less releases that may have happened
	releasing map[int]bool // invokes of inner releases that are under way
	Given     int          // completion of the first inner release, plus one
	Open      int          // invoke, plus one, of the first of its operations whose outcome is unknown
	lost      int          // releases whose outcome is unknown: each may take effect yet
	sure      int          // acquires that were answered by ok, less releases that may have happened, whatever the service told of how often it is held
	left      bool         // it was told to hold the lock still, and no more often than that
	Again     []int        // completions of its inner acquires and releases, in order
	// Told are the completions of acquires that its first answer had counted and that were answered after it, as
	// threads of one client asked at once; untold is how many of these nobody was told of, and other is what Open
	// would be without them.
	Told          []int
	untold, other int
}

// inner says whether the release invoked by i is not the last, and files it.
func (g *Grant) inner(i int) bool {
	if g.Nest.depth-len(g.Nest.releasing) <= 1 {
		return false
	}
	if g.Nest.releasing == nil {
		g.Nest.releasing = map[int]bool{}
	}
	g.Nest.releasing[i] = true
	return true
}

// deepAtOnce takes a first grant that was told a depth: an acquire with an unknown outcome may have won, and nobody was
// told of it, or is told later.
func (t *Trace) deepAtOnce(i int, op *history.Op) {
	g := t.owned(op)
	g.Nest.depth = int(op.Depth)
	g.Unsure(i)
	g.Nest.untold = int(op.Depth) - 1
	delete(t.Ghosts, op.Owner)
}

// counted takes an acquire that was answered after another of its client, which had counted it already.
func (t *Trace) counted(i int, op *history.Op, k *Key, invoke *history.Op) bool {
	g := t.crossed(op, k, invoke)
	if g == nil {
		return false
	}
	t.ByOwner[op.Owner] = g
	g.Nest.sure++
	g.Nest.Told = append(g.Nest.Told, i)
	g.LastSeen = op.Time
	if g.Nest.untold--; g.Nest.untold == 0 && g.Nest.Open == g.Op+1 {
		g.Nest.Open = g.Nest.other
	}
	return true
}

// crossed is the grant of the client of an acquire that was told a greater depth, though this was asked for before
// that was answered; nil: none.
func (t *Trace) crossed(op *history.Op, k *Key, invoke *history.Op) *Grant {
	if t.Setup.Promise.Reentry != history.ByProcess {
		return nil
	}
	counts := func(g *Grant) bool {
		same := func(i int) bool { return max(t.Ops[i].Depth, 1) == max(op.Depth, 1) }
		return g.Nest.untold > 0 && g.Key == k && g.Node == op.Node && invoke.Index < g.Op && t.Ops[g.Op].Depth > op.Depth &&
			!slices.ContainsFunc(g.Nest.Told, same)
	}
	if g := t.ByOwner[op.Owner]; g != nil {
		if counts(g) {
			return g
		}
		return nil
	}
	for _, g := range t.sessions[session{node: op.Node}] {
		if g.End == Forever && counts(g) {
			return g
		}
	}
	return nil
}

// Whole says that nobody was told of the holds of g before its first, or all were told of them.
func (g *Grant) Whole() bool { return g.Nest.untold == 0 }

// again is the grant that an acquire which was told a depth has taken once more; nil: none. Its holder may call it by
// a new owner; who holds it is a thread, or its client.
func (t *Trace) again(op *history.Op, k *Key) *Grant {
	g := t.owned(op)
	switch {
	case op.Depth == 1 && g != nil && g.Key == k && g.Node == op.Node && g.Release < 0: // it is told so of a hold within a hold
		return g
	case op.Depth <= 1:
		return nil
	case g != nil && g.Node == op.Node:
		return g
	}
	by := session{op.Node, op.Process}
	if t.Setup.Promise.Reentry == history.ByProcess {
		by.process = 0
	}
	for _, g := range t.sessions[by] {
		if g.Key == k && g.End == Forever && !t.anew(g, op) {
			t.ByOwner[op.Owner] = g
			return g
		}
	}
	return nil
}

// anew says that an answer of an unknown owner tells of a hold after g, whose end nobody was told of: it has another token, or there are none, and the
// lease of g was over, another was granted the key since, or a release may have freed it.
func (t *Trace) anew(g *Grant, op *history.Op) bool {
	if op.Token == g.Token && op.Token != 0 {
		return false
	}
	last := &t.Ops[t.LastTold(g).Op]
	over := t.Setup.Promise.Leased && !t.Setup.Promise.Renews && cmp.Or(last.Sent, last.Time)+t.LeaseOf(last) <= op.Time
	return over || g.Nest.lost > 0 || g.Key.Grants[len(g.Key.Grants)-1] != g
}

// deeper takes a grant of what its holder has already: it was told that it holds it.
func (t *Trace) deeper(i int, op *history.Op, g *Grant, invoke int) {
	if g.Release >= 0 && g.EndOp == g.Release && !t.SaidFree(g) {
		depth := int(op.Depth) - 1 - g.Nest.lost // which may take effect yet
		if invoke < g.Done || t.Setup.Promise.Reentry == history.ByProcess && g.Released >= 0 && g.Nest.Open == 0 {
			depth = g.Nest.depth - 1 // what it has not counted yet has an answer to come
		}
		t.resume(g, depth)
	}
	g.Nest.depth++
	g.Nest.sure++
	g.Nest.Again = append(g.Nest.Again, i)
	t.acted(g, i, op, t.Ops[invoke].Time)
	t.claims(g, i, op)
	t.Successes = append(t.Successes, Success{g, invoke, i})
	g.LastSeen = op.Time
}

// SaidFree says whether the service answered to the last release of g that it was the last.
func (t *Trace) SaidFree(g *Grant) bool {
	return g.Done >= 0 && t.Ops[g.Done].Type == history.OK && t.Ops[g.Done].Depth == 0
}

// MayHold says that the holder of g has given back all that it took, and was told to hold the lock still, as a release whose
// outcome is unknown had not taken effect by then.
func (g *Grant) MayHold() bool { return g.Nest.left }

// resume takes back a last release that was none: the service says that g has had its
// lock so often all the time.
func (t *Trace) resume(g *Grant, depth int) {
	switch {
	case g.Released >= 0:
		g.Nest.Again = append(g.Nest.Again, g.Released)
	case g.Done < 0: // its answer comes, and will tell that it was an inner one
		depth = g.Nest.depth
		g.cross(g.Release)
	default:
		if t.Ops[g.Done].Type == history.Info { // it may take effect later
			depth--
			g.Nest.lost++
		}
		g.Unsure(g.Release)
	}
	g.Nest.depth, g.Nest.left = depth, false
	g.End, g.EndOp, g.Release, g.Done, g.Released = Forever, -1, -1, -1, -1
	t.hold(g)
}

// cross files a release that is under way, and that was thought to be the last: another thread asked at the same time.
func (g *Grant) cross(release int) {
	if g.Nest.releasing == nil {
		g.Nest.releasing = map[int]bool{}
	}
	g.Nest.releasing[release] = true
}

// freed takes the end of a release that was told to be the last, and was invoked before the one that was thought to be: that was served first.
func (t *Trace) freed(i int, g *Grant, invoke int) {
	switch {
	case g.Done < 0:
		g.cross(g.Release)
	case t.Ops[g.Done].Type == history.OK:
		g.Nest.Again = append(g.Nest.Again, g.Done)
	default: // it may have been before this one
		g.Unsure(g.Release)
	}
	g.Done, g.Released = i, i
	t.Successes = append(t.Successes, Success{g, invoke, i})
}

// keeps takes a release that its client meant as the last and of which the service says that
// the lock is held still. The belief of a client that was told of its loss stays over.
func (t *Trace) keeps(g *Grant, i int, op *history.Op, invoke int) {
	g.Nest.Again = append(g.Nest.Again, i)
	left := int(op.Depth) - g.Nest.lost // those may take effect yet
	if g.EndOp == g.Release {
		t.resume(g, left)
		t.acted(g, i, op, t.Ops[invoke].Time)
		return
	}
	g.Nest.depth = left
	g.Release, g.Done, g.Released = -1, -1, -1
}

// unnested takes the end of an inner release, and says whether it was one.
func (t *Trace) unnested(i int, op *history.Op, g *Grant, invoke int) bool {
	if !g.Nest.releasing[invoke] {
		return false
	}
	delete(g.Nest.releasing, invoke)
	switch op.Type {
	case history.OK:
		if op.Depth == 0 && g.Release >= 0 && g.EndOp == g.Release && !t.SaidFree(g) {
			t.freed(i, g, invoke)
			return true
		}
		if g.Nest.Open > 0 && op.Depth == 0 && g.Nest.sure <= len(g.Nest.releasing) { // it was the last, as what was unknown had not happened
			g.stop(invoke, t.Ops[invoke].Time)
			g.Release, g.Done, g.Released = invoke, i, i
			return true
		}
		g.Nest.depth--
		g.Nest.Again = append(g.Nest.Again, i)
		if g.Nest.Given == 0 {
			g.Nest.Given = i + 1
		}
		t.acted(g, i, op, t.Ops[invoke].Time) // it was told that it holds it still
		t.Successes = append(t.Successes, Success{g, invoke, i})
	case history.Fail:
		t.lost(g, i, op)
	case history.Info:
		if g.Nest.Open > 0 && g.Nest.sure <= len(g.Nest.releasing) { // it may be the last, as what was unknown may not have happened, or was taken back
			g.stop(invoke, t.Ops[invoke].Time)
			g.Release, g.Done = invoke, i
			return true
		}
		g.Nest.depth--
		g.Nest.lost++
		g.Unsure(invoke)
	}
	return true
}

// Unsure notes that what g is told of its depth cannot be known from an invoke on.
func (g *Grant) Unsure(invoke int) {
	if g.Nest.untold > 0 && (g.Nest.other == 0 || invoke+1 < g.Nest.other) {
		g.Nest.other = invoke + 1
	}
	if g.Nest.Open == 0 || invoke+1 < g.Nest.Open {
		g.Nest.Open = invoke + 1
	}
}
