package checker

import (
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// toldLeases are the longest leases that answers told, each no shorter than that of the run.
type toldLeases struct{ granted, renewed int64 }

// mayBeGranted is for how long what a request for k of unknown outcome was granted may last. A service may grant longer
// leases than it was asked for, and tells so by those that it answers: the longest of that key counts, as nothing says
// which of them the answer that was lost would have told. A key of which no answer told any may be as any other of the service.
func (r *run) mayBeGranted(k *keyLog) int64 {
	return r.leasesOf(k).granted + int64(r.Setup.Promise.Bound)
}

// mayBeRenewed is mayBeGranted of a renewal.
func (r *run) mayBeRenewed(k *keyLog) int64 {
	return r.leasesOf(k).renewed + int64(r.Setup.Promise.Bound)
}

func (r *run) leasesOf(k *keyLog) toldLeases {
	if k == nil || len(k.Grants) == 0 {
		return r.leasesOfAll()
	}
	if k.told.granted == 0 {
		k.told = r.leasesIn(k.Grants)
	}
	return k.told
}

// leasesOfAll are those of all keys.
func (r *run) leasesOfAll() toldLeases {
	if r.known.told.granted == 0 {
		r.known.told = r.leasesIn(r.Grants)
	}
	return r.known.told
}

func (r *run) leasesIn(grants []*trace.Grant) toldLeases {
	told := toldLeases{int64(r.Setup.Lease), int64(r.Setup.Lease)}
	for _, g := range grants {
		told.granted = max(told.granted, r.LeaseOf(&r.Ops[g.Op]))
		told.renewed = max(told.renewed, r.longestLease(g))
	}
	return told
}

// unsureFor are times in which acquires may have kept k although nobody was told that they were granted: from the call of one of
// unknown outcome, or of one that ended with its client, for as much longer than its end as such a lease is than that of the run, which
// our patience counts. None: no lease is longer.
func (r *run) unsureFor(k *keyLog) (spans []trace.Span) {
	longer := r.leasesOf(k).granted - int64(r.Setup.Lease)
	if longer <= 0 || !r.Setup.Promise.Leased {
		return nil
	}
	for _, w := range k.Waits {
		if w, known := r.lasted(w); known && (r.Ops[w.Done].Type == history.Info || r.Ops[w.Done].Type == history.Note) {
			spans = append(spans, trace.Span{From: r.ghost(w).From, To: after(w.To, longer)})
		}
	}
	return spans
}

// lastsUntil is when the lease of g is over at the latest: by its answers, or, where a renewal has none, by that.
func (r *run) lastsUntil(g *trace.Grant) int64 {
	k := r.logOf(g.Key)
	lasts, known := k.lasts[g]
	if known {
		return lasts
	}
	lasts = r.answeredUntil(g)
	if r.Unanswered(g, g.Sent) { // it may have been renewed once more
		lasts = max(lasts, after(g.LastSeen, max(r.longestLease(g)+int64(r.Setup.Promise.Bound), r.mayBeRenewed(k))))
	}
	if k.lasts == nil {
		k.lasts = map[*trace.Grant]int64{}
	}
	k.lasts[g] = lasts
	return lasts
}

// answeredUntil is when all leases of g are over that its client was told of, each counted from the answer.
func (r *run) answeredUntil(g *trace.Grant) int64 {
	lasts := after(g.OK, r.LeaseOf(&r.Ops[g.Op]))
	for _, c := range g.Claims {
		if !c.Cut {
			lasts = max(lasts, after(c.At, r.LeaseOf(&r.Ops[c.Op])))
		}
	}
	return lasts
}

// longestLease is the longest lease of g that its client was told of, and no shorter than that of the run.
func (r *run) longestLease(g *trace.Grant) int64 {
	longest := max(int64(r.Setup.Lease), r.LeaseOf(&r.Ops[g.Op]))
	for _, c := range g.Claims {
		if !c.Cut {
			longest = max(longest, r.LeaseOf(&r.Ops[c.Op]))
		}
	}
	return longest
}
