package remedies

import (
	"slices"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// act is what somebody did in the world, or to the resource, under the name of a grant.
type act struct {
	node  string // who did it; "": only the resource has recorded it
	asked int64  // raw time at which it set out
	key   string
	grant *trace.Grant // of that name; nil: none
}

// acts are those that a violation names, each as it set out.
func (e *clues) acts(v checker.Violation) (all []act) {
	for _, i := range v.Operations {
		if i < 0 || i >= len(e.Ops) {
			continue
		}
		op := &e.Ops[i]
		a := act{node: op.Node, asked: op.Time, key: op.Key, grant: e.ByOwner[op.Owner]}
		switch op.F {
		case history.Write, history.Effect, history.Read:
			if start, ended := e.Started(i); ended {
				a.asked = e.Ops[start].Time
			}
		case history.Apply, history.Happened:
			a.node = ""
			if w := e.WriteOf(op.Value); w != nil {
				a.asked = e.Ops[w.Invoke].Time
			} else if x := e.ByEffect[op.Value]; x != nil && x.Invoke >= 0 {
				a.asked = e.Ops[x.Invoke].Time
			}
		default:
			continue
		}
		all = append(all, a)
	}
	return all
}

// actors are the holders whose acts are of a kind.
func (e *clues) actors(v checker.Violation, of func(act) bool) (who []string, _ bool) {
	for _, a := range e.acts(v) {
		if a.grant != nil && of(a) && !slices.Contains(who, a.grant.Node) {
			who = append(who, a.grant.Node)
		}
	}
	return who, len(who) > 0
}

// neverGranted: somebody acted by a name that it was never granted the key under, or before it asked.
func neverGranted(e *clues, v checker.Violation) (who []string, _ bool) {
	for _, a := range e.acts(v) {
		if a.node == "" || a.grant != nil && a.grant.Node == a.node && a.grant.Key.Name == a.key && a.grant.Invoked <= a.asked {
			continue
		}
		if !slices.Contains(who, a.node) {
			who = append(who, a.node)
		}
	}
	return who, len(who) > 0
}

// givenBack: somebody acted on what it had given back.
func givenBack(e *clues, v checker.Violation) ([]string, bool) {
	return e.actors(v, func(a act) bool {
		done := a.grant.Released
		return done >= 0 && e.Ops[done].Depth == 0 && a.grant.End < a.asked && e.Ops[done].Time < a.asked
	})
}

// toldBefore: somebody acted on what it had been told to be lost.
func toldBefore(e *clues, v checker.Violation) ([]string, bool) {
	return e.actors(v, func(a act) bool { return a.grant.Told < a.asked })
}

// endedEarly: the service said that a hold was lost and gave it to another, both before the deadline that it had answered.
func endedEarly(e *clues, v checker.Violation) (who []string, _ bool) {
	all := e.grantsIn(v)
	for i, g := range all {
		until := e.Until(&e.Ops[g.Op])
		for _, c := range g.Claims {
			if op := &e.Ops[c.Op]; op.Type == history.OK && op.Time < g.Told && op.Deadline != 0 {
				until = e.Until(op)
			}
		}
		another := func(h *trace.Grant) bool { return h.Node != g.Node && h.Key == g.Key && h.OK < until }
		if g.Told < until && g.Released < 0 && slices.ContainsFunc(all[i+1:], another) {
			who = append(who, g.Node)
		}
	}
	return who, len(who) > 0
}

// renewedPast: a renewal that was asked for before another was granted the key was told ok, with a deadline behind that grant.
func renewedPast(e *clues, v checker.Violation) ([]string, bool) {
	all := e.grantsIn(v)
	for i, g := range all {
		for _, c := range g.Claims {
			op := &e.Ops[c.Op]
			start, known := e.Started(c.Op)
			another := func(h *trace.Grant) bool {
				return h.Node != g.Node && h.Key == g.Key && e.Ops[start].Time < h.OK && h.OK < e.Until(op)
			}
			if known && op.Type == history.OK && op.F == history.Extend && op.Deadline != 0 && slices.ContainsFunc(all[i+1:], another) {
				return nil, true
			}
		}
	}
	return nil, false
}

// forgotten: no writer that the violation names replaced what it had not read, and none was late, so the resource itself
// lost what it had acknowledged.
func forgotten(e *clues, v checker.Violation) ([]string, bool) {
	for _, i := range v.Operations {
		if i < 0 || i >= len(e.Ops) {
			continue
		}
		op := &e.Ops[i]
		if op.F != history.Write && op.F != history.Apply {
			continue
		}
		late := func(c *history.Copy) bool { return c != nil && c.Accepted && c.Base != c.Previous }
		if op.F == history.Apply && (late(op.Unfenced) || late(op.Fenced)) {
			return nil, false
		}
		if w := e.WriteOf(op.Value); w != nil && (w.Grant == nil || e.Stale(w)) {
			return nil, false
		}
	}
	return nil, len(v.Operations) > 0 && len(e.Ops) > 0
}

// began is when somebody began to wait in vain.
func (e *clues) began(v checker.Violation) int64 {
	return v.At - int64(checker.Patience(e.Setup.Lease))
}

// asksOf are what a client asks of its lock.
var asksOf = []history.F{history.Acquire, history.Try, history.Extend, history.Release, history.Change}

// killedClient: a client died with the key, or as it asked for it, before others began to wait in vain.
func killedClient(e *clues, v checker.Violation) (who []string, _ bool) {
	for _, f := range e.Faults {
		died := f.Kind == "kill" && f.Begin >= 0 && f.From <= e.began(v) && e.IsClient(f.Target)
		if died && e.leftBy(f, v.Key) && !slices.Contains(who, f.Target) {
			who = append(who, f.Target)
		}
	}
	return who, len(who) > 0
}

// leftBy says whether the victim of f held a key, or had a request for it under way, when it died.
func (e *clues) leftBy(f *trace.Fault, key string) bool {
	held := func(g *trace.Grant) bool {
		return g.Node == f.Target && g.OK <= f.From && (g.Released < 0 || e.Ops[g.Released].Time > f.From) && (g.Killed || g.Until >= f.From)
	}
	if e.unheard(f.Target) || slices.ContainsFunc(e.GrantsOf(key), held) {
		return true
	}
	for i := range e.Ops {
		op := &e.Ops[i]
		if op.Time > f.From {
			break
		}
		if op.Node == f.Target && op.Key == key && op.Type == history.Invoke && slices.Contains(asksOf, op.F) {
			if end, ended := e.Ended(i); !ended || e.Ops[end].Time > f.From {
				return true
			}
		}
	}
	return false
}

// allAnswered: of what was asked of a lock that one client holds at a time, no answer was lost before others waited in vain.
func allAnswered(e *clues, v checker.Violation) ([]string, bool) {
	if e.Setup.Kind.Shares() || len(e.Ops) == 0 || v.Key == "" {
		return nil, false
	}
	for i := range e.Ops {
		op := &e.Ops[i]
		if op.Key == v.Key && op.Time <= v.At && op.Type == history.Info && slices.Contains(asksOf, op.F) {
			return nil, false
		}
	}
	last := e.lastHolder(v)
	return nil, last == nil || !last.Killed
}

// lastHolder held the key last before others began to wait in vain; nil: nobody did.
func (e *clues) lastHolder(v checker.Violation) (last *trace.Grant) {
	for _, g := range e.GrantsOf(v.Key) {
		if g.OK <= v.At {
			last = g
		}
	}
	return last
}

// releaseAnswered: the last holder of the key had given it back, and was told ok.
func releaseAnswered(e *clues, v checker.Violation) ([]string, bool) {
	g := e.lastHolder(v)
	if g == nil || g.Released < 0 || e.Ops[g.Released].Time > v.At {
		return nil, false
	}
	return []string{g.Node}, true
}
