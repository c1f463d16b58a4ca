package checker

import (
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// What the service may have forgotten of a hold, and when its client may not have reached it.

// fewKnow says whether, of a lock that has its grants from a majority of independent servers,
// so many were hit by faults meanwhile, or cut off from a node, that less than a majority may know a grant of it: each alone
// is too few, but who was away when it was made and who is away when it is renewed are others.
func (r *run) fewKnow(node string, from, to int64) bool {
	if r.Setup.Promise.DriftFactor == 0 {
		return false
	}
	hit := 0
	for _, server := range r.Setup.Servers {
		parts := func(f *trace.Fault, of, other string) bool {
			return f.Target == of && (len(f.Cut) == 0 || slices.Contains(f.Cut, other))
		}
		if trace.Meets(once(&r.known.spans, "knows: "+server+" "+node, func() []trace.Span {
			return faultsUntil(slices.Concat(r.Faults, r.shocks()), func(f *trace.Fault) bool {
				return parts(f, server, node) || len(f.Cut) > 0 && parts(f, node, server)
			}, func(f *trace.Fault) int64 { return max(flows(f), r.lost(f)) })
		}), from, to) {
			hit++
		}
	}
	return 2*hit >= len(r.Setup.Servers) && hit > 0
}

// outOfReach says whether, at some time, the client may not have reached the service, or its session may have had no answer
// because of that: a fault is its own or one of its links, or too many servers are away. Where the service told it so, it was
// answered: what the service survives was no reason then.
func (r *run) outOfReach(node string, from, to int64, told bool) bool {
	own := r.ownShaken(node)
	if !told {
		own = once(&r.known.spans, "reach: "+node, func() []trace.Span {
			return faultsUntil(r.faultsUpon(node), func(f *trace.Fault) bool {
				return r.slows(f) && (r.hitsWay(f, node) || r.mayBeOfAll(f)) && !r.survived(f, node)
			}, func(f *trace.Fault) int64 { return max(r.ends(f), flows(f)) })
		})
		// A session may have hung on a server that is away, and so have ended a lease later; one that was served after that did not.
		lapses := int64(r.Setup.Lease)/2*3 + backedOff
		hit := r.faultsOf(node)
		for i := sort.Search(len(hit), func(i int) bool { return hit[i].From >= from-lapses }); i < len(hit) && hit[i].From <= to; i++ {
			if f := hit[i].fault; (r.Setup.Promise.Session || r.Setup.Promise.Renews) && r.slows(f) && max(r.ends(f), flows(f)) >= from {
				return true
			}
		}
	}
	return trace.Meets(own, from, to) || trace.Meets(r.endingOutages(node), from, to)
}

// mayForget says whether a server may have lost the grant, or what its lease is
// measured by: then the loss is true, and other properties judge it.
func (r *run) mayForget(from, to int64) bool { return r.forgetsFrom(from) <= to }

// forgetsFrom is the first time, from another one on, at which a server may have lost what it knew. One that was away already then
// knew nothing of what came, and loses it only as it is back and others follow it.
func (r *run) forgetsFrom(from int64) int64 {
	if r.known.forgets == nil {
		r.known.forgets = []timed{}
		for _, f := range slices.Concat(r.Faults, r.shocks()) {
			if f.Begin >= 0 && history.FaultOf(f.Kind).EndsLeases && r.serves(f.Target) && !r.survived(f, "") {
				r.known.forgets = append(r.known.forgets, timed{Span: trace.Span{From: f.From, To: r.lost(f)}, fault: f})
			}
		}
		reaching(r.known.forgets)
	}
	all := r.known.forgets
	first := sort.Search(len(all), func(i int) bool { return all[i].From >= from })
	at := int64(trace.Forever)
	if first < len(all) {
		at = all[first].From
	}
	for i := first - 1; i >= 0 && all[i].reach >= from; i-- {
		switch f := all[i].fault; {
		case all[i].To < from:
		case f.Seen >= 0 && r.Ops[f.Seen].Time <= from && f.To > from:
			at = min(at, f.To)
		default:
			return from
		}
	}
	return at
}
