package checker

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// stuckPermits finds the times of more than our patience in which nobody was granted permits of k, although somebody waited all the
// time and as many were free as any of those who waited asked for. Permits are given all or none, so whoever is the first in the queue,
// if there is one, could have been granted what it asked for. O(n p log n) for p permits.
func (r *run) stuckPermits(k *keyLog, f *found) {
	if r.Setup.Kind != history.Semaphore {
		return
	}
	var all asker
	for _, w := range k.Waits {
		if w, known := r.lasted(w); known {
			all.add(w)
		}
	}
	told := toldOf(f)
	for _, s := range r.soundOf(k, r.enoughForEach(k, r.holdsOf(k))) {
		first, end := k.granted(s.From, s.To)
		for _, g := range k.Grants[first:end] {
			r.tellPermits(k, trace.Span{From: s.From, To: g.OK}, &all, told, f)
			s.From = g.OK
		}
		r.tellPermits(k, s, &all, told, f)
	}
}

func (r *run) tellPermits(k *keyLog, s trace.Span, all *asker, told map[int]bool, f *found) {
	if s.To-s.From <= r.patience() {
		return
	}
	for _, w := range r.joined(all.meeting(s.From, s.To), s.From, s.To, 0) {
		if w.to-w.from <= r.patience() || slices.ContainsFunc(w.waits, func(one trace.Wait) bool { return told[one.Invoke] }) {
			continue
		}
		f.add(r, Violation{Key: k.Name, At: w.from + r.patience(), Operations: w.within(w.from, w.to),
			lasts: trace.Span{From: w.from, To: w.to}, limit: r.patience()},
			"%s waited for %q from %s to %s and nobody was granted it, although of %d permits as many were free as any of those who "+
				"waited had asked for, and no fault that concerns it was open.",
			r.whoWaited(w.within(w.from, w.to)), k.Name, r.seconds(w.from), r.seconds(w.to), r.Setup.Permits)
	}
}

// enoughForEach are the times, in order, in which as many permits of k were free beside some holds as any of those who waited, or was about to hold more,
// asked for.
func (r *run) enoughForEach(k *keyLog, holds []trace.Share) []trace.Span {
	var held []roomChange
	for _, h := range holds {
		held = takes(held, h.From, h.To, max(1, int64(h.Permits)))
	}
	permits := int64(r.Setup.Permits)
	for _, g := range k.Grants {
		for _, w := range r.changes(g) {
			held = takes(held, w.From, r.placeUntil(k, w), permits)
		}
	}
	var free []trace.Span
	for most := int64(1); most <= permits; most++ {
		changes := slices.Clone(held)
		for _, w := range k.Waits {
			if int64(r.Ops[w.Invoke].Permits) > most {
				changes = takes(changes, w.From, r.placeUntil(k, w), permits)
			}
		}
		free = append(free, r.freeOf(permits-most, changes)...)
	}
	return trace.Union(free)
}
