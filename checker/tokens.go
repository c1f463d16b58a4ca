package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// fencingMonotonic compares each token with those of the grants that were certainly made
// before, and finds tokens that repeat, are missing. A renewal that tells another token counts as one more grant. One was before another if its answer
// had come when the request of the other was sent, or when a look at the server was sent
// that found the other, so long as no later look found it again: see proven. A lock that
// makes its tokens when clients queue serves them in that order, so it is judged by the
// order of grants as well. Of a read-write lock a writer's token must be above those of all
// before it, and a reader's not below those of the writers before it, also where only three grants show
// that (tokensBetween): readers hold together, so theirs may be those of one hold, and need not be there where no reader is told one. O(n log n).
func fencingMonotonic(r *run) outcome {
	var f found
	writers, readersHave := 0, slices.ContainsFunc(r.Grants, func(g *trace.Grant) bool { return g.Mode != history.Exclusive && g.Token != 0 })
	for _, k := range r.keys {
		all := r.tokened(k)
		for _, g := range all {
			if g.Mode == history.Exclusive {
				writers++
			}
			if (g.Mode == history.Exclusive || readersHave) && g.Token == 0 && !g.Silent {
				ops, was, _ := r.granted(g)
				f.add(r, Violation{Key: k.Name, At: g.OK, Operations: ops},
					"%s %s %q at %s without a token.", g.Who(), was, k.Name, r.seconds(g.OK))
			}
		}
		r.risingTokens(k, all, &f)
		r.repeatedTokens(k, all, &f)
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("The tokens of %s rise.", nouns.Count(len(r.Grants), "grant")),
		summary: fmt.Sprintf("Of %s, %d got a token that does not rise, is reused or is missing.", nouns.Count(len(r.Grants), "grant"), f.certain),
	}
	switch {
	case len(r.Grants) < 2:
		o.verdict, o.reason = Unknown, fmt.Sprintf("Only %s: nothing to compare.", nouns.Count(len(r.Grants), "grant"))
	case writers == 0:
		o.verdict, o.reason = NA, fmt.Sprintf("No writer was granted it: tokens of %s need not rise.", nouns.Count(len(r.Grants), "reader"))
	}
	return o
}

// tokened are the grants of a key by the time of their ok, and the acquires of unknown outcome whose client used a
// token that it cannot have but by a grant: each was granted by then. One whose token another grant of its
// client has may be that grant, of which the client was told the second time. A renewal that tells another token than
// was told before is like a grant: a resource that has seen its token refuses those below. What may be the hold before it is none.
func (r *run) tokened(k *keyLog) []*trace.Grant {
	all := slices.Concat(k.Grants, r.retold(k))
	type by struct {
		node  string
		token int64
	}
	known := map[by]bool{}
	for _, g := range k.Grants {
		known[by{g.Node, g.Token}] = true
	}
	for _, ghost := range k.Ghosts {
		info := &r.Ops[ghost.Info]
		who := by{info.Node, ghost.Token}
		if ghost.Token == 0 || known[who] || r.ByOwner[ghost.Owner] != nil {
			continue
		}
		known[who] = true
		invoke, _ := r.Started(ghost.Info)
		asked := &r.Ops[invoke]
		all = append(all, &trace.Grant{Owner: ghost.Owner, Node: info.Node, Process: info.Process, Key: k.Key, Token: ghost.Token,
			Mode: trace.ModeOf(asked), Invoke: invoke, Op: ghost.First, Sent: cmp.Or(info.Sent, asked.Time), OK: r.Ops[ghost.First].Time})
	}
	slices.SortStableFunc(all, func(a, b *trace.Grant) int { return cmp.Compare(a.OK, b.OK) })
	if !r.reenters() {
		return all
	}
	since := r.unsureSince(k)
	var last *trace.Grant
	return slices.DeleteFunc(all, func(g *trace.Grant) bool {
		before := last
		last = g
		return before != nil && r.mayBeOneHold(before, g, since)
	})
}

