package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/internal/nouns"
)

// availability looks, within each fault, for the longest time in which somebody
// waited for a key and it was granted to nobody. It may last as long as a lease
// and what the lock states for itself. Who is stopped is no witness, while a
// client reaches no majority of the servers nothing is owed to it, and as long as
// somebody whom the fault has not hit holds the lock it is not the fault that keeps it.
func availability(r *run) outcome {
	var f found
	limit := int64(r.setup.Lease) + int64(r.setup.Promise.Bound)
	faults, judged, stopped, waits, longest := 0, 0, 0, 0, int64(0)
	for _, in := range r.incidents() {
		faults++
		if !r.minority(in) {
			continue
		}
		judged++
		before := f.certain
		for _, k := range r.keysIn(in.from, min(in.to, r.end)) {
			d := r.drought(k, in)
			waits += d.waits
			longest = max(longest, d.to-d.from)
			if d.to-d.from > limit {
				waited := d.wait.within(d.from, d.to)
				f.add(r, Violation{Key: k.name, At: d.from + limit, Operations: append(waited, in.begin)},
					"During %s on %s nobody was granted %q for %s from %s, while %s waited.",
					in.kind, in.on(), k.name, length(d.to-d.from), r.seconds(d.from), r.ops[waited[0]].Node)
			}
		}
		if f.certain > before {
			stopped++
		}
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("The longest wait without any grant in %s was %s; a lease and the stated bound are %s.", nouns.Count(judged, "fault"), length(longest), length(limit)),
		summary: fmt.Sprintf("%s stopped all grants of a key for up to %s; a lease and the stated bound are %s.", nouns.Count(stopped, "fault"), length(longest), length(limit)),
	}
	switch {
	case faults == 0 && r.setup.Expect.Faults == 0:
		o.verdict, o.reason = NA, "The scenario has no fault."
	case faults == 0:
		o.verdict, o.reason = Unknown, "No fault began."
	case judged == 0:
		o.verdict, o.reason = NA, fmt.Sprintf("No minority was at fault: during %s no client reached a sound majority of the servers (%d).", nouns.Count(faults, "fault"), len(r.setup.Servers))
	case waits == 0 && r.setup.Expect.GrantsDuringFault == 0:
		o.verdict, o.reason = NA, fmt.Sprintf("Nobody waited for a key during %s, and the scenario asks for no grant there.", nouns.Count(judged, "fault"))
	case waits == 0:
		o.verdict, o.reason = Unknown, fmt.Sprintf("Nobody waited for a key during %s.", nouns.Count(judged, "fault"))
	}
	return o
}

// drought is the longest time without a grant that a wait saw.
type drought struct {
	from, to int64
	wait     stretch
	waits    int // that met the fault
}

// drought finds it for one key in one fault.
func (r *run) drought(k *keyLog, in *incident) drought {
	end := min(in.to, r.end)
	var waits []wait
	var held []span
	d := drought{}
	r.asked(k).in(in.from, end, func(node string, asked []wait) {
		if held == nil {
			held = r.holds(k, in, end)
		}
		for _, w := range asked {
			owed := without(span{from: max(w.from, in.from), to: min(w.to, end)}, r.outages(node))
			for _, o := range owed {
				for _, s := range without(o, held) {
					waits = append(waits, wait{invoke: w.invoke, done: w.done, from: s.from, to: s.to})
				}
			}
			d.waits += min(len(owed), 1)
		}
	})
	slices.SortStableFunc(waits, func(a, b wait) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.invoke, b.invoke)) })
	for _, w := range r.joined(waits, in.from, end) {
		if from, to := k.dry(w.from, w.to); to-from > d.to-d.from {
			d.from, d.to, d.wait = from, to, w
		}
	}
	return d
}

