package checker

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// owedShares are the times in which the service certainly owed the grants of a key their shares,
// whether their holders did anything or not: see keptUntil.
func (r *run) owedShares(k *keyLog) (all []trace.Share) {
	for _, g := range k.Grants {
		for _, s := range r.keptSpans(g, trace.ClockNoise) {
			all = g.Shares(all, s.From, s.To)
		}
	}
	return all
}

// addOwed records shares that were granted beside others that nothing had ended and that leave no
// room for them, unless the same is told of what their holders did.
func (r *run) addOwed(f *found) {
	defer r.steadily()()   // see addDoubles
	told := map[int]bool{} // grants
	for i := range f.list {
		for _, op := range f.list[i].Operations {
			told[op] = true
		}
	}
	for _, k := range r.keys {
		pairs := map[[2]*trace.Grant]bool{}
		owed := r.owedShares(k)
		if r.Setup.Kind == history.Semaphore {
			crowds(owed, r.Setup.Permits, func(s trace.Share, beside []trace.Share, taken int) {
				if !told[s.Grant.Op] {
					r.tellCrowd(f, k, s, beside, taken, "had not lost")
				}
			})
			continue
		}
		rivalries(owed, func(a, b trace.Share) {
			g, h := a.Grant, b.Grant
			if pairs[[2]*trace.Grant{g, h}] || pairs[[2]*trace.Grant{h, g}] || told[g.Op] && told[h.Op] {
				return
			}
			pairs[[2]*trace.Grant{g, h}] = true
			f.add(r, Violation{Key: k.Name, At: b.From, Operations: []int{g.Op, h.Op, g.EndOp, h.EndOp}},
				"%s held %q %s from %s, and %s, which had held it %s from %s, had not lost it.",
				h.Who(), k.Name, roleIn(b), r.seconds(b.From), g.Who(), roleIn(a), r.seconds(a.From))
		})
	}
}

// untoldShares is untoldLeases of a lock that several clients may hold.
func (r *run) untoldShares() outcome {
	var f found
	r.addOwed(&f)
	r.grantedLate(&f)
	return r.orUnseen(outcome{verdict: Holds, found: f,
		reason: fmt.Sprintf("None of %s was owed beside others that it must not be beside: the lock reports no deadline, so "+
			"each counts for a lease from its request, or from the invoke of its acquire, as long as no fault may have ended it.",
			nouns.Count(len(r.Grants), "grant")),
		summary: fmt.Sprintf("%s began within a lease of the requests of others', which nothing had ended and which leave no room for it.",
			nouns.Count(f.certain, "grant")),
	})
}
