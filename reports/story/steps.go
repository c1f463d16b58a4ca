package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// tellGrant tells what was done under one grant, up to the end of the window.
func (s *telling) tellGrant(g *trace.Grant) {
	if h := s.besides(g); h != nil && s.dry.key == "" {
		s.tellUnknown(g, h)
	}
	s.tellAcquire(g)
	s.tellLease(g)
	s.tellLooks(g)
	writes := s.telling(g)
	for _, w := range writes {
		s.tellRead(g, w)
		s.tellWrite(g, w)
	}
	s.tellEffects(g)
	for _, i := range g.Events {
		s.tellEvent(g, i)
	}
}

// besides is the grant that was made although g lasted: the one that superseded it or, where the order of their acquires is
// open, the first of this story that was told of after it.
func (s *telling) besides(g *trace.Grant) *trace.Grant {
	if h := s.replaced(g, g.Until); h != nil && g.Until > h.OK {
		return h
	}
	for _, h := range s.grants {
		if h.Key == g.Key && h.OK > g.OK && g.Until > h.OK && h.Node != g.Node && s.apart(g, h) {
			return h
		}
	}
	return nil
}

// tellAcquire tells of a grant, and how long it is good for.
func (s *telling) tellAcquire(g *trace.Grant) {
	op := &s.Ops[g.Op]
	token := ""
	if g.Token != 0 {
		if token = fmt.Sprintf(" with token %d", g.Token); g.Retaken() != nil {
			token += ", which it had before"
		}
	} else if g == s.grants[0] && !s.Setup.Promise.Token {
		token = " (this lock gives no token)"
	}
	claim := "; it claims no deadline"
	switch {
	case op.Deadline != 0:
		claim = "; " + goodFor("its lease is", "its lease", s.Until(op)-op.Time)
	case !s.Setup.Promise.Leased:
		claim = "; this lock has no lease"
	}
	s.addOp(g.Op, g.Node, StepGrant, "acquires %q%s%s%s.", g.Key.Name, s.as(g), token, claim)
}

// goodFor says how long a lease lasts from the answer that told of it; one below 0 has ended before.
func goodFor(is, had string, left int64) string {
	if left < 0 {
		return fmt.Sprintf("%s had ended %s before this answer came", had, say.Length(time.Duration(-left)))
	}
	return fmt.Sprintf("%s good for %s", is, say.Length(time.Duration(left)))
}

// tellLease tells the last renewal and the end of the lease, where the holder
// outlived it.
func (s *telling) tellLease(g *trace.Grant) {
	answers := s.Renewed(g)
	until, from, times := s.Until(&s.Ops[answers[0]]), -1, 0
	for _, at := range answers[1:] {
		if s.window.Holds(s.Ops[at].Time) {
			until, from, times = s.Until(&s.Ops[at]), at, times+1
		}
	}
	if from >= 0 {
		often := ""
		if times > 1 {
			often = fmt.Sprintf(" for the last of %d times", times)
		}
		good := "" // where no deadline is claimed, nothing is known to last longer
		if until != 0 {
			good = ", " + goodFor("which is then", "which", until-s.Ops[from].Time)
		}
		s.addOp(from, g.Node, StepRenew, "%s%s%s.", renews(s.Ops[from].F, until != 0), often, good)
	}
	if until != 0 && until > g.OK && until < g.Until && s.window.Holds(until) {
		tail := "; it does not know"
		if g.Told <= until {
			tail = "; it had been told of its loss"
		}
		if f := s.faultAt(g.Node, until); f != nil {
			tail = ", " + timeline.Meanwhile(f.Kind)
		}
		ends := "by its own deadline"
		if from < 0 && s.Setup.Promise.Renews {
			ends = "unless its session has renewed it"
		}
		s.add(until, -1, g.Node, g.Node, StepEnd, "The lease of %s ends %s%s.", g.Node, ends, tail).g = g
	}
}

// renews says what an operation does that makes a lease longer, where there is one.
func renews(f history.F, leased bool) string {
	does := map[history.F]string{history.Change: "changes its mode", history.Release: "gives back a part"}[f]
	switch {
	case f == history.Extend && leased:
		return "renews its lease"
	case f == history.Extend:
		return "renews its hold"
	case leased:
		return cmp.Or(does, "takes it again") + ", which renews its lease"
	}
	return cmp.Or(does, "takes it again")
}

