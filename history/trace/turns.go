package trace

import (
	"sort"

	"github.com/dlmtest/dlmtest/history"
)

// Turn is a change of the mode in which a grant is held, or of its permits, of which a part is given back.
type Turn struct {
	At      int64
	Mode    history.Mode
	Permits int // that are left from then on; 0: of a lock without
	Done    int // the ok to the release of a part, -1 where there is none
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
		g.Turns = append(g.Turns, Turn{At: at, Mode: mode, Done: -1})
	}
}

// changed takes the end of a change. A reader is the writer once it was told so; a
// writer that could not become a reader is the writer again, and so is one that was told so.
func (t *Trace) changed(i int, op *history.Op, p pending) {
	g, invoke := p.grant, &t.Ops[p.invoke-1]
	if g == nil {
		return
	}
	switch {
	case op.Type == history.Info:
		g.maybeWriter = g.maybeWriter || invoke.Mode != history.Shared
	case op.Type == history.OK:
		if now := modeOf(op, invoke); now == history.Exclusive || now != invoke.Mode {
			g.turn(op.Time, now)
		}
		t.claims(g, i, op)
		t.Successes = append(t.Successes, Success{g, p.invoke - 1, i})
	case op.Type == history.Fail && len(g.Turns) > 0 && g.Turns[len(g.Turns)-1].At == invoke.Time:
		g.turn(op.Time, history.Exclusive)
	}
}

// renewedAs takes what a renewal tells of the mode of g: who is told that it is the writer, once a change to that had no known
// outcome, is. What repeats the request tells nothing.
func (g *Grant) renewedAs(asked, told *history.Op) {
	if g.maybeWriter && told.Mode == history.Exclusive && asked.Mode != history.Exclusive {
		g.turn(told.Time, history.Exclusive)
	}
}

// Least is how many permits g has, without those that it has given back or may have.
func (g *Grant) Least() int {
	if n := len(g.Turns); n > 0 && g.Turns[n-1].Permits > 0 {
		return g.Turns[n-1].Permits
	}
	return g.Permits
}

// LeftBy is how many permits g had left when an operation was invoked, at the most: without those that it had been told to have given back.
func (t *Trace) LeftBy(g *Grant, invoke int) int {
	left := g.Permits
	for _, done := range g.Parted(invoke) {
		left -= int(t.Ops[t.pairs[done]-1].Permits)
	}
	return left
}

// Parted are the ok answers to releases of parts of g from before an operation.
func (g *Grant) Parted(by int) (oks []int) {
	for _, turn := range g.Turns {
		if turn.Done >= 0 && turn.Done < by {
			oks = append(oks, turn.Done)
		}
	}
	return oks
}

// KeepsSome says that g may have some permits left at an operation behind its last release: that asked to give back fewer than g
// had been told to have, as the release of a part before it had no known outcome.
func (t *Trace) KeepsSome(g *Grant, by int) bool {
	if t.Setup.Kind != history.Semaphore || g.Released < 0 {
		return false
	}
	given := int(t.Ops[t.pairs[g.Released]-1].Permits)
	return given > 0 && given < t.LeftBy(g, by)
}

// Overdrawn says that a release asked to give back more permits than g can be sure to have left: that it is refused does not say
// that g has none.
func (t *Trace) Overdrawn(g *Grant, invoke int) bool {
	_, part := g.parts[invoke]
	op := &t.Ops[invoke]
	return t.Setup.Kind == history.Semaphore && op.F == history.Release && !part && int(op.Permits) > g.Least()
}

// part says whether a release invoked by i gives back a part of the permits of g, and files it.
func (t *Trace) part(i int, op *history.Op, g *Grant) bool {
	left := g.Least() - int(op.Permits)
	if t.Setup.Kind != history.Semaphore || g.Release >= 0 || op.Permits <= 0 || left <= 0 {
		return false
	}
	if g.parts == nil {
		g.parts = map[int]int{}
	}
	g.parts[i] = len(g.Turns)
	g.Turns = append(g.Turns, Turn{At: op.Time, Mode: g.Mode, Permits: left, Done: -1})
	return true
}

// parted takes the end of the release of a part, and says whether it was one.
func (t *Trace) parted(i int, op *history.Op, g *Grant, invoke int) bool {
	turn, is := g.parts[invoke]
	switch {
	case !is:
	case op.Type == history.OK:
		g.Turns[turn].Done = i
		t.acted(g, i, op, t.Ops[invoke].Time) // it was told that it holds them still
		t.Successes = append(t.Successes, Success{g, invoke, i})
	case op.Type == history.Fail:
		t.lost(g, i, op)
	}
	return is
}

// Taken are the shares of g in a time, as long as it is not answered that a part was given back.
func (t *Trace) Taken(to []Share, g *Grant, from, until int64) []Share {
	s := Share{From: from, To: until, Grant: g, Exclusive: g.Mode != history.Shared, Permits: g.Permits}
	for _, turn := range g.Turns {
		if turn.Done < 0 || t.Ops[turn.Done].Time <= s.From || t.Ops[turn.Done].Time >= until {
			continue
		}
		s.To = t.Ops[turn.Done].Time
		to = append(to, s)
		s.From, s.To = s.To, until
		s.Permits -= int(t.Ops[t.pairs[turn.Done]-1].Permits)
	}
	return append(to, s)
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
		s.turn(g.Turns[i-1])
	}
	for ; i < len(g.Turns) && g.Turns[i].At < until; i++ {
		if s.To = g.Turns[i].At; s.To > s.From {
			to = append(to, s)
		}
		s.From = s.To
		s.turn(g.Turns[i])
	}
	if s.To = until; s.From < s.To {
		to = append(to, s)
	}
	return to
}

// turn is what a turn makes of a share.
func (s *Share) turn(to Turn) {
	s.Exclusive = to.Mode == history.Exclusive
	if to.Permits > 0 {
		s.Permits = to.Permits
	}
}
