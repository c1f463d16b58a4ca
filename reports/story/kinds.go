package story

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports/say"
)

// as says how a grant of a lock that is no mutex is held: "as a reader".
func (t *Teller) as(g *trace.Grant) string {
	switch {
	case t.Setup.Kind == history.ReadWrite:
		return t.askedAs(g.Mode)
	case t.Setup.Kind == history.Semaphore && g.Permits > 1:
		return " for more than one permit"
	case t.Setup.Kind == history.Semaphore:
		return " for one permit"
	}
	return ""
}

// askedAs says how a read-write lock is asked for, or held: "as a reader"; of others nothing.
func (t *Teller) askedAs(mode history.Mode) string {
	switch {
	case t.Setup.Kind != history.ReadWrite:
		return ""
	case mode == history.Shared:
		return " as a reader"
	}
	return " as the writer"
}

// apart says whether the lock must not give g and the later h together, as g was held when h was granted.
func (t *Teller) apart(g, h *trace.Grant) bool {
	if t.Setup.Kind != history.ReadWrite {
		return true
	}
	mode := g.Mode
	for _, turn := range g.Turns {
		if turn.At <= h.OK {
			mode = turn.Mode
		}
	}
	return mode != history.Shared || h.Mode != history.Shared
}

// replaced is the grant by which g was no longer its holder's at an instant: of a read-write lock, one that must not be beside it, of
// this story before another, and one that lasts still before one that is over. Nil: there is none.
func (s *telling) replaced(g *trace.Grant, at int64) (by *trace.Grant) {
	if s.Setup.Kind != history.ReadWrite {
		if h := s.Superseder(g); h != nil && h.OK <= at {
			return h
		}
		return nil
	}
	best := -1
	for _, h := range g.Key.Grants {
		if h == g || h.OK > at || !trace.Surely(g, h) || !s.apart(g, h) {
			continue
		}
		rank := 0
		if slices.Contains(s.grants, h) {
			rank += 2
		}
		if h.Until >= at {
			rank++
		}
		if rank > best {
			by, best = h, rank
		}
	}
	return by
}

// tellLooks tells what a holder saw that writes nothing: the looks that are named.
func (s *telling) tellLooks(g *trace.Grant) {
	if !s.Setup.Kind.Shares() || len(g.Writes) > 0 {
		return
	}
	for _, i := range g.Reads {
		from, _ := s.Started(i)
		if u := s.Ops[i].Unfenced; u != nil && (s.named[i] || s.named[from]) {
			s.addOp(i, g.Node, StepRead, "sees %s.", say.Value(u.Value))
		}
	}
}
