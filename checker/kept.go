package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// keptUntil is until when the service certainly owed g its hold, by the judge's clock alone:
// without a lease until its holder gave it back or was told of its loss, with one at most for
// a lease from the send of the request, or of a renewal that was answered; and only until a
// fault may have hit the holder, its way to the servers, or what they remember. A lock
// that dates its leases is judged by its dates as well, by lease-exclusion.
func (r *run) keptUntil(g *trace.Grant) int64 {
	until := min(g.End, g.Told)
	if g.Told == until {
		until = r.MuteUntil(g, until)
	}
	switch p := r.Setup.Promise; {
	case p.Leased:
		until = min(until, r.leaseEnd(g))
	case p.Idles: // the server ends it as its holder asks nothing for a time that nobody recorded
		until = min(until, r.Ops[max(g.Op, r.lastClaim(g))].Time)
	}
	for _, c := range slices.Backward(g.Claims) { // it was told that it may be lost, and not since that it is safe
		if !c.Cut {
			break
		}
		until = min(until, r.MuteUntil(g, c.At))
	}
	if stop, asked := r.Stops[g.Node]; asked { // it may have been killed since, with its session
		until = min(until, r.Ops[stop].Time)
	}
	return min(until, r.firstCause(g))
}

// keptSpans are the times in which g was kept for certain, each less so much at its end: not while its holder was told
// that it may be lost, and not yet that it is safe.
func (r *run) keptSpans(g *trace.Grant, less int64) (spans []trace.Span) {
	from, until := g.OK, r.keptUntil(g)-less
	for _, c := range g.Claims {
		switch at := min(r.MuteUntil(g, c.At)-less, until); {
		case c.Cut && from < at:
			spans = append(spans, trace.Span{From: from, To: at})
			fallthrough
		case c.Cut:
			from = trace.Forever
		case from == trace.Forever:
			from = c.At
		}
	}
	if from < until {
		spans = append(spans, trace.Span{From: from, To: until})
	}
	return spans
}

// keptAt says whether g was kept for certain at a time.
func (r *run) keptAt(g *trace.Grant, t, less int64) bool {
	return slices.ContainsFunc(r.keptSpans(g, less), func(s trace.Span) bool { return s.From <= t && t < s.To })
}

// leaseEnd is when the lease of g ends at the earliest, by the last of its requests that was answered, and by
// servers whose clocks run as fast as the lock allows for.
func (r *run) leaseEnd(g *trace.Grant) int64 {
	sent, lease, answered := r.madeFrom(g), r.LeaseOf(&r.Ops[g.Op]), g.OK
	for _, c := range g.Claims {
		if op := &r.Ops[c.Op]; !c.Cut {
			asked, renewed := op.Sent, r.LeaseOf(op)
			if asked == 0 && c.At <= after(sent, lease) { // it was held all the time until this answer, which is true so
				asked = r.sentBy(c.Op)
			}
			if r.sentBy(c.Op) < answered || asked == 0 || r.Unanswered(g, g.Sent) { // which of several came last is open: one may make the lease shorter
				renewed = min(lease, renewed)
			}
			sent, lease, answered = max(sent, asked), renewed, c.At
		}
	}
	return sent + r.shortest(lease)
}

// sentBy is when the request that an operation answers was sent at the earliest.
func (r *run) sentBy(done int) int64 {
	if sent := r.Ops[done].Sent; sent != 0 {
		return sent
	}
	if invoke, completes := r.Started(done); completes {
		return r.Ops[invoke].Time
	}
	return 0
}

// firstCause is the first time from which a fault may have ended a hold of g.
func (r *run) firstCause(g *trace.Grant) int64 { return r.causeSince(g, g.Sent) }