// reenters says whether a grant may be one more hold of what its client has. A library's lock is reentrant whatever it is used for, and
// its next hold has a name of its own; ours takes a lock again as the same owner, and is not reentrant where it is used as a mutex.
func (r *run) reenters() bool {
	p := r.Setup.Promise
	return p.Reentry != "" && (r.Setup.Kind == history.Reentrant || p.Library != "" && p.Library != history.Reference)
}

// proven are the first and the last time at which a grant is known to have been held,
// each as the span of what shows it: the request that won, and the looks that found it.
type proven struct {
	*trace.Grant
	sent, ok int64 // of the request, or of the last look
}

// byLooks are the grants of a key, each as the last look at the server shows it.
func (r *run) byLooks(k *keyLog, grants []*trace.Grant) []proven {
	last := map[*trace.Grant]int64{}
	for _, i := range k.Holders {
		if op := &r.Ops[i]; r.trusted(op) && r.ByOwner[op.Owner] != nil {
			last[r.ByOwner[op.Owner]] = max(last[r.ByOwner[op.Owner]], op.Sent)
		}
	}
	all := make([]proven, len(grants))
	for i, g := range grants {
		all[i] = proven{g, max(g.Sent, last[g]), max(g.OK, last[g])}
	}
	slices.SortStableFunc(all, func(a, b proven) int { return cmp.Compare(a.ok, b.ok) })
	return all
}

func (r *run) risingTokens(k *keyLog, all []*trace.Grant, f *found) {
	asked, looked := make([]proven, len(all)), r.byLooks(k, all)
	for i, g := range all {
		asked[i] = proven{g, g.Sent, g.OK}
	}
	byRequest, byLook := topBefore(asked, asked), topBefore(looked, looked)
	ofWriters, open := byRequest, map[*trace.Grant]between{}
	if r.Setup.Kind == history.ReadWrite {
		writers := slices.DeleteFunc(slices.Clone(asked), func(p proven) bool { return p.Mode != history.Exclusive })
		ofWriters, byLook, open = topBefore(writers, asked), nil, betweenReaders(all) // a look names one of several
	}
	held := r.behindHolds(k, all)
	for _, g := range all {
		top := byRequest[g]
		if g.Mode != history.Exclusive {
			top = ofWriters[g]
		}
		if seen := byLook[g]; seen != nil && g.OK >= seen.Sent && (top == nil || seen.Token > top.Token) {
			top = seen
		}
		if g.Token == 0 {
			continue
		}
		// Two writers of one token: see repeatedTokens.
		certain := top != nil && (g.Token < top.Token || g.Token == top.Token && top.Mode != history.Exclusive && !r.keptToken(g))
		if !certain {
			if b, three := open[g]; three {
				r.tellBetween(f, k, b, g)
			}
			if top = held[g]; top == nil || g.Token >= top.Token {
				continue
			}
		}
		shows, _, had := r.granted(top)
		ops, was, _ := r.granted(g)
		got := "a lower token"
		if g.Token == top.Token {
			got = "the same token"
		}
		f.add(r, Violation{Key: k.Name, At: g.OK, Possible: !certain, Operations: slices.Concat(r.lastLooks(k, top, g), shows, ops)},
			"%s %s %q at %s, after %s %s it at %s, and got %s.",
			g.Who(), was, k.Name, r.seconds(g.OK), top.Who(), had, r.seconds(top.OK), got)
	}
}

// behindHolds finds for each of some grants of a key the one with the greatest token of those behind which it was made, unless two
// held the key at once: see madeFrom.
func (r *run) behindHolds(k *keyLog, all []*trace.Grant) map[*trace.Grant]*trace.Grant {
	if r.Setup.Kind.Shares() {
		return nil
	}
	behind, answered := make([]proven, len(all)), make([]proven, len(all))
	for i, g := range all {
		behind[i], answered[i] = proven{g, g.Sent, g.OK}, proven{g, g.Sent, g.OK}
		if r.ByOwner[g.Owner] == g {
			behind[i].sent = max(g.Sent, r.madeFrom(g))
		}
	}
	return topBefore(answered, behind)
}

