package remedies

import (
	"slices"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// clues are what a run shows of why something broke.
type clues struct {
	*timeline.View
	result   checker.Result
	verdicts map[string]checker.Verdict
	answered string // the property whose remedy was given last
}

func newClues(t *timeline.View, r checker.Result) *clues {
	e := &clues{View: t, result: r, verdicts: map[string]checker.Verdict{}}
	for _, p := range r.Properties {
		e.verdicts[p.Name] = p.Verdict
	}
	return e
}

func (e *clues) violated(property string) bool { return e.verdicts[property] == checker.Violated }

// firmest is the violation of a property to look at: the earliest of the certain ones.
func (e *clues) firmest(property string) (v checker.Violation) {
	if p := e.result.Property(property); p != nil && len(p.Violations) > 0 {
		v = slices.MinFunc(p.Violations, story.Firmer)
	}
	return v
}

// grantsIn are the grants that a violation rests on, by time.
func (e *clues) grantsIn(v checker.Violation) (all []*trace.Grant) {
	for _, i := range v.Operations {
		if i < 0 || i >= len(e.Ops) {
			continue
		}
		if g := e.ByOwner[e.Ops[i].Owner]; g != nil && !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	slices.SortFunc(all, func(a, b *trace.Grant) int { return int(a.OK - b.OK) })
	return all
}

// window is the time in which something can have brought a violation about: from the request for the
// first of its grants to its instant.
func (e *clues) window(v checker.Violation) timeline.Span {
	w := timeline.Span{From: v.At, To: v.At}
	for _, i := range v.Operations {
		if i >= 0 && i < len(e.Ops) {
			w.From = min(w.From, e.Ops[i].Time)
		}
	}
	for _, g := range e.grantsIn(v) {
		w.From = min(w.From, g.Invoked)
	}
	return w
}

// struck are the victims of faults of a kind, within the window of a violation: servers, or clients that
// the violation is about.
func (e *clues) struck(v checker.Violation, of func(k history.FaultKind, server bool) bool) (who []string, any bool) {
	w := e.window(v)
	var concerned []string
	for _, i := range v.Operations {
		if i >= 0 && i < len(e.Ops) {
			concerned = append(concerned, e.Ops[i].Node)
		}
	}
	for _, f := range e.Faults {
		lasted := e.Lasted(f)
		if f.Begin < 0 || f.Skipped || lasted.To < w.From || lasted.From > w.To {
			continue
		}
		server := slices.Contains(e.Setup.Servers, f.Target)
		known := slices.Contains(who, f.Target) || !server && !slices.Contains(concerned, f.Target)
		if !known && of(history.FaultOf(f.Kind), server) {
			who = append(who, f.Target)
		}
	}
	return who, len(who) > 0
}

// unstruck: no fault touches a server or a client of the violation.
func unstruck(e *clues, v checker.Violation) ([]string, bool) {
	_, any := e.struck(v, func(history.FaultKind, bool) bool { return true })
	return nil, !any && len(e.Ops) > 0
}

// serverAlone: servers were stopped, none of the holders was struck in any way.
func serverAlone(e *clues, v checker.Violation) ([]string, bool) {
	_, other := e.struck(v, func(k history.FaultKind, server bool) bool {
		return !server || !k.Stops && k.Name != "clock"
	})
	if other {
		return nil, false // links that are cut strike both ends
	}
	return e.struck(v, func(k history.FaultKind, server bool) bool { return server })
}

// onRenewal: the last that the older holder was told of its lease, before a violation, was a renewal.
func onRenewal(e *clues, v checker.Violation) ([]string, bool) {
	all := e.grantsIn(v)
	if len(all) == 0 {
		return nil, false
	}
	last := -1
	for _, c := range all[0].Claims {
		if op := &e.Ops[c.Op]; op.Type == history.OK && op.Time < v.At {
			last = c.Op
		}
	}
	return nil, last >= 0 && e.Ops[last].F == history.Extend
}

// afterFirstLease: all that still held the lock, at a violation, was a renewal, as the lease of the acquire was over.
func afterFirstLease(e *clues, v checker.Violation) ([]string, bool) {
	if _, renewed := onRenewal(e, v); !renewed {
		return nil, false
	}
	g := e.grantsIn(v)[0]
	return nil, g.Sent+e.LeaseOf(&e.Ops[g.Op]) <= v.At
}

// ofPermits: the lock is a semaphore.
func ofPermits(e *clues, _ checker.Violation) ([]string, bool) {
	return nil, e.Setup.Kind == history.Semaphore
}

// overOnArrival: the lease of a grant had ended when its holder was told of it.
func overOnArrival(e *clues, v checker.Violation) ([]string, bool) {
	for _, g := range e.grantsIn(v) {
		if op := &e.Ops[g.Op]; op.Deadline != 0 && op.Mono > op.Deadline {
			return []string{g.Node}, true
		}
	}
	return nil, false
}

// retaken: a client was granted again what it had not been told to be free.
func retaken(e *clues, v checker.Violation) (who []string, _ bool) {
	for _, g := range e.grantsIn(v) {
		if g.Retaken() != nil && !slices.Contains(who, g.Node) {
			who = append(who, g.Node)
		}
	}
	return who, len(who) > 0
}

// grantedAfterAStop: a client stood still for a lease or more while it waited for the grant.
func grantedAfterAStop(e *clues, v checker.Violation) (who []string, _ bool) {
	for _, g := range e.grantsIn(v) {
		for _, f := range e.Faults {
			s := e.Lasted(f)
			stopped := f.Target == g.Node && f.Begin >= 0 && history.FaultOf(f.Kind).Stops
			if stopped && s.From > g.Invoked && s.To < g.OK && s.To-s.From >= int64(e.Setup.Lease) {
				who = append(who, g.Node)
			}
		}
	}
	return who, len(who) > 0
}

// mostServers: half of the servers or more did not run, or could not be reached, at once.
func mostServers(e *clues, v checker.Violation) ([]string, bool) {
	who, _ := e.struck(v, func(k history.FaultKind, server bool) bool { return server && k.Away })
	return who, len(who) > 0 && 2*len(who) >= len(e.Setup.Servers)
}

// unheard says that of a node nothing but faults is recorded, as in a part of a history: what it held is not known.
func (e *clues) unheard(node string) bool {
	return !slices.ContainsFunc(e.Ops, func(op history.Op) bool { return op.Node == node && op.F != history.Fault })
}

// stoppedHolder: who held the key stood still.
func stoppedHolder(e *clues, v checker.Violation) (who []string, _ bool) {
	stopped, _ := e.struck(v, func(k history.FaultKind, server bool) bool { return !server && k.Stops })
	for _, f := range e.Faults {
		held := func(g *trace.Grant) bool {
			return g.Node == f.Target && (v.Key == "" || g.Key.Name == v.Key) && timeline.Belief(g).Meets(e.Lasted(f))
		}
		stands := slices.Contains(stopped, f.Target) && e.IsClient(f.Target) && !slices.Contains(who, f.Target)
		if stands && (e.unheard(f.Target) || slices.ContainsFunc(e.Grants, held)) {
			who = append(who, f.Target)
		}
	}
	return who, len(who) > 0
}

func clockOfServer(e *clues, v checker.Violation) ([]string, bool) {
	return e.struck(v, func(k history.FaultKind, server bool) bool { return server && k.Name == "clock" })
}

func clockOfClient(e *clues, v checker.Violation) ([]string, bool) {
	return e.struck(v, func(k history.FaultKind, server bool) bool { return !server && k.Name == "clock" })
}

// cameBack: a server died, and had come back, with what it had on disk, before the violation.
func cameBack(e *clues, v checker.Violation) (back []string, _ bool) {
	died, _ := e.struck(v, func(k history.FaultKind, server bool) bool {
		return server && k.EndsLeases && k.Name != "clock"
	})
	for _, f := range e.Faults {
		if slices.Contains(died, f.Target) && f.EndOp >= 0 && f.To <= v.At && !slices.Contains(back, f.Target) {
			back = append(back, f.Target)
		}
	}
	return back, len(back) > 0
}

func struckServer(e *clues, v checker.Violation) ([]string, bool) {
	return e.struck(v, func(k history.FaultKind, server bool) bool { return server && k.Name != "clock" })
}