// causeSince is the first time, from another one on, from which a fault may have ended a hold of g.
func (r *run) causeSince(g *trace.Grant, since int64) int64 {
	first := r.forgetsFrom(since)
	causes := [][]trace.Span{r.endingOutages(g.Node), r.ownShaken(g.Node)}
	if r.keepsLeases() {
		causes = [][]trace.Span{r.shaken(), r.wrongClocks(g.Node), r.askedByWrongClock(r.logOf(g.Key))}
	}
	for _, spans := range causes {
		i := sort.Search(len(spans), func(i int) bool { return spans[i].To >= since })
		if i < len(spans) {
			first = min(first, max(spans[i].From, since))
		}
	}
	if r.Setup.Promise.Session || r.Setup.Promise.Renews {
		first = min(first, r.firstStall(g), r.moved(g))
	}
	return first
}

// keepsLeases says that the service itself ends a lease, by its time: no session of the holder does
// and nothing that its program sends unasked, so what happens to the holder alone ends none. Where the
// servers are not known, a fault of what is no client may be of one.
func (r *run) keepsLeases() bool {
	p := r.Setup.Promise
	if !p.Leased || p.Session || p.Renews {
		return false
	}
	if r.known.anyHit == nil {
		hit := len(r.Setup.Servers) == 0 &&
			(len(r.ServerEnds) > 0 || slices.ContainsFunc(r.Faults, func(f *trace.Fault) bool { return !r.isClient(f.Target) }))
		r.known.anyHit = &hit
	}
	return !*r.known.anyHit
}

// wrongClocks are the times in which the clock of a client was wrong.
func (r *run) wrongClocks(client string) []trace.Span {
	return r.endingUpon("clock of", client, func(f *trace.Fault) bool { return f.Kind == "clock" && f.Target == client })
}

// askedByWrongClock are the times in which a client whose clock was wrong asked for a key and was not refused. A lock
// may measure its leases by the clock of whoever asks: such a client may have ended the hold of another, and so made
// room for a third. Whose clock is wrong and who did not ask, or was refused, has ended nothing.
func (r *run) askedByWrongClock(k *keyLog) []trace.Span {
	if k.wrong != nil {
		return k.wrong
	}
	k.wrong = []trace.Span{}
	for _, w := range k.Waits {
		if w.Done >= 0 && r.Ops[w.Done].Type == history.Fail {
			continue
		}
		wrong := r.wrongClocks(r.Ops[w.Invoke].Node)
		for i := sort.Search(len(wrong), func(i int) bool { return wrong[i].To >= w.From }); i < len(wrong) && wrong[i].From <= w.To; i++ {
			k.wrong = append(k.wrong, trace.Span{From: max(wrong[i].From, w.From), To: min(wrong[i].To, w.To)})
		}
	}
	k.wrong = trace.Union(k.wrong)
	return k.wrong
}

// firstStall is the first time from which the holder of g, or a server, was not scheduled for
// more than half a lease: that of a session counts from its last heartbeat, of which there are
// two or three in a lease, and may end so much sooner.
func (r *run) firstStall(g *trace.Grant) int64 {
	if r.known.long == nil {
		r.known.long = map[string][]trace.Span{}
		for _, s := range r.stalls {
			if s.To-s.From > int64(r.Setup.Lease)/2 {
				node := s.Node
				if s.Server && (len(r.Setup.Servers) == 0 || r.isServer(node)) { // what the lock guards ends no session
					node = ""
				}
				r.known.long[node] = append(r.known.long[node], trace.Span{From: s.From, To: s.To})
			}
		}
		for node, spans := range r.known.long {
			r.known.long[node] = trace.Union(spans)
		}
	}
	first := int64(trace.Forever)
	for _, spans := range [][]trace.Span{r.known.long[g.Node], r.known.long[""]} {
		i := sort.Search(len(spans), func(i int) bool { return spans[i].To >= g.Sent })
		if i < len(spans) {
			first = min(first, max(spans[i].From, g.Sent))
		}
	}
	return first
}

