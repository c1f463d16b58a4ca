package checker

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// What looks at the servers found of a grant.

// lookedWithout is the first look at the server, sent after g was granted and answered before
// a time, that found nobody, or another client of this run; -1: there is none.
func (r *run) lookedWithout(g *trace.Grant, before int64) int { return r.lookedSince(g, g.OK, before) }

// lookedSince is lookedWithout of the looks that were sent after a time.
func (r *run) lookedSince(g *trace.Grant, since, before int64) int {
	k, of := r.logOf(g.Key), lookedAt{g, since}
	i, asked := k.looked[of]
	if !asked {
		i = sort.Search(len(k.Holders), func(i int) bool { return r.Ops[k.Holders[i]].Time > since })
	}
	found := -1
	for found < 0 && i < len(k.Holders) {
		op := &r.Ops[k.Holders[i]]
		if op.Time >= before {
			break
		}
		switch {
		case r.trusted(op) && op.Sent > since && r.without(op, g):
			found = k.Holders[i]
		case op.Owner == g.Owner:
			i = r.otherLook(k, i)
		default:
			i++
		}
	}
	if k.looked == nil {
		k.looked = map[lookedAt]int{}
	}
	k.looked[of] = i // until there none was found
	return found
}

// lookedAt is a grant, and from when on looks at the server are asked for it.
type lookedAt struct {
	of    *trace.Grant
	since int64
}

// goneBefore is a look from before another one, which names g, that found g gone since it was granted; -1: there is none. What is
// gone does not come back: one of the two looks was false, however the grants came one after the other. A renewal
// that may have come between them is judged by what it was told, so the looks after it count, and a request that came
// late may be one hold more.
func (r *run) goneBefore(k *keyLog, g *trace.Grant, look *history.Op) int {
	if g == nil || g.Key != k.Key || r.Setup.Promise.DriftFactor > 0 || g.Nest.Open > 0 {
		return -1
	}
	since := g.OK
	if i := sort.Search(len(g.Claims), func(i int) bool { return g.Claims[i].At > look.Time }); i > 0 {
		since = max(since, g.Claims[i-1].At)
	}
	gone := r.lookedSince(g, since, look.Sent)
	if gone < 0 || trace.Meets(r.shaken(), r.Ops[gone].Sent, look.Time) || trace.Meets(r.unknownOf(g), g.Invoked, look.Time) ||
		r.UnansweredIn(g, g.Invoked, look.Time) {
		return -1
	}
	return gone
}

// phantom says that a look names who cannot have had its key: an owner that was granted another key, that had not asked
// yet, or that was never granted any. Whose acquire was under way, or has no known outcome, may be anybody.
func (r *run) phantom(k *keyLog, look *history.Op) bool {
	g, owner := r.ByOwner[look.Owner], look.Owner
	_, may := r.maybeNamed(k, look)
	switch {
	case owner == "" || r.Setup.Promise.DriftFactor > 0 || may:
		return false
	case g == nil && !r.namesOwners(k), g != nil && g.Key == k.Key && g.Invoked <= look.Time:
		return false
	}
	r.readNames(k)
	node, _, _ := strings.Cut(owner, "/")
	switch {
	case g != nil:
		return !trace.Meets(k.underway[g.Node], look.Sent, look.Time)
	case !k.ownNames || !slices.Contains(r.Setup.Clients, node):
		node = ""
	}
	return !trace.Meets(k.underway[node], look.Sent, look.Time) && !trace.Meets(k.left[node], look.Sent, look.Time)
}

// maybe is an acquire of which nobody knows whether it was granted.
type maybe struct {
	from int64
	node string
}

// maybeNamed says that a look, or an operation, names an owner as which a client had asked for its key by then, and of which nobody knows
// whether it was granted it; and which client.
func (r *run) maybeNamed(k *keyLog, look *history.Op) (node string, yes bool) {
	if k.maybe == nil {
		k.maybe = map[string]maybe{}
		for _, w := range k.Waits {
			owner := r.Ops[w.Invoke].Owner
			if w.Done >= 0 {
				owner = cmp.Or(r.Ops[w.Done].Owner, owner)
			}
			if _, known := k.maybe[owner]; !known && (w.Done < 0 || r.Ops[w.Done].Type == history.Info) {
				k.maybe[owner] = maybe{w.From, r.Ops[w.Invoke].Node}
			}
		}
	}
	m, known := k.maybe[look.Owner]
	return m.node, known && look.Owner != "" && m.from <= look.Time
}

// readNames finds when a look may name an owner that nobody was told of, for each node whose acquires may have left it, and ""
// for any: as an acquire is under way and after one of unknown outcome. A name that no grant ever had may also be left, for a lease
// and the bound, by an acquire that was granted, since it may have asked more than once, each time as another owner; where owners
// begin with the names of their nodes, by those of that node alone.
func (r *run) readNames(k *keyLog) {
	if k.underway != nil {
		return
	}
	k.underway, k.left, k.ownNames = map[string][]trace.Span{}, map[string][]trace.Span{}, true
	for _, g := range k.Grants {
		k.ownNames = k.ownNames && g.Node != "" && strings.HasPrefix(g.Owner, g.Node+"/")
	}
	lingers := int64(trace.Forever)
	if r.Setup.Promise.Leased {
		lingers = after(r.mayBeGranted(k), trace.ClockNoise)
	}
	for _, w := range k.Waits {
		asked, node := trace.Span{From: w.From, To: w.To}, r.Ops[w.Invoke].Node
		switch {
		case w.Done < 0 || r.Ops[w.Done].Type == history.Info:
			asked.To = trace.Forever
		case r.Ops[w.Done].Type == history.OK:
			left := trace.Span{From: w.To, To: after(w.To, lingers)}
			k.left[node] = append(k.left[node], left)
			if !k.ownNames {
				k.left[""] = append(k.left[""], left)
			}
		}
		k.underway[node] = append(k.underway[node], asked)
		k.underway[""] = append(k.underway[""], asked)
	}
	for _, all := range []map[string][]trace.Span{k.underway, k.left} {
		for node, spans := range all {
			all[node] = trace.Union(spans)
		}
	}
}

