package reports

import (
	"cmp"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// span is a stretch of raw time, in nanoseconds.
type span struct{ from, to int64 }

func (s span) holds(at int64) bool { return s.from <= at && at <= s.to }

// grant is one grant with all that was done on it. Indexes are into the
// history; -1 stands for none.
type grant struct {
	owner, key, node string
	token            int64
	mode             history.Mode
	permits          int32
	both             bool  // it was held in both modes, one after the other
	depth            int32 // of a reentrant lock: acquires, less releases
	invoke, ok       int
	belief           span   // from acquire-ok to whatever ended it, or to the end of the history
	end              int    // the operation that ended the belief
	valid            []span // the belief cut at the deadlines claimed, in raw time
	until            []int64
	renewed          []int // ok of every extend
	reads            []int // ok of every read
	writes           []*write
	effects          []*effect
	events           []int // told of a loss, abstained, released, refused
}

// write is one write and what the resource made of it.
type write struct {
	owner               string
	invoke, done, apply int
}

// fault is one fault on one victim, from its notes.
type fault struct {
	id                        int
	kind, target, proof       string
	begin, observed, end, beg int // indexes; beg is begin, or the first note of the fault
	missed                    bool
	cut                       []string // whose packets it drops
}

// cut makes the validity from the claims: each lasts to its own deadline, or to
// the end of the belief if that comes first.
func (g *grant) cut(ops []history.Op) {
	from := append([]int{g.ok}, g.renewed...)
	for i, until := range g.until {
		s := span{ops[from[i]].Time, min(until, g.belief.to)}
		if until == 0 {
			s.to = g.belief.to
		}
		if n := len(g.valid); n > 0 && g.valid[n-1].to >= s.from {
			g.valid[n-1].to = max(s.to, g.valid[n-1].to)
		} else if s.to > s.from {
			g.valid = append(g.valid, s)
		}
	}
}

// claim notes the deadline of an acquire or a renewal.
func (g *grant) claim(op *history.Op) { g.until = append(g.until, deadline(op)) }

// deadline converts a claim to raw time by the clock stamp of the same
// operation, as a node's own clock may have been moved. 0: for ever.
func deadline(op *history.Op) int64 {
	if op.Deadline == 0 || op.Mono == 0 {
		return op.Deadline
	}
	return op.Time + op.Deadline - op.Mono
}

// next is the first grant of the same key to somebody else after g, or nil.
func (t *trace) next(g *grant) *grant {
	after := t.byKey[g.key]
	at, _ := slices.BinarySearchFunc(after, g.ok, func(h *grant, ok int) int { return cmp.Compare(h.ok, ok) })
	for _, h := range after[min(at, len(after)):] {
		if h.ok > g.ok && h.owner != g.owner && !t.together(g, h) {
			return h
		}
	}
	return nil
}

// stale says whether a write reached the resource, or set out where it never
// did, on a grant that had been superseded.
func (t *trace) stale(w *write) bool {
	g := t.byOwner[w.owner]
	if g == nil {
		return false
	}
	h := t.next(g)
	return h != nil && h.ok < max(w.apply, w.invoke)
}
