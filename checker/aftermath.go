package checker

import (
	"cmp"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
)

// aftermath is how long what a fault has left behind may go on: leases end, a
// leader is elected, clients return.
func (r *run) aftermath() int64 { return int64(r.setup.Lease) + int64(r.setup.Promise.Bound) }

// faulty are the times, in order, of the faults that match, each with its aftermath.
func (r *run) faulty(match func(*fault) bool) []span {
	var spans []span
	for _, f := range r.faults {
		if f.begin >= 0 && match(f) {
			spans = append(spans, span{from: f.from, to: after(f.to, r.aftermath())})
		}
	}
	return union(spans)
}

// ghostly are the times, in order, in which an acquire of k with an unknown
// outcome may hold the key: from its request to its end, and a lease that nobody
// knows of. One that never came to an end may be granted as long as its client lives.
func (r *run) ghostly(k *keyLog) []span {
	if k.ghostly != nil {
		return k.ghostly
	}
	spans := []span{}
	for _, w := range k.waits {
		end := w.to
		switch {
		case w.done < 0:
			end = r.diesAfter(r.ops[w.invoke].Node, w.from)
		case r.ops[w.done].Type != history.Info:
			continue
		}
		spans = append(spans, span{from: w.from, to: after(end, r.aftermath())})
	}
	k.ghostly = union(spans)
	return k.ghostly
}

// diesAfter is the first time after t at which a node was killed, or forever.
func (r *run) diesAfter(node string, t int64) int64 {
	at := int64(forever)
	for _, f := range r.faults {
		if f.kind == "kill" && f.target == node && f.begin >= 0 && !f.missed && f.from >= t {
			at = min(at, f.from)
		}
	}
	return at
}

// after adds to a time, which may be forever.
func after(t, length int64) int64 {
	if t > forever-length {
		return forever
	}
	return t + length
}

// union sorts spans and joins those that meet.
func union(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	joined := []span{}
	for _, s := range spans {
		if n := len(joined) - 1; n >= 0 && s.from <= joined[n].to {
			joined[n].to = max(joined[n].to, s.to)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// meets says whether one of spans, which are in order, lasts at some time of [from, to].
func meets(spans []span, from, to int64) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].to >= from })
	return i < len(spans) && spans[i].from <= to
}
