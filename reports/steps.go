package reports

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// tellGrant tells what was done under one grant, up to the end of the window.
func (s *teller) tellGrant(g *grant) {
	s.tellAcquire(g)
	s.tellLease(g)
	s.tellLooks(g)
	writes := s.telling(g)
	for _, w := range writes {
		s.tellRead(g, w)
		s.tellWrite(g, w)
	}
	s.tellEffects(g)
	for _, i := range g.events {
		s.tellEvent(g, i)
	}
}

// tellAcquire tells of a grant, and how long it is good for.
func (s *teller) tellAcquire(g *grant) {
	op := &s.ops[g.ok]
	token := ""
	if g.token != 0 {
		token = fmt.Sprintf(" with token %d", g.token)
	} else if g == s.grants[0] && !s.setup.Promise.Token {
		token = " (this lock gives no token)"
	}
	claim := "; it claims no deadline"
	switch {
	case g.until[0] != 0:
		claim = "; its lease is good for " + length(time.Duration(g.until[0]-op.Time))
	case !s.setup.Promise.Leased:
		claim = "; this lock has no lease"
	}
	s.addOp(g.ok, g.node, StepGrant, "acquires %q%s%s%s.", g.key, s.as(g), token, claim)
}

// tellLease tells the last renewal and the end of the lease, where the holder
// outlived it.
func (s *teller) tellLease(g *grant) {
	until, from, times := g.until[0], -1, 0
	for i, at := range g.renewed {
		if s.window.holds(s.ops[at].Time) {
			until, from, times = g.until[i+1], at, times+1
		}
	}
	if from >= 0 {
		often := ""
		if times > 1 {
			often = fmt.Sprintf(" for the last of %d times", times)
		}
		s.addOp(from, g.node, StepRenew, "renews its lease%s, which is then good for %s.", often, length(time.Duration(until-s.ops[from].Time)))
	}
	if until != 0 && until < g.belief.to && s.window.holds(until) {
		tail := "; it does not know"
		if f := s.faultAt(g.node, until); f != nil {
			tail = ", " + meanwhile(f.kind)
		}
		s.add(until, -1, g.node, g.node, StepEnd, "The lease of %s ends by its own deadline%s.", g.node, tail).g = g
	}
}

// telling picks the writes of a grant that belong: all of a few, else those the
// violation names, else the last in the window.
func (s *teller) telling(g *grant) []*write {
	var seen, named []*write
	for _, w := range g.writes {
		if s.ops[w.invoke].Time <= s.window.to {
			seen = append(seen, w)
			if s.named[w.invoke] || s.named[w.apply] || s.named[w.done] {
				named = append(named, w)
			}
		}
	}
	if len(seen) <= 3 {
		return seen
	}
	if len(named) > 0 {
		return named
	}
	return seen[len(seen)-1:]
}

// tellRead tells the read that a write was made from.
func (s *teller) tellRead(g *grant, w *write) {
	from := -1
	for _, r := range g.reads {
		if r < w.invoke {
			from = r
		}
	}
	if from < 0 {
		return
	}
	u, f := s.ops[from].Unfenced, s.ops[from].Fenced
	switch {
	case u == nil:
	case f == nil || u.Value == f.Value:
		s.addOp(from, g.node, StepRead, "reads %s.", value(u.Value))
	default:
		s.addOp(from, g.node, StepRead, "reads %s in the unfenced copy, %s in the fenced one.", value(u.Value), value(f.Value))
	}
}

// tellWrite tells when a write set out, if that is a story of its own, and what
// each copy made of it.
func (s *teller) tellWrite(g *grant, w *write) {
	op := &s.ops[w.invoke]
	if w.apply < 0 {
		s.addOp(w.invoke, g.node, StepWrite, "sends its write of %s; the resource never saw it in this run.", value(op.Value))
		return
	}
	if wait := s.ops[w.apply].Time - op.Time; wait > int64(s.setup.Lease)/8 {
		s.addOp(w.invoke, g.node, StepWrite, "sends its write of %s, which takes %s to arrive.", value(op.Value), length(time.Duration(wait)))
	}
	kind, lead := StepWrite, "writes "+value(op.Value)
	if h := s.next(g); h != nil && h.ok < w.apply {
		kind, lead = StepZombie, fmt.Sprintf("is a zombie (%q was granted to %s at %s) and its write of %s arrives", g.key, h.node, seconds(s.ops[h.ok].Time-s.startTime()), value(op.Value))
	}
	if op.Unfenced != nil {
		lead += ", based on " + value(op.Unfenced.Base)
	}
	a := &s.ops[w.apply]
	why := ""
	if kind == StepZombie && a.Fenced != nil && a.Fenced.Accepted && g.token != 0 && a.Fenced.Token == g.token {
		why = " No higher token had reached the fenced copy."
	}
	s.addOp(w.apply, g.node, kind, "%s. %s%s", lead, decided(a), why).brief = lead + "." + why
	s.tellLoss(w)
}

// decided says what both copies made of a write, with the state before and after.
func decided(a *history.Op) string {
	u, f := copyWords(a, a.Unfenced), copyWords(a, a.Fenced)
	switch {
	case f == "":
		return "Unfenced copy: " + u + "."
	case u == f:
		return "Both copies: " + u + "."
	}
	return "Unfenced copy: " + u + ". Fenced copy: " + f + "."
}

func copyWords(a *history.Op, c *history.Copy) string {
	switch {
	case c == nil:
		return ""
	case c.Accepted:
		return fmt.Sprintf("accepted, %s → %s", value(c.Previous), value(a.Value))
	case c.Token > a.Token:
		return fmt.Sprintf("refused, token %d is below %d, stays %s", a.Token, c.Token, value(c.Previous))
	}
	return "refused, stays " + value(c.Previous)
}

// tellEvent tells of the end of a grant, as its client saw it.
func (s *teller) tellEvent(g *grant, i int) {
	op := &s.ops[i]
	why := ""
	if op.Error != "" {
		why = ": " + strings.TrimSuffix(plainError(op.Error), ".")
	}
	switch {
	case op.F == history.Lost:
		s.addOp(i, g.node, StepTold, "is told that its lock is lost%s.", why)
	case op.F == history.Abstain:
		s.addOp(i, g.node, StepTold, "does not write, as its own check says that the lock is lost%s.", why)
	case op.F == history.Release && op.Type == history.OK && op.Depth > 0:
		s.addOp(i, g.node, StepRelease, "gives back an inner hold of %q; %d are left.", g.key, op.Depth)
	case op.F == history.Release && op.Type == history.OK:
		s.addOp(i, g.node, StepRelease, "releases %q.", g.key)
	case op.F == history.Release:
		s.addOp(i, g.node, StepRelease, "asks to release %q%s.", g.key, cmp.Or(why, ", outcome "+string(op.Type)))
	case op.F == history.Extend:
		s.addOp(i, g.node, StepTold, "asks to renew and is refused%s.", why)
	}
}
