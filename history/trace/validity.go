package trace

import (
	"cmp"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// Validity appends the validity intervals of g: its belief cut at the deadline
// as it stands at each moment, not while its session is suspended, and not after
// its holder was told of its loss, even if it did not look and believed on. The death
// of the holder cuts no lease: nobody has given it back, and requests of the dead
// may be under way. Nor does the end of a client that did not give it back, unless its
// session ends with it. It says false when a deadline cannot be converted to the judge's time.
func (t *Trace) Validity(spans []Span, g *Grant, owner int) ([]Span, bool) {
	return t.validity(spans, g, owner, func(deadline int64, _ int) (int64, bool) { return t.DeadlineAt(g, deadline) })
}

// ValidityBounds appends the intervals of Validity of a grant whose node's clock was bent: to least those in which the lease
// was certainly valid, to most those in which it may have been. It says false where nothing is known of that clock, or where it went back.
func (t *Trace) ValidityBounds(least, most []Span, g *Grant, owner int) (atLeast, atMost []Span, ok bool) {
	own := t.readings(g.Node)
	if own == nil {
		return least, most, false
	}
	lease := int64(0)
	least, _ = t.validity(least, g, owner, func(deadline int64, op int) (int64, bool) {
		if t.Ops[op].Type != history.Note {
			lease = t.leaseEnd(g, op)
		}
		if deadline == 0 {
			return Forever, true
		}
		return min(own.before(deadline-ClockNoise), lease-ClockNoise), true
	})
	most, _ = t.validity(most, g, owner, func(deadline int64, _ int) (int64, bool) {
		if deadline == 0 {
			return Forever, true
		}
		return own.since(deadline), true
	})
	return least, most, true
}

// ClaimBounds are a time before which a claim on g that an answer made had certainly not ended, and one by which it certainly
// had: both by the clock of its node, which was bent, and by the lease from the request on. ok is as of ValidityBounds.
func (t *Trace) ClaimBounds(g *Grant, op int) (earliest, latest int64, ok bool) {
	own, lease := t.readings(g.Node), t.leaseEnd(g, op)
	if own == nil || t.Ops[op].Deadline == 0 {
		return 0, 0, false
	}
	deadline := t.Ops[op].Deadline
	return min(own.before(deadline-ClockNoise), lease-ClockNoise), max(own.since(deadline), lease), true
}

// leaseEnd is when the lease of an answer to the holder of g ends, from its request on.
func (t *Trace) leaseEnd(g *Grant, op int) int64 {
	return t.sentBy(g, op) + t.LeaseOf(&t.Ops[op])
}

// sentBy is when the request of an answer to the holder of g was sent at the earliest.
func (t *Trace) sentBy(g *Grant, op int) int64 {
	if sent := t.Ops[op].Sent; sent != 0 || op == g.Op {
		return cmp.Or(sent, g.Sent)
	}
	invoke, _ := t.Started(op)
	return t.Ops[max(invoke, 0)].Time
}

// validity is Validity, by what is known of the deadlines that operations told.
func (t *Trace) validity(spans []Span, g *Grant, owner int, at func(deadline int64, op int) (int64, bool)) ([]Span, bool) {
	current := Span{From: g.OK, Owner: owner}
	var known bool
	if current.To, known = at(t.Ops[g.Op].Deadline, g.Op); !known {
		return spans, false
	}
	end := min(t.GaveUp(g), g.Told)
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
			if current.To, known = at(c.Deadline, c.By); !known {
				return spans, false
			}
		}
	}
	push(current.To)
	return spans, true
}

// GaveUp is when the belief of g ended, for what the service can know of it: who did not write, by a check of its own, has its lease
// until it is given back, or its client is told of its loss.
func (t *Trace) GaveUp(g *Grant) int64 {
	if !g.Abstains || t.Setup.Promise.Session || g.Nest.Open > 0 {
		return g.End
	}
	end := int64(Forever)
	if g.Release >= 0 {
		end = t.Ops[g.Release].Time
	}
	if i, told := slices.BinarySearch(t.lostAt[g.Node], g.End); told || i < len(t.lostAt[g.Node]) {
		end = min(end, t.lostAt[g.Node][i])
	}
	return end
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
// first, without late ones to earlier requests.
func (t *Trace) Renewed(g *Grant) []int {
	all := []int{g.Op}
	for _, c := range g.Claims {
		if t.Ops[c.Op].Type == history.OK && c.By == c.Op {
			all = append(all, c.Op)
		}
	}
	return all
}

// Leased are the times in which the lease of g was valid, until the end of the history:
// those of OwedValidity, or where a deadline cannot be converted what the answers claimed
// while g was believed in.
func (t *Trace) Leased(g *Grant) []Span {
	spans, known := t.OwedValidity(nil, g, 0)
	if spans = Union(spans); !known {
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
