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
			if death := r.deathAfter(r.ops[w.invoke].Node, w.from); death != nil {
				end = death.from
			}
		case r.ops[w.done].Type != history.Info:
			continue
		}
		spans = append(spans, span{from: w.from, to: after(end, r.aftermath())})
	}
	k.ghostly = union(spans)
	return k.ghostly
}

// deathAfter is the first kill of a node after t; nil: it was not killed.
func (r *run) deathAfter(node string, t int64) *fault {
	kills := r.killsOf(node)
	if i := sort.Search(len(kills), func(i int) bool { return kills[i].from >= t }); i < len(kills) {
		return kills[i]
	}
	return nil
}

// lasted is a wait as long as it is known to have gone on. One that never came to an
// end did so until its client was killed or asked to end, and that note stands in for its
// completion; false: nothing is known of it.
func (r *run) lasted(w wait) (wait, bool) {
	if w.done >= 0 {
		return w, true
	}
	node := r.ops[w.invoke].Node
	if stop, ok := r.stops[node]; ok {
		w.done, w.to = stop, r.ops[stop].Time
	}
	if death := r.deathAfter(node, w.from); death != nil && death.from < w.to {
		w.done, w.to = death.begin, death.from
	}
	return w, w.done >= 0 && w.from < w.to
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