// overBy is when the service, which itself ends its leases by their time, had ended g, as far as that is known by a time.
func (r *run) overBy(g *trace.Grant, by int64) int64 {
	if !r.keepsLeases() || r.Setup.Promise.DriftFactor > 0 || g.Nest.Open > 0 || trace.Meets(r.serversFaults(), g.Sent, by) ||
		trace.Meets(r.unknownOf(g), g.Invoked, by) {
		return trace.Forever
	}
	return after(r.lastsUntil(g), int64(r.Setup.Promise.Bound)+trace.ClockNoise)
}

// without says that a look shows that g is not held: it found nobody or, where nobody may hold the key beside g,
// another client of this run, though that may not have been told that it was granted it. Who did not hear its first
// answer and asked again may be named as it was then. A look that names who had it before g, or another key, is false itself, and shows
// nothing of g; nor one that names who had asked for another key, or not yet.
func (r *run) without(look *history.Op, g *trace.Grant) bool {
	other := r.ByOwner[look.Owner]
	node, may := r.maybeNamed(r.logOf(g.Key), look)
	switch {
	case look.Owner == "" || other == g || !r.keepsAll(g):
		return look.Owner == ""
	case other != nil:
		return other.Key == g.Key && !trace.Surely(other, g)
	}
	return may && node != g.Node && r.Setup.Promise.DriftFactor == 0 // who gave up is left at a few of many servers
}

// lookedBeside is a look at the server that met the renewal invoked by p and told ok by i, and that
// found nobody, or another client of this run; -1: there is none. Had the server looked before it renewed,
// there was nothing to renew; else it had a lease to name, until that ended or was given back.
func (r *run) lookedBeside(g *trace.Grant, p, i int) int {
	op, invoke := &r.Ops[i], &r.Ops[p]
	if op.F != history.Extend || !r.Setup.Promise.Leased || r.fewKnow(g.Node, g.Sent, op.Time) {
		return -1
	}
	until := after(max(op.Sent, invoke.Time), r.LeaseOf(op)) - trace.ClockNoise
	if g.Release >= 0 {
		until = min(until, r.Ops[g.Release].Time)
	}
	k := r.logOf(g.Key)
	for n := sort.Search(len(k.Holders), func(n int) bool { return r.Ops[k.Holders[n]].Time >= invoke.Time }); n < len(k.Holders); n++ {
		look := &r.Ops[k.Holders[n]]
		if look.Time >= until || look.Time-r.longestLook(k) > op.Time {
			return -1
		}
		if look.Sent > op.Time {
			continue // looks are in the order of their answers, and a later one may have been sent before
		}
		if look.Sent > g.OK && r.trusted(look) && r.without(look, g) && !r.mayForget(g.Sent, look.Time) {
			return k.Holders[n]
		}
	}
	return -1
}

// longestLook is the longest time that a look at a key took, and a nanosecond.
func (r *run) longestLook(k *keyLog) int64 {
	if k.longest == 0 {
		for _, i := range k.Holders {
			if sent := r.Ops[i].Sent; sent > 0 { // else it is not known, and the look shows nothing
				k.longest = max(k.longest, r.Ops[i].Time-sent)
			}
		}
		k.longest++
	}
	return k.longest
}

// holderOf names whom a look found.
func (r *run) holderOf(look int) string {
	owner := r.Ops[look].Owner
	if g := r.ByOwner[owner]; g != nil {
		return g.Who()
	}
	if owner != "" {
		return strconv.Quote(owner)
	}
	return "nobody"
}

// seenWithout is the first look at the server between two times that found
// somebody else than g, or nobody; -1 if there was none.
func (r *run) seenWithout(k *keyLog, g *trace.Grant, from, to int64) int {
	i := sort.Search(len(k.Holders), func(i int) bool { return r.Ops[k.Holders[i]].Time > from })
	if i < len(k.Holders) && r.Ops[k.Holders[i]].Owner == g.Owner {
		i = r.otherLook(k, i)
	}
	if i < len(k.Holders) && r.Ops[k.Holders[i]].Time < to {
		return k.Holders[i]
	}
	return -1
}

// otherLook is the first look after look i of a key that found somebody else.
func (r *run) otherLook(k *keyLog, i int) int {
	if k.others == nil {
		k.others = make([]int, len(k.Holders))
		for i := len(k.Holders) - 1; i >= 0; i-- {
			if k.others[i] = i + 1; i+1 < len(k.Holders) && r.Ops[k.Holders[i]].Owner == r.Ops[k.Holders[i+1]].Owner {
				k.others[i] = k.others[i+1]
			}
		}
	}
	return k.others[i]
}

// heardOf says whether a look names an owner that was granted the key, or may have been.
func (r *run) heardOf(k *keyLog, look *history.Op) bool {
	_, may := r.maybeNamed(k, look)
	return may || r.ByOwner[look.Owner] != nil
}
