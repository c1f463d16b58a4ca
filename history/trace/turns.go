package trace

import (
	"sort"

	"github.com/dlmtest/dlmtest/history"
)

// Turn is a change of the mode in which a grant is held.
type Turn struct {
	At   int64
	Mode history.Mode
}

// ModeOf is the mode of an operation; none says that it is exclusive.
func ModeOf(op *history.Op) history.Mode {
	if op.Mode == history.Shared {
		return history.Shared
	}
	return history.Exclusive
}

// modeOf is the mode of a grant; an answer that says none grants what was asked for.
func modeOf(ok, invoke *history.Op) history.Mode {
	if ok.Mode == "" {
		return ModeOf(invoke)
	}
	return ModeOf(ok)
}

// shareInvoked takes a read or a change of a kind that shares. To look at the resource is
// to act on a grant there, and a writer that asks to be a reader is none from then on.
func (t *Trace) shareInvoked(i int, op *history.Op, g *Grant) {
	switch {
	case g == nil || !t.Setup.Kind.Shares():
	case op.F == history.Read:
		t.acted(g, i, op, op.Time)
	case op.Mode == history.Shared:
		g.turn(op.Time, history.Shared)
	}
}

// turn changes the mode in which g is held, if that is another.
func (g *Grant) turn(at int64, mode history.Mode) {
	now := g.Mode
	if n := len(g.Turns); n > 0 {
		now = g.Turns[n-1].Mode
	}
	if now != mode {
		g.Turns = append(g.Turns, Turn{at, mode})
	}
}

// changed takes the end of a change. A reader is the writer once it was told so; a
// writer that could not become a reader is the writer again.
func (t *Trace) changed(i int, op *history.Op, p pending) {
	g, wanted := p.grant, t.Ops[p.invoke-1].Mode
	if g == nil {
		return
	}
	switch {
	case op.Type == history.OK:
		if wanted == history.Exclusive {
			g.turn(op.Time, wanted)
		}
		g.Claims = append(g.Claims, Claim{At: op.Time, Deadline: op.Deadline, Op: i})
		t.Successes = append(t.Successes, Success{g, p.invoke - 1, i})
	case op.Type == history.Fail && len(g.Turns) > 0 && g.Turns[len(g.Turns)-1].At == t.Ops[p.invoke-1].Time:
		g.turn(op.Time, history.Exclusive)
	}
}

// Share is a time in which a grant is held in one way.
type Share struct {
	From, To  int64
	Grant     *Grant
	Exclusive bool
	Permits   int
}

// Shares cuts a time in which g is held by its modes.
func (g *Grant) Shares(to []Share, from, until int64) []Share {
	s := Share{From: from, Grant: g, Exclusive: g.Mode == history.Exclusive, Permits: g.Permits}
	i := sort.Search(len(g.Turns), func(i int) bool { return g.Turns[i].At > from })
	if i > 0 {
		s.Exclusive = g.Turns[i-1].Mode == history.Exclusive
	}
	for ; i < len(g.Turns) && g.Turns[i].At < until; i++ {
		if s.To = g.Turns[i].At; s.To > s.From {
			to = append(to, s)
		}
		s.From, s.Exclusive = s.To, g.Turns[i].Mode == history.Exclusive
	}
	if s.To = until; s.From < s.To {
		to = append(to, s)
	}
	return to
}
