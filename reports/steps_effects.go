package reports

import (
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// effect is what one client did in the world: its steps, -1 where there is none.
type effect struct {
	invoke, note, done int
}

// tellEffects tells what was done in the world under one grant: all of a little, else
// what the violation names.
func (s *teller) tellEffects(g *grant) {
	all := slices.DeleteFunc(slices.Clone(g.effects), func(e *effect) bool { return s.ops[e.invoke].Time > s.window.to })
	if len(all) > 3 {
		all = slices.DeleteFunc(all, func(e *effect) bool { return !s.named[e.invoke] && !s.named[e.note] && !s.named[e.done] })
	}
	for _, e := range all {
		s.tellEffect(g, e)
	}
}

func (s *teller) tellEffect(g *grant, e *effect) {
	if e.note < 0 {
		s.addOp(e.invoke, g.node, StepWrite, "asks for an effect; the resource never saw it in this run.")
		return
	}
	op := &s.ops[e.note]
	kind, lead := StepWrite, ""
	if h := s.next(g); h != nil && h.ok < e.note {
		kind, lead = StepZombie, fmt.Sprintf("is a zombie (%q was granted to %s at %s) and asks: ", g.key, h.node, seconds(s.ops[h.ok].Time-s.startTime()))
	}
	s.addOp(e.note, g.node, kind, "%s%s", lead, effectWords(op))
}

// effectWords says what was done in each world.
func effectWords(op *history.Op) string {
	u, f := worldWords(op.Unfenced), worldWords(op.Fenced)
	switch {
	case op.Unfenced == nil || op.Fenced == nil:
		return "an effect of which nothing is known."
	case u == f:
		return u + " in both worlds."
	}
	return u + " without a fence; " + f + " with one."
}

func worldWords(c *history.Copy) string {
	switch {
	case c == nil || c.Value == "":
		return "nothing"
	case c.Accepted:
		return c.Value + ", done"
	case c.Previous != "":
		return fmt.Sprintf("%s, not again (%s did it)", c.Value, c.Previous)
	}
	return fmt.Sprintf("%s, refused by its token (%d has been seen)", c.Value, c.Token)
}

// asked begins an effect.
func (t *trace) asked(i int, op *history.Op) {
	e := &effect{invoke: i, note: -1, done: -1}
	t.effects[op.Value] = e
	if g := t.byOwner[op.Owner]; g != nil {
		g.effects = append(g.effects, e)
	}
}

// covers marks what stands for an effect that was told.
func (s *teller) covers(covered map[int]bool, i int) {
	if e := s.effects[s.ops[i].Value]; e != nil && i == e.note {
		covered[e.invoke], covered[e.done] = true, true
	}
}