// topBefore finds for each of some grants the one with the greatest token of those of others that were over
// when it was sent. others are in the order of their ok.
func topBefore(others, all []proven) map[*trace.Grant]*trace.Grant {
	bySent := slices.Clone(all)
	slices.SortStableFunc(bySent, func(a, b proven) int { return cmp.Compare(a.sent, b.sent) })
	tops := make(map[*trace.Grant]*trace.Grant, len(all))
	var top *trace.Grant
	next := 0
	for _, p := range bySent {
		for ; next < len(others) && others[next].ok < p.sent; next++ {
			if h := others[next].Grant; top == nil || h.Token > top.Token || h.Token == top.Token && h.Sent < top.Sent {
				top = h
			}
		}
		tops[p.Grant] = top
	}
	return tops
}

// lastLooks are the last looks that found g and h, where the requests leave their order open.
func (r *run) lastLooks(k *keyLog, g, h *trace.Grant) (ops []int) {
	if g.OK < h.Sent {
		return nil
	}
	last := map[string]int{}
	for _, i := range k.Holders {
		if op := &r.Ops[i]; r.trusted(op) && (op.Owner == g.Owner || op.Owner == h.Owner) {
			if before, ok := last[op.Owner]; !ok || op.Sent > r.Ops[before].Sent {
				last[op.Owner] = i
			}
		}
	}
	for _, i := range last {
		ops = append(ops, i)
	}
	return ops
}

func (r *run) repeatedTokens(k *keyLog, all []*trace.Grant, f *found) {
	byToken := slices.DeleteFunc(slices.Clone(all), func(g *trace.Grant) bool { return g.Mode != history.Exclusive })
	order := func(a, b *trace.Grant) int { return cmp.Compare(a.Token, b.Token) }
	if !slices.IsSortedFunc(byToken, order) {
		slices.SortStableFunc(byToken, order)
	}
	for i := 1; i < len(byToken); i++ {
		if g, h := byToken[i-1], byToken[i]; g.Token == h.Token && g.Token != 0 && (r.ownerOf(g) != r.ownerOf(h) || g.Node != h.Node) {
			before, _, _ := r.granted(g)
			ops, was, _ := r.granted(h)
			f.add(r, Violation{Key: k.Name, At: h.OK, Operations: append(before, ops...)},
				"%s %s %q at %s with the token that %s had got at %s.",
				h.Who(), was, k.Name, r.seconds(h.OK), g.Who(), r.seconds(g.OK))
		}
	}
}

// mayBeOneHold says that a grant with the token of the one before it may be the same hold of a reentrant lock: an acquire
// or a release of their client had an unknown outcome by then, so that the last release that is known may not have been
// the last, and the lease that it left may have lasted. since is when the first such request was made, by client.
func (r *run) mayBeOneHold(g, h *trace.Grant, since map[string]int64) bool {
	if g.Node != h.Node || g.Token != h.Token || g.Token == 0 ||
		r.Setup.Promise.Leased && !r.Setup.Promise.Renews && h.Sent > after(max(g.LastSeen, g.OK), r.LeaseOf(&r.Ops[g.Op])) {
		return false
	}
	first, some := since[g.Node]
	return some && first <= h.OK
}

// unsureSince is when each client first made a request for a key, or to give it back, whose outcome is unknown.
func (r *run) unsureSince(k *keyLog) map[string]int64 {
	since := map[string]int64{}
	unsure := func(invoke, done int) {
		op := &r.Ops[invoke]
		if at, some := since[op.Node]; (done < 0 || r.Ops[done].Type == history.Info) && (!some || op.Time < at) {
			since[op.Node] = op.Time
		}
	}
	for _, w := range k.Waits {
		unsure(w.Invoke, w.Done)
	}
	for _, g := range k.Grants {
		if g.Release >= 0 {
			unsure(g.Release, g.Done)
		}
	}
	return since
}
