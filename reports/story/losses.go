package story

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports/say"
)

// loss is one update that a write replaced without having read it.
type loss struct {
	value            string
	unfenced, fenced bool
}

// losses are the updates that a write replaced without having read them. Its
// writer's own earlier write is nobody else's update.
func (t *Teller) losses(w *trace.Write) (all []loss) {
	if w.Apply < 0 {
		return nil
	}
	a, op := &t.Ops[w.Apply], &t.Ops[w.Invoke]
	lost := func(c, base *history.Copy) string {
		if c == nil || base == nil || !c.Accepted || c.Previous == base.Base {
			return ""
		}
		if by := t.WriteOf(c.Previous); by != nil && t.Ops[by.Invoke].Owner == op.Owner {
			return ""
		}
		return c.Previous
	}
	u, f := lost(a.Unfenced, op.Unfenced), lost(a.Fenced, op.Fenced)
	if u != "" {
		all = append(all, loss{u, true, f == u})
	}
	if f != "" && f != u {
		all = append(all, loss{f, false, true})
	}
	return all
}

// lossy is the writes with losses. Every story asks, and a page tells many stories.
func (t *Teller) lossy() []*trace.Write {
	if !t.sought {
		t.sought = true
		for _, w := range t.Recorded() {
			if len(t.losses(w)) > 0 {
				t.losing = append(t.losing, w)
			}
		}
	}
	return t.losing
}

// tellLoss tells of the updates that a write replaced without having read them.
func (s *telling) tellLoss(w *trace.Write) {
	for _, l := range s.losses(w) {
		where := "the unfenced copy; the fenced copy keeps it"
		switch {
		case l.unfenced && (s.Ops[w.Apply].Fenced == nil || !s.Setup.Promise.Token): // without a token nothing can be fenced
			where = "the unfenced copy"
		case l.unfenced && l.fenced:
			where = "both copies, in spite of fencing"
		case l.fenced:
			where = "the fenced copy"
		}
		of := ""
		if by := s.WriteOf(l.value); by != nil {
			if f := s.fencedOf(by); l.unfenced && !l.fenced && f != nil && !f.Accepted {
				where = "the unfenced copy; the fenced copy had refused it"
			}
			of = " of " + s.Ops[by.Invoke].Node
			s.tellVictim(by)
		}
		s.addOp(w.Apply, "resource", StepLoss, "The update %s%s is lost in %s.", l.value, of, where)
	}
}

// fencedOf is what the fenced copy made of a write; nil: the resource has not logged it.
func (s *telling) fencedOf(w *trace.Write) *history.Copy {
	if w.Apply < 0 {
		return nil
	}
	return s.Ops[w.Apply].Fenced
}

// tellVictim tells of the write that is about to be lost, and of its grant, where
// that is not one of those told of anyway.
func (s *telling) tellVictim(w *trace.Write) {
	if g := w.Grant; g != nil && w.Apply >= 0 && !slices.Contains(s.grants, g) {
		a := &s.Ops[w.Apply]
		s.tellAcquire(g)
		lead := "writes " + say.Value(a.Value) + s.rightfully(g, a.Time) + "."
		s.addOp(w.Apply, g.Node, StepWrite, "%s %s", lead, decided(a, s.Setup.Promise.Token)).Brief = lead
	}
}

// rightfully says that g was held by right at an instant; else nothing.
func (s *telling) rightfully(g *trace.Grant, at int64) string {
	_, valid := s.ValidAt(g, at)
	if s.replaced(g, at) != nil || at < g.OK || at > g.Until || s.Setup.Promise.Leased && !valid {
		return ""
	}
	return " as the rightful holder"
}

// follow prolongs the story to the first lost update in which its grants had a
// part: what a late write breaks may show only when the next holder writes.
func (s *telling) follow() {
	if len(s.grants) < 2 {
		return
	}
	var first, victim *trace.Write
	for _, w := range s.lossy() {
		if s.Ops[w.Apply].Time < s.window.From || first != nil && w.Apply >= first.Apply {
			continue
		}
		for _, l := range s.losses(w) {
			if v := s.WriteOf(l.value); s.ours(w) || s.ours(v) {
				first, victim = w, v
				break
			}
		}
	}
	if first == nil || s.Ops[first.Apply].Time <= s.window.To {
		return
	}
	s.window.To = s.Ops[first.Apply].Time
	s.named[first.Invoke] = true
	if victim != nil {
		s.named[victim.Invoke] = true
	}
	if g := first.Grant; g != nil && !s.ours(first) {
		s.grants = append(s.grants, g)
	}
}

// ours says whether a write was made on a grant of the story.
func (s *telling) ours(w *trace.Write) bool {
	return w != nil && w.Grant != nil && slices.Contains(s.grants, w.Grant)
}
