package checker

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// trusted says whether a look at the servers was answered, and tells what was true meanwhile: of
// several servers one that a fault keeps apart from the rest, or leaves alone in reach, may tell what was. One that is
// killed tells nothing.
func (r *run) trusted(look *history.Op) bool {
	if look.Error != "" || len(r.Setup.Servers) == 1 {
		return look.Error == ""
	}
	apart := r.faultyAs("apart from "+look.Node, func(f *trace.Fault) bool {
		own := (f.Target != look.Node || len(f.Cut) > 0) && r.hitsWay(f, look.Node)
		silent := history.FaultOf(f.Kind).EndsLeases && r.survived(f, "")
		return own || r.hitsServers(f) && !silent || len(r.Setup.Servers) == 0 && (!r.isClient(f.Target) || len(f.Cut) > 0)
	})
	return !trace.Meets(apart, look.Sent, look.Time)
}

// namesOwners says that looks at a key name holders as their clients do: one named somebody who was granted it. What
// is left at a few of many servers by who gave up tells nothing of who holds it.
func (r *run) namesOwners(k *keyLog) bool {
	return r.Setup.Promise.DriftFactor == 0 && r.namesHolders(k)
}

// namesHolders says that a look at a key named somebody who was granted it, as its client does.
func (r *run) namesHolders(k *keyLog) bool {
	return slices.ContainsFunc(k.Holders, func(i int) bool { return r.ByOwner[r.Ops[i].Owner] != nil })
}

// heldThroughout is a grant that the service owed all the time that a look took; nil: there is none. One that was told as the look was sent may
// have come behind it, unless it was told to who looked.
func (r *run) heldThroughout(k *keyLog, look int) *trace.Grant {
	op := &r.Ops[look]
	g := k.lastGranted(op.Sent + 1)
	if g != nil && g.OK == op.Sent && (g.Node != op.Node || g.Op > look) {
		g = k.lastGranted(op.Sent)
	}
	if g != nil && r.owedUntil(g, op.Sent) > op.Time {
		return g
	}
	return nil
}
