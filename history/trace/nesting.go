package trace

import (
	"github.com/dlmtest/dlmtest/history"
)

// Nesting is how often a holder of a reentrant lock has it, by what it was told.
type Nesting struct {
	depth     int          // acquires that said ok, less releases that may have happened
	releasing map[int]bool // invokes of inner releases that are under way
	Given     int          // completion of the first inner release, plus one
	Open      int          // invoke, plus one, of the first of its operations whose outcome is unknown
	Again     []int        // completions of its inner acquires and releases, in order
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

// again is the grant that an acquire which was told a depth has taken once more; nil: none. Its holder may call it by
// a new owner; who holds it is a thread, or its client.
func (t *Trace) again(op *history.Op, k *Key) *Grant {
	if op.Depth <= 1 {
		return nil
	}
	if g := t.ByOwner[op.Owner]; g != nil {
		return g
	}
	by := session{op.Node, op.Process}
	if t.Setup.Promise.Reentry == history.ByProcess {
		by.process = 0
	}
	for _, g := range t.sessions[by] {
		if g.Key == k && g.End == Forever {
			t.ByOwner[op.Owner] = g
			return g
		}
	}
	return nil
}

// deeper takes a grant of what its holder has already: it was told that it holds it.
func (t *Trace) deeper(i int, op *history.Op, g *Grant, invoke int) {
	if g.Release >= 0 && g.EndOp == g.Release && !t.SaidFree(g) {
		t.resume(g, int(op.Depth)-1)
	}
	g.Nest.depth++
	g.Nest.Again = append(g.Nest.Again, i)
	t.acted(g, i, op, t.Ops[invoke].Time)
	g.Claims = append(g.Claims, Claim{At: op.Time, Deadline: op.Deadline, Op: i})
	t.Successes = append(t.Successes, Success{g, invoke, i})
	g.LastSeen = op.Time
}

// SaidFree says whether the service answered to the last release of g that it was the last.
func (t *Trace) SaidFree(g *Grant) bool {
	return g.Done >= 0 && t.Ops[g.Done].Type == history.OK && t.Ops[g.Done].Depth == 0
}

// resume takes back a last release that was none: the service says that g has had its
// lock so often all the time.
func (t *Trace) resume(g *Grant, depth int) {
	if g.Released >= 0 {
		g.Nest.Again = append(g.Nest.Again, g.Released)
	} else {
		g.Unsure(g.Release)
	}
	g.Nest.depth = depth
	g.End, g.EndOp, g.Release, g.Done, g.Released = Forever, -1, -1, -1, -1
	t.hold(g)
}

// keeps takes a release that its client meant as the last and of which the service says that
// the lock is held still. The belief of a client that was told of its loss stays over.
func (t *Trace) keeps(g *Grant, i int, op *history.Op, invoke int) {
	g.Nest.Again = append(g.Nest.Again, i)
	if g.EndOp == g.Release {
		t.resume(g, int(op.Depth))
		t.acted(g, i, op, t.Ops[invoke].Time)
		return
	}
	g.Nest.depth = int(op.Depth)
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
		if g.Nest.Open > 0 && op.Depth == 0 { // it was the last, as what was unknown had not happened
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
		g.Nest.depth--
		g.Unsure(invoke)
	}
	return true
}

// Unsure notes that what g is told of its depth cannot be known from an invoke on.
func (g *Grant) Unsure(invoke int) {
	if g.Nest.Open == 0 || invoke+1 < g.Nest.Open {
		g.Nest.Open = invoke + 1
	}
}
