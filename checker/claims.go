package checker

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// honestClaims finds extends, changes and releases that said ok although the client held
// the lock at no instant of them: a later grant had been proven before the
// invoke, or a release of the same grant had said ok before it, or a look at the server
// had found another holder or none. Where the order of two grants is open and each was
// told ok after both had been made, one of the two was told so falsely, whichever came first. Nor can more permits be
// given back than were granted. A grant of another mode or number than was asked for is no honest answer, either, nor a renewal
// of another than was held, nor that a session has survived whose lock another was granted,
// nor silence about a loss, nor an ok that no server can have given.
func honestClaims(r *run) outcome {
	var f found
	seen := 0
	for _, c := range r.Successes {
		if r.Setup.Promise.Mute && r.Ops[c.Done].F == history.Release {
			continue // its ok says that the call returned
		}
		seen++
		if !r.claimsLost(&f, c) && !r.claimsUnseen(&f, c) {
			r.claimsBeside(&f, c)
		}
	}
	seen += r.strangeClaims(&f)
	claims := f.certain
	r.addToldSafe(&f)
	safe := f.certain - claims
	silent := r.addUnsaid(&f)
	alone := r.addUnreached(&f)
	r.otherThanAsked(&f)
	change := ""
	if r.Setup.Promise.Changes {
		change = ", change"
	}
	o := outcome{verdict: Holds, found: f,
		reason: fmt.Sprintf("%s to extend%s or release, each while its client could hold the lock.", nouns.Count(seen, "ok answer"), change),
		summary: fmt.Sprintf("%d of %s to extend%s or release came although the client did not hold the lock.", claims,
			nouns.Count(seen, "ok answer"), change),
	}
	var told []string
	if safe > 0 {
		told = append(told, fmt.Sprintf("%s %s told of a session that had survived, though another had been granted the lock.",
			nouns.Count(safe, "holder"), was(safe)))
	}
	if silent > 0 {
		told = append(told, fmt.Sprintf("%s %s told nothing of the loss of the lock.", nouns.Count(silent, "holder"), was(silent)))
	}
	if alone > 0 {
		told = append(told, fmt.Sprintf("%s came while no server could be reached.", nouns.Count(alone, "ok answer")))
	}
	if others := f.certain - claims - safe - silent - alone; others > 0 {
		told = append(told, fmt.Sprintf("%s told of another mode or number of permits than was asked for, held, or left by others.",
			nouns.Count(others, "ok answer")))
	}
	if claims > 0 || len(told) == 0 {
		told = slices.Insert(told, 0, o.summary)
	}
	o.summary = strings.Join(told, " ")
	if seen == 0 {
		o.verdict, o.reason = Unknown, "No extend or release said ok."
	}
	return o
}

// claimsLost records a claim of what had been granted to others, given back, or denied before it was asked for.
func (r *run) claimsLost(f *found, c trace.Success) bool {
	g, op, invoke := c.Grant, &r.Ops[c.Done], &r.Ops[c.Invoke]
	by, crowd, denied, writer := r.supersededBy(g), r.crowdBefore(g, invoke.Time), r.deniedBefore(g, c.Invoke, c.Done), r.upgradedBeside(g)
	switch {
	case by != nil && by.OK < invoke.Time:
		f.add(r, Violation{Key: g.Key.Name, At: op.Time, Possible: r.both(g, by), Operations: []int{g.Op, by.Op, c.Invoke, c.Done}},
			"%s was told ok to its %s of %q at %s, but %s had been granted it at %s, before that was asked.",
			g.Who(), op.F, g.Key.Name, r.seconds(op.Time), by.Who(), r.seconds(by.OK))
	case g.Released >= 0 && g.Released < c.Invoke && !r.KeepsSome(g, c.Invoke):
		f.add(r, Violation{Key: g.Key.Name, At: op.Time, Operations: []int{g.Op, g.Released, c.Invoke, c.Done}},
			"%s was told ok to its %s of %q at %s, but it had released it by %s.",
			g.Who(), op.F, g.Key.Name, r.seconds(op.Time), r.seconds(r.Ops[g.Released].Time))
	case len(crowd) > 0:
		f.add(r, Violation{Key: g.Key.Name, At: op.Time, Operations: append(grantsOf(crowd), g.Op, c.Invoke, c.Done)},
			"%s was told ok to its %s of %q at %s, but before that was asked %s left it no permit.",
			g.Who(), op.F, g.Key.Name, r.seconds(op.Time), nouns.Count(len(crowd), "grant"))
	case writer != nil && writer.OK < invoke.Time:
		f.add(r, Violation{Key: g.Key.Name, At: op.Time, Possible: r.both(g, writer), Operations: []int{g.Op, writer.Op, c.Invoke, c.Done}},
			"%s was told ok to its %s of %q at %s, but %s had been told at %s, before that was asked, that it is the writer now.",
			g.Who(), op.F, g.Key.Name, r.seconds(op.Time), writer.Who(), r.seconds(writer.OK))
	case r.tooMany(c):
		f.add(r, Violation{Key: g.Key.Name, At: op.Time, Operations: append(g.Parted(c.Invoke), g.Op, c.Invoke, c.Done)},
			"%s was told ok at %s to its release of %s of %q, of which it had %d.",
			g.Who(), r.seconds(op.Time), nouns.Count(int(invoke.Permits), "permit"), g.Key.Name, r.LeftBy(g, c.Invoke))
	case denied >= 0:
		r.unlessServers(func() {
			f.add(r, Violation{Key: g.Key.Name, At: op.Time, Operations: []int{g.Op, denied, c.Invoke, c.Done}},
				"%s was told ok to its %s of %q at %s, but had been told at %s (%s) that it does not hold it.",
				g.Who(), op.F, g.Key.Name, r.seconds(op.Time), r.seconds(r.Ops[denied].Time), r.Ops[denied].F)
		})
	default:
		return false
	}
	return true
}