// doubles are the pairs of grants of a key, by their ok, of which neither can have ended when
// the other was made: the older one was kept until the ok of the other, which was kept beyond its own ok or
// cannot have been made before the older one. An instant of both is too little: see clockNoise. O(n log n).
func (r *run) doubles(k *keyLog) map[[2]*trace.Grant]bool {
	var spans []trace.Span
	kept, first := newLastEnds(len(k.Grants)), newLastEnds(len(k.Grants)) // until the end, and without a gap from the ok on
	for i, g := range k.Grants {
		gapless := g.OK
		for _, s := range r.keptSpans(g, trace.ClockNoise) {
			if s.From == g.OK {
				gapless = s.To
			}
			spans = append(spans, trace.Span{From: s.From, To: s.To, Owner: i})
		}
		kept.add(i, r.keptUntil(g)-trace.ClockNoise)
		first.add(i, gapless)
	}
	pairs := map[[2]*trace.Grant]bool{}
	overlaps(spans, func(a, b trace.Span) {
		pairs[[2]*trace.Grant{k.Grants[min(a.Owner, b.Owner)], k.Grants[max(a.Owner, b.Owner)]}] = true
	})
	for i, g := range k.Grants {
		before := sort.Search(i, func(n int) bool { return k.Grants[n].OK >= g.Sent }) - 1
		if before < 0 || first.end[i] > g.OK {
			continue
		}
		for _, h := range []*trace.Grant{k.Grants[first.by[before]], k.Grants[kept.by[before]]} {
			if r.keptAt(h, g.OK, trace.ClockNoise) {
				pairs[[2]*trace.Grant{h, g}] = true
			}
		}
	}
	return pairs
}

// lastEnds is when each of some things ends, and which of those up to each ends last.
type lastEnds struct {
	end []int64
	by  []int
}

func newLastEnds(n int) lastEnds { return lastEnds{make([]int64, n), make([]int, n)} }

// add is called for one after the other.
func (l lastEnds) add(i int, end int64) {
	l.end[i] = end
	if l.by[i] = i; i > 0 && l.end[l.by[i-1]] >= end {
		l.by[i] = l.by[i-1]
	}
}

// addDoubles records pairs of grants that nobody need have acted on.
func (r *run) addDoubles(k *keyLog, doubles map[[2]*trace.Grant]bool, f *found) {
	byOp := func(a, b [2]*trace.Grant) int {
		return cmp.Or(cmp.Compare(a[1].Op, b[1].Op), cmp.Compare(a[0].Op, b[0].Op))
	}
	defer r.steadily()() // what is kept is reckoned by requests, and ends with a stall that may end a session
	for _, pair := range slices.SortedFunc(maps.Keys(doubles), byOp) {
		g, h := pair[0], pair[1]
		f.add(r, Violation{Key: k.Name, At: h.OK, Operations: []int{g.Op, h.Op, g.EndOp, h.EndOp}},
			"%s was granted %q at %s, and %s, which had been granted it at %s, had not lost it.",
			h.Who(), k.Name, r.seconds(h.OK), g.Who(), r.seconds(g.OK))
	}
}

// untoldLeases is leaseExclusion of a lock that reports no deadline. No lease can have begun
// before its acquire was invoked, so it lasts for its time after that at least, without a fault.
func (r *run) untoldLeases() outcome {
	var f found
	for _, k := range r.keys {
		r.addDoubles(k, r.doubles(k), &f)
	}
	r.grantedLate(&f)
	return r.orUnseen(outcome{verdict: Holds, found: f,
		reason: fmt.Sprintf("No two of %s were owed at once: the lock reports no deadline, so each counts for a lease "+
			"from its request, or from the invoke of its acquire, as long as no fault may have ended it.",
			nouns.Count(len(r.Grants), "grant")),
		summary: fmt.Sprintf("%s began within a lease of the request of another client's, which nothing had ended.", nouns.Count(f.certain, "grant")),
	})
}
