package checker

import (
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// crowdBefore are grants of a semaphore that were owed together as one of them was made, after g and before a time, while g was not
// valid, and that left no room for it: its permit was gone from then on. Who is one too many while all are valid is
// judged by lease-exclusion, whoever came first.
func (r *run) crowdBefore(g *trace.Grant, before int64) []*trace.Grant {
	if r.Setup.Kind != history.Semaphore {
		return nil
	}
	k := r.logOf(g.Key)
	at, made := k.crowded[g]
	if !made {
		if k.crowded == nil {
			k.crowded = map[*trace.Grant]int64{}
		}
		at = r.firstCrowd(k, g)
		k.crowded[g] = at
	}
	if at >= before {
		return nil
	}
	return r.owedAt(k, g, at)
}

// firstCrowd is the first instant after g, while it was not valid, at which others left it no room.
func (r *run) firstCrowd(k *keyLog, g *trace.Grant) int64 {
	crowds, from := r.crowdsOf(k, r.Setup.Permits-g.Least()), g.OK
	for _, s := range append(r.ownSpans(g), trace.Span{From: trace.Forever, To: trace.Forever}) {
		i := sort.Search(len(crowds), func(i int) bool { return crowds[i] >= from })
		if i < len(crowds) && crowds[i] < s.From {
			return crowds[i]
		}
		from = max(from, s.To) // who was answered late is owed nothing by then
	}
	return trace.Forever
}

// ownSpans are the times in which g was valid; of a lock that reports no deadline, in which it was owed.
func (r *run) ownSpans(g *trace.Grant) (spans []trace.Span) {
	if r.Setup.Promise.Validity == history.Untold {
		return r.keptSpans(g, 0)
	}
	spans, _ = r.Validity(nil, g, 0)
	return spans
}

// sureShares are the times in which grants of a key were valid by their deadlines, and owed by the judge's clock.
func (r *run) sureShares(k *keyLog) (all []trace.Share) {
	for _, g := range k.Grants {
		kept := r.keptUntil(g) - trace.ClockNoise
		for _, s := range r.ownSpans(g) {
			all = g.Shares(all, s.From, max(s.From, min(s.To, kept)))
		}
	}
	return all
}

// crowdsOf are the instants, in order, at which a grant was made while those that were owed took more than n permits with it.
func (r *run) crowdsOf(k *keyLog, n int) []int64 {
	at, made := k.crowds[n]
	if !made {
		at = []int64{}
		crowds(r.sureShares(k), n, func(s trace.Share, _ []trace.Share, _ int) {
			if s.From <= s.Grant.OK { // a grant made it, and not one that was there already and gave back a part, or was renewed
				at = append(at, s.From)
			}
		})
		if k.crowds == nil {
			k.crowds = map[int][]int64{}
		}
		k.crowds[n] = at
	}
	return at
}

// owedAt are the grants but one of a key that were owed at an instant.
func (r *run) owedAt(k *keyLog, but *trace.Grant, at int64) (all []*trace.Grant) {
	for _, s := range r.sureShares(k) {
		if s.Grant != but && s.From <= at && s.To > at {
			all = append(all, s.Grant)
		}
	}
	return all
}

func grantsOf(grants []*trace.Grant) (ops []int) {
	for _, g := range grants {
		ops = append(ops, g.Op)
	}
	return ops
}
