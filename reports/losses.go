package reports

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// loss is one update that a write replaced without having read it.
type loss struct {
	value            string
	unfenced, fenced bool
}

// losses are the updates that a write replaced without having read them. Its
// writer's own earlier write is nobody else's update.
func (t *view) losses(w *trace.Write) (all []loss) {
	if w.Apply < 0 {
		return nil
	}
	a, op := &t.Ops[w.Apply], &t.Ops[w.Invoke]
	lost := func(c, base *history.Copy) string {
		if c == nil || base == nil || !c.Accepted || c.Previous == base.Base {
			return ""
		}
		if by := t.write(c.Previous); by != nil && t.Ops[by.Invoke].Owner == op.Owner {
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
func (t *view) lossy() []*trace.Write {
	if !t.sought {
		t.sought = true
		for _, w := range t.writes() {
			if len(t.losses(w)) > 0 {
				t.losing = append(t.losing, w)
			}
		}
	}
	return t.losing
}

// tellLoss tells of the updates that a write replaced without having read them.
func (s *teller) tellLoss(w *trace.Write) {
	for _, l := range s.losses(w) {
		where := "the unfenced copy; the fenced copy keeps it"
		switch {
		case l.unfenced && l.fenced && s.Setup.Promise.Token:
			where = "both copies, in spite of fencing"
		case l.unfenced && l.fenced:
			where = "both copies"
		case l.fenced:
			where = "the fenced copy"
		case s.Ops[w.Apply].Fenced == nil:
			where = "the unfenced copy"
		}
		of := ""
		if by := s.write(l.value); by != nil {
			of = " of " + s.Ops[by.Invoke].Node
			s.tellVictim(by)
		}
		s.addOp(w.Apply, "resource", StepLoss, "The update %s%s is lost in %s.", l.value, of, where)
	}
}

// tellVictim tells of the write that is about to be lost, and of its grant, where
// that is not one of those told of anyway.
func (s *teller) tellVictim(w *trace.Write) {
	if g := w.Grant; g != nil && w.Apply >= 0 && !slices.Contains(s.grants, g) {
		a := &s.Ops[w.Apply]
		s.tellAcquire(g)
		s.addOp(w.Apply, g.Node, StepWrite, "writes %s as the rightful holder. %s", value(a.Value), decided(a)).brief =
			"writes " + value(a.Value) + " as the rightful holder."
	}
}

// follow prolongs the story to the first lost update in which its grants had a
// part: what a late write breaks may show only when the rightful holder writes.
func (s *teller) follow() {
	if len(s.grants) < 2 {
		return
	}
	var first, victim *trace.Write
	for _, w := range s.lossy() {
		if s.Ops[w.Apply].Time < s.window.from || first != nil && w.Apply >= first.Apply {
			continue
		}
		for _, l := range s.losses(w) {
			if v := s.write(l.value); s.ours(w) || s.ours(v) {
				first, victim = w, v
				break
			}
		}
	}
	if first == nil || s.Ops[first.Apply].Time <= s.window.to {
		return
	}
	s.window.to = s.Ops[first.Apply].Time
	s.named[first.Invoke] = true
	if victim != nil {
		s.named[victim.Invoke] = true
	}
	if g := first.Grant; g != nil && !s.ours(first) {
		s.grants = append(s.grants, g)
	}
}

// ours says whether a write was made on a grant of the story.
func (s *teller) ours(w *trace.Write) bool {
	return w != nil && w.Grant != nil && slices.Contains(s.grants, w.Grant)
}
