package reports

import "github.com/dlmtest/dlmtest/history"

// together says whether the lock may be held by both grants at once, apart from how
// many permits there are. One that was held in both modes is given the benefit.
func (t *trace) together(g, h *grant) bool {
	switch t.setup.Kind {
	case history.Semaphore:
		return true
	case history.ReadWrite:
		return g.both || h.both || g.mode == history.Shared && h.mode == history.Shared
	}
	return false
}

// excess says whether g, which begins while open last, is too much beside h, one of them.
func (t *trace) excess(open []*grant, h, g *grant) bool {
	if t.setup.Kind != history.Semaphore {
		return !t.together(g, h)
	}
	sum := int(g.permits)
	for _, o := range open {
		sum += int(o.permits)
	}
	return sum > t.setup.Permits
}

// inner says whether a release that is asked for now is not the last of a reentrant
// lock. g may be nil.
func (g *grant) inner() bool { return g != nil && g.depth > 1 }

// as says how a grant of a lock that is no mutex is held: "as a reader".
func (t *trace) as(g *grant) string {
	switch {
	case t.setup.Kind == history.ReadWrite && g.mode == history.Shared:
		return " as a reader"
	case t.setup.Kind == history.ReadWrite:
		return " as the writer"
	case t.setup.Kind == history.Semaphore && g.permits > 1:
		return " for more than one permit"
	case t.setup.Kind == history.Semaphore:
		return " for one permit"
	}
	return ""
}

// tellLooks tells what a holder saw that writes nothing: the looks that are named.
func (s *teller) tellLooks(g *grant) {
	if !s.setup.Kind.Shares() || len(g.writes) > 0 {
		return
	}
	for _, i := range g.reads {
		if u := s.ops[i].Unfenced; u != nil && (s.named[i] || s.named[s.started[i]]) {
			s.addOp(i, g.node, StepRead, "sees %s.", value(u.Value))
		}
	}
}
