package trace

import "github.com/dlmtest/dlmtest/history"

// Validity appends the validity intervals of g: its belief cut at the deadline
// as it stands at each moment, not while its session is suspended, and not after
// its holder was told of its loss, even if it did not look and believed on. The death
// of the holder cuts no lease: nobody has given it back, and requests of the dead
// may be under way. Nor does the end of a client that did not give it back, unless its
// session ends with it. It says false when a deadline cannot be converted to the judge's time.
func (t *Trace) Validity(spans []Span, g *Grant, owner int) ([]Span, bool) {
	current := Span{From: g.OK, Owner: owner}
	var known bool
	if current.To, known = t.DeadlineAt(g, t.Ops[g.Op].Deadline); !known {
		return spans, false
	}
	end := min(g.End, g.Told)
	switch unsure := g.Nest.Open > 0; {
	case g.Left && unsure:
		end = min(end, max(g.LastSeen, t.Ops[t.Stops[g.Node]].Time))
	case (g.Killed || g.Left && !t.Setup.Promise.Session) && t.Deadline(g) != 0:
		end = Forever
	}
	push := func(to int64) {
		if to = min(to, end); to > current.From {
			spans = append(spans, Span{current.From, to, owner})
		}
	}
	for _, c := range g.Claims {
		push(min(current.To, c.At))
		current.From, current.To = c.At, c.At
		if !c.Cut {
			if current.To, known = t.DeadlineAt(g, c.Deadline); !known {
				return spans, false
			}
		}
	}
	push(current.To)
	return spans, true
}

// DeadlineAt converts a deadline and takes off what the clocks leave open.
func (t *Trace) DeadlineAt(g *Grant, deadline int64) (int64, bool) {
	if deadline == 0 {
		return Forever, true
	}
	to, known := t.Raw(g.Node, deadline)
	return to - ClockNoise, known
}

// Until is the deadline that an answer claims, in raw time; 0: for ever. Where the node's
// clock cannot be settled it is what that clock said at this answer.
func (t *Trace) Until(op *history.Op) int64 {
	raw, known := t.Raw(op.Node, op.Deadline)
	switch {
	case known, op.Deadline == 0:
		return raw
	case op.Mono == 0:
		return op.Deadline
	}
	return op.Time + op.Deadline - op.Mono
}

// Renewed are the answers that told g that it holds its lock until a deadline, the acquire
// first.
func (t *Trace) Renewed(g *Grant) []int {
	all := []int{g.Op}
	for _, c := range g.Claims {
		if t.Ops[c.Op].Type == history.OK {
			all = append(all, c.Op)
		}
	}
	return all
}

// Leased are the times in which the lease of g was valid, until the end of the history:
// those of Validity, or where a deadline cannot be converted what the answers claimed
// while g was believed in.
func (t *Trace) Leased(g *Grant) []Span {
	spans, known := t.validSpans(g)
	if !known {
		spans = nil
		answers := t.Renewed(g)
		for i, op := range answers {
			s := Span{From: t.Ops[op].Time, To: g.Until}
			if until := t.Until(&t.Ops[op]); until != 0 {
				s.To = min(s.To, until)
			}
			if i+1 < len(answers) {
				s.To = min(s.To, t.Ops[answers[i+1]].Time)
			}
			if s.To > s.From {
				spans = Append(spans, s.From, s.To)
			}
		}
	}
	last := max(t.End, g.OK)
	shown := make([]Span, 0, len(spans))
	for _, s := range spans {
		if s.To = min(s.To, last); s.To >= s.From { // one that begins with the last operation is an instant
			shown = append(shown, s)
		}
	}
	return shown
}