// holds are the times, in order, in which a client that a fault has not hit held
// the key, at least those that meet the fault. Those of a quarter of a lease and less
// change nothing: see joined.
func (r *run) holds(k *keyLog, in *incident, end int64) []span {
	if k.held == nil {
		k.heldBy = map[string]int{}
		latest := int64(-forever)
		for i, g := range k.grants {
			if _, before := k.heldBy[g.node]; !before {
				k.heldBy[g.node] = i
			}
			latest = max(latest, r.heldUntil(g))
			k.heldReach = append(k.heldReach, latest)
		}
		k.held = append([]span{}, r.heldFrom(k, 0, forever, nil)...)
	}
	hit := func(node string) bool {
		i, holds := k.heldBy[node]
		return holds && k.grants[i].ok < end
	}
	if !slices.ContainsFunc(in.victims, hit) {
		return k.held
	}
	// What was over when a grant was made has no part in it.
	first := sort.Search(len(k.grants), func(i int) bool { return k.heldReach[i] > in.from })
	for first < len(k.grants) {
		before := sort.Search(first, func(i int) bool { return k.heldReach[i] > k.grants[first].ok })
		if before == first {
			break
		}
		first = before
	}
	return append([]span{}, r.heldFrom(k, first, end, in.victims)...)
}

// heldFrom are the holds from a grant on that began before an end.
func (r *run) heldFrom(k *keyLog, first int, end int64, victims []string) (held []span) {
	last := int64(-forever)
	for _, g := range k.grants[first:] {
		if g.ok >= end {
			break
		}
		from, to := max(g.ok, last), r.heldUntil(g)
		if to-from > int64(r.setup.Lease)/4 && !slices.Contains(victims, g.node) {
			held, last = extend(held, from, to), to
		}
	}
	return held
}

// heldUntil is when the hold of a grant had certainly come to its end.
func (r *run) heldUntil(g *grant) int64 {
	to := min(g.end, r.end)
	if g.by != nil && !r.setup.Kind.Shares() {
		to = min(to, g.by.ok)
	}
	return to
}

// stretch is a time for which somebody waited: few waits that span it, in order.
type stretch struct {
	from, to int64
	waits    []wait
}

// joined cuts waits, which are in the order of their start, to [from, to] and
// joins those that follow each other within a quarter of a lease: a client that
// is refused and asks again goes on waiting.
func (r *run) joined(waits []wait, from, to int64) []stretch {
	apart := int64(r.setup.Lease) / 4
	var joined []stretch
	for _, w := range waits {
		w.from, w.to = max(w.from, from), min(w.to, to)
		if w.from >= w.to {
			continue
		}
		if n := len(joined) - 1; n >= 0 && w.from-joined[n].to <= apart {
			joined[n].add(w, apart)
			continue
		}
		joined = append(joined, stretch{w.from, w.to, []wait{w}})
	}
	return joined
}

// add makes a stretch longer by a wait, and drops those that it takes the place of.
func (s *stretch) add(w wait, apart int64) {
	if w.to <= s.to {
		return
	}
	s.to = w.to
	for n := len(s.waits); n > 0; n-- {
		if n == 1 && w.from > s.from || n > 1 && w.from-s.waits[n-2].to > apart {
			break
		}
		s.waits = s.waits[:n-1]
	}
	s.waits = append(s.waits, w)
}

// within lists the operations of the waits that meet a part of the stretch.
func (s *stretch) within(from, to int64) (ops []int) {
	for _, w := range s.waits {
		if w.from < to && w.to > from {
			ops = append(ops, w.invoke, w.done)
		}
	}
	return ops
}

// dry is the longest time between from and to without a grant of the key, the first of
// those that are as long.
func (k *keyLog) dry(from, to int64) (int64, int64) {
	if k.gaps == nil {
		k.gaps = &peaks{n: max(len(k.grants)-1, 0), value: func(i int) int64 { return k.grants[i+1].ok - k.grants[i].ok }}
	}
	first := sort.Search(len(k.grants), func(i int) bool { return k.grants[i].ok > from })
	end := sort.Search(len(k.grants), func(i int) bool { return k.grants[i].ok >= to })
	if first >= end {
		return from, to
	}
	longest := span{from: from, to: k.grants[first].ok}
	if i := k.gaps.in(first, end-1); i >= 0 && k.gaps.value(i) > longest.to-longest.from {
		longest = span{from: k.grants[i].ok, to: k.grants[i+1].ok}
	}
	if last := k.grants[end-1].ok; to-last > longest.to-longest.from {
		longest = span{from: last, to: to}
	}
	return longest.from, longest.to
}
