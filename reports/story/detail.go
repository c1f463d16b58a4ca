package story

import (
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports/say"
)

// State is what one copy of the guarded resource was before and after a step.
type State struct {
	What   string `json:"what"` // accepted, refused or read
	Before string `json:"before"`
	After  string `json:"after"`
	Text   string `json:"-"` // the same in words
}

// onGrant are the kinds of steps at which a client acts on its grant, or learns of it.
var onGrant = []Kind{StepGrant, StepRead, StepRenew, StepWrite, StepZombie, StepEnd, StepRelease, StepTold}

// detail adds to a step what the history has of it beside its sentence: the token and
// what was left of the lease, the fault in force, and the copies before and after.
func (s *telling) detail(x *told) {
	if !slices.Contains(onGrant, x.Kind) {
		return
	}
	if x.g == nil && x.Op >= 0 {
		x.g = s.ByOwner[s.Ops[x.Op].Owner]
	}
	if x.g != nil {
		x.Token, x.Left = x.g.Token, s.left(x.g, x.at)
		if f := s.faultAt(x.g.Node, x.at); f != nil && f.Begin >= 0 {
			x.Fault = f.Kind
		}
	}
	if x.Op < 0 {
		return
	}
	switch op := &s.Ops[x.Op]; {
	case op.F == history.Apply:
		x.Unfenced, x.Fenced = decision(op, op.Unfenced), decision(op, op.Fenced)
	case op.F == history.Read && op.Type == history.OK:
		x.Unfenced, x.Fenced = seen(op.Unfenced), seen(op.Fenced)
	}
}

// left is the time to the deadline that a holder claims at an instant; nil where it
// claims none.
func (t *Teller) left(g *trace.Grant, at int64) *time.Duration {
	until := int64(0)
	for _, i := range t.Renewed(g) {
		if t.Ops[i].Time <= at {
			until = t.Until(&t.Ops[i])
		}
	}
	if until == 0 {
		return nil
	}
	d := time.Duration(until - at)
	return &d
}

func decision(op *history.Op, c *history.Copy) *State {
	switch {
	case c == nil:
		return nil
	case c.Accepted:
		return &State{"accepted", c.Previous, op.Value, copyWords(op, c)}
	}
	return &State{"refused", c.Previous, c.Previous, copyWords(op, c)}
}

func seen(c *history.Copy) *State {
	if c == nil {
		return nil
	}
	return &State{"read", c.Value, c.Value, "read: " + say.Value(c.Value)}
}
