package checker

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// excused are the times, in order, in which a holder that a fault has not hit keeps k from who waits. Where several may hold it at once, it does
// so only while there is no room beside all holders for whoever of those who wait may come first.
func (r *run) excused(k *keyLog, in *incident, end int64) []trace.Span {
	held := r.holds(k, in, end)
	if !in.room || !r.Setup.Kind.Shares() || len(held) == 0 {
		return held
	}
	return append([]trace.Span{}, eachWithout(held, r.roomIn(k, in, end))...)
}

// roomIn are the times, in order, in which any of those who wait for k could have been let in beside who had it. What becomes free is
// given after as long as may lie between two requests of one wait, see joined: so no wait goes on over a time without room.
func (r *run) roomIn(k *keyLog, in *incident, end int64) (room []trace.Span) {
	free, unheard := k.free, r.unheardIn(k, in, end)
	switch {
	case len(unheard) > 0:
		free = r.freeForEach(k, unheard)
	case free == nil:
		k.free = append([]trace.Span{}, r.freeForEach(k, nil)...)
		free = k.free
	}
	apart := max(int64(r.Setup.Lease)/4, in.refused)
	for _, s := range free {
		if s.From > r.Begin {
			s.From = after(s.From, apart)
		}
		if s.From < s.To {
			room = append(room, s)
		}
	}
	return room
}

// freeForEach are the times, in order, in which there is room beside all holders of k, and some more, for each of those who wait: as many permits
// as any of them asks for, or no writer that has the key or waits for it.
func (r *run) freeForEach(k *keyLog, more []trace.Share) []trace.Span {
	holds := append(r.holdsOf(k), more...)
	if r.Setup.Kind == history.Semaphore {
		return r.enoughForEach(k, holds)
	}
	return r.freeOf(r.demand(k, holds))
}

// unheardIn are the shares that clients may have been granted, unknown to them, since a fault kept the answer from them: that is in nobody's way but by
// what it takes. Whoever was refused had none.
func (r *run) unheardIn(k *keyLog, in *incident, end int64) (all []trace.Share) {
	for _, w := range k.Waits {
		op := &r.Ops[w.Invoke]
		h := in.hit[op.Node]
		if h == nil || w.From >= end || w.To <= in.from || w.Done >= 0 && r.Ops[w.Done].Type == history.Fail {
			continue
		}
		away := slices.Concat(h.stopped, h.mute, r.outages(op.Node))
		if !slices.ContainsFunc(away, func(s trace.Span) bool { return s.From < w.To && s.To > w.From }) {
			continue
		}
		all = append(all, trace.Share{From: w.From, To: r.placeUntil(k, w), Permits: int(op.Permits), Exclusive: trace.ModeOf(op) != history.Shared})
	}
	return all
}