// tooMany says that a release gave back more permits than were left of those that had been granted.
func (r *run) tooMany(c trace.Success) bool {
	op := &r.Ops[c.Invoke]
	return r.Setup.Kind == history.Semaphore && op.F == history.Release && int(op.Permits) > r.LeftBy(c.Grant, c.Invoke)
}

// claimsUnseen records a claim of what a look at the servers found with somebody else, or with nobody.
func (r *run) claimsUnseen(f *found, c trace.Success) bool {
	g, op, invoke := c.Grant, &r.Ops[c.Done], &r.Ops[c.Invoke]
	gone, beside := r.lookedWithout(g, invoke.Time), -1
	if gone < 0 {
		beside = r.lookedBeside(g, c.Invoke, c.Done)
	}
	record := r.unlessServers
	if gone >= 0 && len(r.Setup.Servers) == 1 { // it tells what is true whatever happened to it
		record = func(add func()) { add() }
	}
	record(func() {
		switch {
		case gone >= 0:
			f.add(r, Violation{Key: g.Key.Name, At: op.Time, Operations: []int{g.Op, gone, c.Invoke, c.Done}},
				"%s was told ok to its %s of %q at %s, but a look at the server had found %s at %s.",
				g.Who(), op.F, g.Key.Name, r.seconds(op.Time), r.holderOf(gone), r.seconds(r.Ops[gone].Time))
		case beside >= 0:
			f.add(r, Violation{Key: g.Key.Name, At: max(op.Time, r.Ops[beside].Time), Operations: []int{g.Op, c.Invoke, c.Done, beside}},
				"%s was told ok at %s to the renewal of %q that it had asked for at %s, and a look at the server "+
					"meanwhile found %s: in either order, one of the two was false.",
				g.Who(), r.seconds(op.Time), g.Key.Name, r.seconds(invoke.Time), r.holderOf(beside))
		}
	})
	return gone >= 0 || beside >= 0
}

// claimsBeside records a claim beside that of another of which nobody knows who was granted the lock first.
func (r *run) claimsBeside(f *found, c trace.Success) {
	g, op, invoke := c.Grant, &r.Ops[c.Done], &r.Ops[c.Invoke]
	maybe, rival, late := r.maybeKept(g), r.rivalClaim(g), r.lateCrowd(g, c.Invoke, c.Done)
	switch {
	case rival.claim >= 0 && rival.grant.OK < invoke.Time:
		h := rival.grant
		f.add(r, Violation{Key: g.Key.Name, At: max(op.Time, r.Ops[rival.claim].Time), Possible: r.both(g, h),
			Operations: []int{g.Op, h.Op, c.Invoke, c.Done, rival.claim}},
			"%s was told ok to its %s of %q at %s, and %s, which was granted it at %s, %s at %s: in either order, one of them no longer held it.",
			g.Who(), op.F, g.Key.Name, r.seconds(op.Time), h.Who(), r.seconds(h.OK), r.claimed(rival.claim), r.seconds(r.Ops[rival.claim].Time))
	case r.lateOK(g, c.Invoke, c.Done):
		by := r.supersededBy(g)
		r.unlessServers(func() {
			f.add(r, Violation{Key: g.Key.Name, At: op.Time, Possible: r.both(g, by), Operations: []int{g.Op, by.Op, c.Invoke, c.Done}},
				"%s was told ok at %s to the renewal of %q that it had asked for at %s, but %s was granted it at %s, "+
					"within a lease of that request: in either order, one of the two was wrong.",
				g.Who(), r.seconds(op.Time), g.Key.Name, r.seconds(invoke.Time), by.Who(), r.seconds(by.OK))
		})
	case len(late) > 0:
		r.unlessServers(func() {
			f.add(r, Violation{Key: g.Key.Name, At: op.Time, Operations: append(grantsOf(late), g.Op, c.Invoke, c.Done)},
				"%s was told ok at %s to the renewal of %q that it had asked for at %s, but %s left it no permit "+
					"within a lease of that request: in either order, one of them was wrong.",
				g.Who(), r.seconds(op.Time), g.Key.Name, r.seconds(invoke.Time), nouns.Count(len(late), "grant"))
		})
	case maybe != nil && maybe.OK < invoke.Time:
		f.add(r, Violation{Key: g.Key.Name, At: op.Time, Possible: true, Operations: []int{g.Op, maybe.Op, c.Invoke, c.Done}},
			"%s was told ok to its %s of %q at %s, and %s may have been granted it before that, at %s.",
			g.Who(), op.F, g.Key.Name, r.seconds(op.Time), maybe.Who(), r.seconds(maybe.OK))
	}
}

