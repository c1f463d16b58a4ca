package story

import (
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// tellEffects tells what was done in the world under one grant: all of a little, else
// what the violation names.
func (s *telling) tellEffects(g *trace.Grant) {
	all := slices.DeleteFunc(slices.Clone(g.Effects), func(e *trace.Effect) bool { return s.Ops[e.Invoke].Time > s.window.To })
	if len(all) > 3 {
		all = slices.DeleteFunc(all, func(e *trace.Effect) bool { return !s.named[e.Invoke] && !s.named[e.Note] && !s.named[e.Done] })
	}
	for _, e := range all {
		s.tellEffect(g, e)
	}
}

func (s *telling) tellEffect(g *trace.Grant, e *trace.Effect) {
	if e.Note < 0 {
		s.addOp(e.Invoke, g.Node, StepWrite, "asks for an effect; the resource never saw it in this run.")
		return
	}
	op := &s.Ops[e.Note]
	kind, lead := StepWrite, "asks: "
	if h := s.replaced(g, op.Time); h != nil && h.Op < e.Note {
		kind, lead = StepZombie, s.late(g, h, op.Time)+" and asks: "
	}
	s.addOp(e.Note, g.Node, kind, "%s%s", lead, effectWords(op, s.Setup.Promise.Token))
}

// effectWords says what was done in each world; without tokens there is no fence, and both are one.
func effectWords(op *history.Op, token bool) string {
	u, f := worldWords(op.Unfenced), worldWords(op.Fenced)
	switch {
	case op.Unfenced == nil || op.Fenced == nil:
		return "an effect of which nothing is known."
	case u == f && !token:
		return u + "."
	case u == f:
		return u + " with the fence and without."
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

// covers marks what stands for an effect that was told.
func (s *telling) covers(covered map[int]bool, i int) {
	if e := s.ByEffect[s.Ops[i].Value]; e != nil && i == e.Note {
		covered[e.Invoke], covered[e.Done] = true, true
	}
}
