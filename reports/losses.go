package reports

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// loss is one update that a write replaced without having read it.
type loss struct {
	value            string
	unfenced, fenced bool
}

// losses are the updates that a write replaced without having read them. Its
// writer's own earlier write is nobody else's update.
func (t *trace) losses(w *write) (all []loss) {
	if w.apply < 0 {
		return nil
	}
	a, op := &t.ops[w.apply], &t.ops[w.invoke]
	lost := func(c, base *history.Copy) string {
		if c == nil || base == nil || !c.Accepted || c.Previous == base.Base {
			return ""
		}
		if by := t.byValue[c.Previous]; by != nil && by.owner == w.owner {
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
func (t *trace) lossy() []*write {
	if !t.sought {
		t.sought = true
		for _, w := range t.writes {
			if len(t.losses(w)) > 0 {
				t.losing = append(t.losing, w)
			}
		}
	}
	return t.losing
}

// tellLoss tells of the updates that a write replaced without having read them.
func (s *teller) tellLoss(w *write) {
	for _, l := range s.losses(w) {
		where := "the unfenced copy; the fenced copy keeps it"
		switch {
		case l.unfenced && l.fenced && s.setup.Promise.Token:
			where = "both copies, in spite of fencing"
		case l.unfenced && l.fenced:
			where = "both copies"
		case l.fenced:
			where = "the fenced copy"
		case s.ops[w.apply].Fenced == nil:
			where = "the unfenced copy"
		}
		of := ""
		if by := s.byValue[l.value]; by != nil {
			of = " of " + s.ops[by.invoke].Node
			s.tellVictim(by)
		}
		s.addOp(w.apply, "resource", StepLoss, "The update %s%s is lost in %s.", l.value, of, where)
	}
}

// tellVictim tells of the write that is about to be lost, and of its grant, where
// that is not one of those told of anyway.
func (s *teller) tellVictim(w *write) {
	if g := s.byOwner[w.owner]; g != nil && w.apply >= 0 && !slices.Contains(s.grants, g) {
		a := &s.ops[w.apply]
		s.tellAcquire(g)
		s.addOp(w.apply, g.node, StepWrite, "writes %s as the rightful holder. %s", value(a.Value), decided(a)).brief =
			"writes " + value(a.Value) + " as the rightful holder."
	}
}

// follow prolongs the story to the first lost update in which its grants had a
// part: what a late write breaks may show only when the rightful holder writes.
func (s *teller) follow() {
	if len(s.grants) < 2 {
		return
	}
	var first, victim *write
	for _, w := range s.lossy() {
		if s.ops[w.apply].Time < s.window.from || first != nil && w.apply >= first.apply {
			continue
		}
		for _, l := range s.losses(w) {
			if v := s.byValue[l.value]; s.ours(w) || s.ours(v) {
				first, victim = w, v
				break
			}
		}
	}
	if first == nil || s.ops[first.apply].Time <= s.window.to {
		return
	}
	s.window.to = s.ops[first.apply].Time
	s.named[first.invoke] = true
	if victim != nil {
		s.named[victim.invoke] = true
	}
	if g := s.byOwner[first.owner]; g != nil && !s.ours(first) {
		s.grants = append(s.grants, g)
	}
}

// ours says whether a write was made on a grant of the story.
func (s *teller) ours(w *write) bool {
	return w != nil && slices.Contains(s.grants, s.byOwner[w.owner])
}