// lateOK says that the renewal invoked by p was told ok by i when another had been granted the key since.
func (r *run) lateOK(g *trace.Grant, p, i int) bool {
	by := r.supersededBy(g)
	return by != nil && r.lateAt(g, p, i, by.OK)
}

// lateCrowd are the grants that left g no permit while its renewal, invoked by p and told ok by i, was under way.
func (r *run) lateCrowd(g *trace.Grant, p, i int) []*trace.Grant {
	if crowd := r.crowdBefore(g, r.Ops[i].Time); len(crowd) > 0 && r.lateAt(g, p, i, r.logOf(g.Key).crowded[g]) {
		return crowd
	}
	return nil
}

// lateAt says that a renewal was under way at an instant at which others left no room for g, within the lease that its ok
// speaks of and that nothing else had ended. Had the renewal come first, its lease was still owed then; else there was
// nothing left to renew. What is answered in time is judged by leaseExclusion, too: this is for answers that are late.
func (r *run) lateAt(g *trace.Grant, p, i int, at int64) bool {
	op, invoke := &r.Ops[i], &r.Ops[p]
	if op.F != history.Extend || !r.Setup.Promise.Leased || g.Told <= at || g.Release >= 0 && r.Ops[g.Release].Time <= at {
		return false
	}
	until := min(op.Time, after(max(op.Sent, invoke.Time), r.LeaseOf(op))-trace.ClockNoise)
	return invoke.Time <= at && at < until && !r.mayForget(g.Sent, op.Time) && !r.fewKnow(g.Node, g.Sent, op.Time)
}

// claimed says by what a grant was said to be held.
func (r *run) claimed(op int) string {
	if r.Ops[op].F == history.Holder {
		return "was named by the servers"
	}
	return fmt.Sprintf("to its %s", r.Ops[op].F)
}

// rivalClaim is a grant with what says that it was held.
type rivalClaim struct {
	grant *trace.Grant
	claim int
}

// rivalClaim is the first grant that may have come after g, or before, and that was said to be held since,
// with what says it; -1: there is none.
func (r *run) rivalClaim(g *trace.Grant) (claim rivalClaim) {
	claim.claim = -1
	k := r.logOf(g.Key)
	if k.Sure && !r.Setup.Kind.Shares() || len(g.Turns) > 0 { // who changes its mode leaves open what it had by then
		return claim
	}
	of := r.rivalsOf(asGranted(g))
	if k.claimed[of] == nil {
		if k.claimed == nil {
			k.claimed = map[rival][]*trace.Grant{}
		}
		k.claimed[of] = k.openAfter(func(h *trace.Grant) bool { return of.has(h) && len(h.Turns) == 0 && r.lastClaim(h) >= 0 })
	}
	at := sort.Search(len(k.Grants), func(i int) bool { return k.Grants[i].Op >= g.Op })
	if claim.grant = k.claimed[of][at]; claim.grant != nil {
		claim.claim = r.lastClaim(claim.grant)
	}
	return claim
}

// lastClaim is the last ok to a renewal or a release of g, or else a look at the server that was sent
// after its grant and named it; -1: there was none.
func (r *run) lastClaim(g *trace.Grant) int {
	if r.known.claimed == nil {
		r.known.claimed = map[*trace.Grant]int{}
		for _, c := range r.Successes {
			if !r.Setup.Promise.Mute || r.Ops[c.Done].F != history.Release {
				r.known.claimed[c.Grant] = c.Done
			}
		}
		for _, k := range r.keys { // a look that names a holder says the same of it
			for _, i := range k.Holders {
				g, op := r.ByOwner[r.Ops[i].Owner], &r.Ops[i]
				if _, told := r.known.claimed[g]; !told && g != nil && g.Key == k.Key && r.trusted(op) && op.Sent > g.OK {
					r.known.claimed[g] = i
				}
			}
		}
	}
	if claim, ok := r.known.claimed[g]; ok {
		return claim
	}
	return -1
}

// both says that h was granted while the lease of g was valid. The service has two
// holders then, as on two masters, and each was told the truth about its own.
// Of a lock that reports no deadline that cannot be said: nothing ends its claim. Without a lease it can only as long as
// nothing may have ended g: else either the claim is false or the grant of h, and both are the service's.
func (r *run) both(g, h *trace.Grant) bool {
	return r.Setup.Promise.Validity != history.Untold && r.validUntil(g, h.OK) > h.OK && (r.Setup.Promise.Leased || r.keptAt(g, h.OK, 0))
}