// telling picks the writes of a grant that belong: all of a few, else those the
// violation names, else the last in the window.
func (s *telling) telling(g *trace.Grant) []*trace.Write {
	var seen, named []*trace.Write
	for _, slot := range g.Writes {
		w := &s.Writes[slot]
		if s.Ops[w.Invoke].Time <= s.window.To {
			seen = append(seen, w)
			if s.named[w.Invoke] || s.named[w.Apply] || s.named[w.Done] {
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
func (s *telling) tellRead(g *trace.Grant, w *trace.Write) {
	from := -1
	for _, r := range g.Reads {
		if r < w.Invoke {
			from = r
		}
	}
	if from < 0 {
		return
	}
	u, f := s.Ops[from].Unfenced, s.Ops[from].Fenced
	switch {
	case u == nil:
	case f == nil || u.Value == f.Value:
		s.addOp(from, g.Node, StepRead, "reads %s.", say.Value(u.Value))
	default:
		s.addOp(from, g.Node, StepRead, "reads %s in the unfenced copy, %s in the fenced one.", say.Value(u.Value), say.Value(f.Value))
	}
}

// tellWrite tells when a write set out, if that is a story of its own, and what
// each copy made of it.
func (s *telling) tellWrite(g *trace.Grant, w *trace.Write) {
	op := &s.Ops[w.Invoke]
	if w.Apply < 0 {
		s.addOp(w.Invoke, g.Node, StepWrite, "sends its write of %s; the resource never saw it in this run.", say.Value(op.Value))
		return
	}
	if wait := s.Ops[w.Apply].Time - op.Time; wait > int64(s.Setup.Lease)/8 {
		s.addOp(w.Invoke, g.Node, StepWrite, "sends its write of %s, which takes %s to arrive.", say.Value(op.Value), say.Length(time.Duration(wait)))
	}
	kind, lead := StepWrite, "writes "+say.Value(op.Value)
	if h := s.replaced(g, s.Ops[w.Apply].Time); h != nil && h.Op < w.Apply {
		kind, lead = StepZombie, fmt.Sprintf("%s and its write of %s arrives", s.late(g, h, s.Ops[w.Apply].Time), say.Value(op.Value))
	}
	if op.Unfenced != nil {
		lead += ", based on " + say.Value(op.Unfenced.Base)
	}
	a := &s.Ops[w.Apply]
	why := ""
	if kind == StepZombie && a.Fenced != nil && a.Fenced.Accepted && g.Token != 0 && a.Fenced.Token == g.Token {
		why = " No higher token had reached the fenced copy."
	}
	s.addOp(w.Apply, g.Node, kind, "%s. %s%s", lead, decided(a, s.Setup.Promise.Token), why).Brief = lead + "." + why
	s.tellLoss(w)
}

// late says what somebody is who acts on a grant after it was another's. Who holds a valid lease is no
// zombie: the service has given its lock away.
func (s *telling) late(g, h *trace.Grant, at int64) string {
	if done := g.Released; done >= 0 && s.Ops[done].Depth == 0 && g.End < at && s.Ops[done].Time < at {
		return fmt.Sprintf("has given %q back,", g.Key.Name)
	}
	granted := fmt.Sprintf("%q was granted to %s at %s", g.Key.Name, h.Node, say.Seconds(h.OK-s.Begin))
	if _, valid := s.ValidAt(g, at); valid && s.Setup.Promise.Leased {
		return "still has a valid lease, although " + granted + ","
	}
	if !s.Setup.Promise.Leased && g.Told > at && !s.struck(g, at) {
		return "holds it still, although " + granted + ","
	}
	return "is a zombie (" + granted + ")"
}

// struck says whether a fault has hit the holder of g, or anything that is no client, since its grant.
func (s *telling) struck(g *trace.Grant, at int64) bool {
	return slices.ContainsFunc(s.Faults, func(f *trace.Fault) bool {
		return f.From <= at && f.To >= g.OK && (f.Target == g.Node || slices.Contains(f.Cut, g.Node) || !slices.Contains(s.Setup.Clients, f.Target))
	})
}

// decided says what both copies made of a write, with the state before and after. Where no grant has a token nothing
// is fenced, and both are one.
func decided(a *history.Op, token bool) string {
	u, f := copyWords(a, a.Unfenced), copyWords(a, a.Fenced)
	switch {
	case u != "" && u == f && !token:
		return strings.ToUpper(u[:1]) + u[1:] + "."
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
		return fmt.Sprintf("accepted, %s → %s", say.Value(c.Previous), say.Value(a.Value))
	case c.Token > a.Token:
		return fmt.Sprintf("refused, token %d is below %d, stays %s", a.Token, c.Token, say.Value(c.Previous))
	}
	return "refused, stays " + say.Value(c.Previous)
}

// tellEvent tells of the end of a grant, as its client saw it.
func (s *telling) tellEvent(g *trace.Grant, i int) {
	op := &s.Ops[i]
	why := ""
	if op.Error != "" {
		why = ": " + strings.TrimSuffix(say.Error(op.Error), ".")
	}
	switch {
	case op.F == history.Lost:
		s.addOp(i, g.Node, StepTold, "is told that its lock is lost%s.", why)
	case op.F == history.Abstain:
		s.addOp(i, g.Node, StepTold, "does not write, as its own check says that the lock is lost%s.", why)
	case op.F == history.Release && op.Type == history.OK && op.Depth > 0:
		s.addOp(i, g.Node, StepRelease, "gives back an inner hold of %q; %d are left.", g.Key.Name, op.Depth)
	case op.F == history.Release && op.Type == history.OK:
		s.addOp(i, g.Node, StepRelease, "releases %q.", g.Key.Name)
	case op.F == history.Release && op.Type == history.Info:
		s.addOp(i, g.Node, StepRelease, "asks to release %q, and is never told what came of it%s.", g.Key.Name, why)
	case op.F == history.Release:
		s.addOp(i, g.Node, StepRelease, "asks to release %q%s.", g.Key.Name, cmp.Or(why, ", and is refused"))
	case op.F == history.Extend:
		s.addOp(i, g.Node, StepTold, "asks to renew and is refused%s.", why)
	}
}
