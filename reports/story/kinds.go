package story

import (
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
