package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// stuckShares looks at what several may hold at once: who waits for longer than our patience
// beside free permits, or as a reader beside readers alone. There others may be granted the key
// meanwhile, so each client is looked at alone, and somebody else's grant ends no wait of its. Who
// waits for more permits, or as a writer, may come first in a queue: beside it nothing is owed.
// O(n log n), as few wait for so long.
func (r *run) stuckShares(k *keyLog, f *found) {
	if !r.Setup.Kind.Shares() {
		return
	}
	long := r.alone(k, r.mayShare)
	if len(long) == 0 {
		return
	}
	free, told := r.room(k), toldOf(f)
	for _, w := range long {
		part, stuck := r.freeFor(w, free, told)
		although := r.shared()
		if ahead := r.aheadOf(k, w); !stuck && ahead != nil {
			part, stuck = r.freeFor(w, r.soundOf(k, r.freeOf(r.demandOf(ahead, k, r.holdsOf(k)))), told)
			although = "at most readers held it, and each writer that waited came behind it"
		}
		if stuck {
			f.add(r, Violation{Key: k.Name, At: part.From + r.patience(), Operations: w.within(part.From, part.To), lasts: part, limit: r.patience()},
				"%s waited for %q from %s to %s although %s, and no fault that concerns it was open.",
				r.Ops[w.waits[0].Invoke].Node, k.Name, r.seconds(part.From), r.seconds(part.To), although)
		}
	}
}

// stuckInTurn looks at those who waited in vain one after the other, each for a quarter of a lease at least, so that it asked more than once
// where a lock asks again and again: for longer than our patience somebody waited, what it waited for was free, and none of them was given it.
func (r *run) stuckInTurn(k *keyLog, f *found) {
	if !r.Setup.Kind.Shares() {
		return
	}
	var vain asker
	told := toldOf(f)
	for _, w := range k.Waits {
		if !r.mayShare(&r.Ops[w.Invoke]) || r.Ops[w.Invoke].F != history.Acquire || w.Done < 0 || r.Ops[w.Done].Type != history.Fail ||
			w.To-w.From < int64(r.Setup.Lease)/4 || told[w.Invoke] {
			continue
		}
		vain.add(w)
	}
	if len(vain.waits) < 2 {
		return
	}
	for _, s := range r.room(k) {
		if s.To-s.From <= r.patience() {
			continue
		}
		for _, w := range r.joined(vain.meeting(s.From, s.To), s.From, s.To, 0) {
			if w.to-w.from <= r.patience() {
				continue
			}
			ops := w.within(w.from, w.to)
			f.add(r, Violation{Key: k.Name, At: w.from + r.patience(), Operations: ops, lasts: trace.Span{From: w.from, To: w.to}, limit: r.patience()},
				"%s waited in vain for %q from %s to %s although %s, and no fault that concerns it was open.",
				r.whoWaited(ops), k.Name, r.seconds(w.from), r.seconds(w.to), r.shared())
		}
	}
}

// aheadOf are the waits for k but those of writers whose place is behind that of a reader: of a lock that serves its waiters in their order, both
// were granted it, and their tokens tell who was first. nil: there are none.
func (r *run) aheadOf(k *keyLog, w stretch) []trace.Wait {
	g := r.endsIn(w.last())
	if r.Setup.Kind != history.ReadWrite || !r.Setup.Promise.Order || g == nil || g.Token == 0 {
		return nil
	}
	ahead := slices.DeleteFunc(slices.Clone(k.Waits), func(o trace.Wait) bool {
		h := r.endsIn(o)
		return h != nil && h.Mode == history.Exclusive && h.Token > g.Token
	})
	if len(ahead) == len(k.Waits) {
		return nil
	}
	return ahead
}

// endsIn is the grant that a wait came to; nil: none.
func (r *run) endsIn(w trace.Wait) *trace.Grant {
	if w.Done < 0 || r.Ops[w.Done].Type != history.OK {
		return nil
	}
	return r.ByOwner[r.Ops[w.Done].Owner]
}

// mayShare says that an acquire asks for what others may have beside it.
func (r *run) mayShare(op *history.Op) bool {
	return r.Setup.Kind == history.Semaphore || r.Setup.Kind == history.ReadWrite && trace.ModeOf(op) == history.Shared
}

// toldOf are the operations of what was found.
func toldOf(f *found) map[int]bool {
	told := map[int]bool{}
	for i := range f.list {
		for _, op := range f.list[i].Operations {
			told[op] = true
		}
	}
	return told
}

// freeFor is the first part of a wait, longer than our patience, in which what is waited for was free, and whether there
// is one and nothing is told of the wait yet.
func (r *run) freeFor(w stretch, free []trace.Span, told map[int]bool) (part trace.Span, stuck bool) {
	if slices.ContainsFunc(w.waits, func(one trace.Wait) bool { return told[one.Invoke] }) {
		return part, false
	}
	first := sort.Search(len(free), func(i int) bool { return free[i].To > w.from })
	for _, s := range free[first:] {
		part = trace.Span{From: max(s.From, w.from), To: min(s.To, w.to)}
		if part.From >= w.to || part.To-part.From > r.patience() {
			return part, part.To-part.From > r.patience()
		}
	}
	return part, false
}

// shared says what was free all the time.
func (r *run) shared() string {
	if r.Setup.Kind == history.Semaphore {
		return fmt.Sprintf("of %d permits enough were free", r.Setup.Permits)
	}
	return "at most readers held it and no writer waited"
}

// room are the times, in order, in which whoever waits for a share of k could have been given it.
func (r *run) room(k *keyLog) []trace.Span { return r.soundOf(k, r.freeOf(r.demand(k, r.holdsOf(k)))) }

// holdsOf are the shares that were held, each until the answer to its release.
func (r *run) holdsOf(k *keyLog) (holds []trace.Share) {
	for _, g := range k.Grants {
		to := r.keepsUntil(g)
		if g.Done >= 0 {
			to = max(to, r.Ops[g.Done].Time)
		}
		holds = append(holds, r.taken(g, g.OK, to)...)
	}
	return holds
}

// soundOf are the parts of some times in which no fault that concerns k was open, and no acquire of unknown outcome may have taken k, see ghost.
func (r *run) soundOf(k *keyLog, free []trace.Span) (sound []trace.Span) {
	unknown := r.unsureFor(k)
	for _, w := range k.Waits {
		if w.Done >= 0 && r.Ops[w.Done].Type == history.Info {
			unknown = append(unknown, r.ghost(w))
		}
	}
	unknown = trace.Union(unknown)
	for _, s := range free {
		for _, part := range without(s, r.overs(k)) {
			sound = append(sound, without(part, unknown)...)
		}
	}
	return sound
}

// freeOf are the times in which no more than so much is taken.
func (r *run) freeOf(most int64, changes []roomChange) (free []trace.Span) {
	slices.SortFunc(changes, func(a, b roomChange) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	taken, from := int64(0), r.Begin
	for _, c := range changes {
		was := taken <= most
		taken += c.by
		switch is := taken <= most; {
		case was && !is:
			free = append(free, trace.Span{From: from, To: c.at})
		case !was && is:
			from = c.at
		}
	}
	if taken <= most && from < r.End {
		free = append(free, trace.Span{From: from, To: r.End})
	}
	return free
}

// freeOfAll are the times in which nothing at all is held.
func (r *run) freeOfAll(held []trace.Share) []trace.Span {
	changes := make([]roomChange, 0, 2*len(held))
	for _, h := range held {
		changes = append(changes, roomChange{h.From, 1}, roomChange{h.To, -1})
	}
	return r.freeOf(0, changes)
}

// roomChange is a time at which more or less is taken.
type roomChange struct{ at, by int64 }

// takes adds that so much is taken for a time.
func takes(changes []roomChange, from, to, by int64) []roomChange {
	if by <= 0 || from >= to {
		return changes
	}
	return append(changes, roomChange{from, by}, roomChange{to, -by})
}

// demand is how much may be taken beside a request, and the times at which that changes: by
// holders until the answer to their release, by who waits for several permits and, of a read-write lock, by
// writers that wait.
func (r *run) demand(k *keyLog, holds []trace.Share) (most int64, changes []roomChange) {
	return r.demandOf(k.Waits, k, holds)
}

// demandOf is demand of some of those who wait.
func (r *run) demandOf(waits []trace.Wait, k *keyLog, holds []trace.Share) (most int64, changes []roomChange) {
	take := func(from, to, by int64) { changes = takes(changes, from, to, by) }
	semaphore := r.Setup.Kind == history.Semaphore
	for _, w := range waits {
		w.To = r.placeUntil(k, w)
		switch op := &r.Ops[w.Invoke]; {
		case semaphore: // who waits for more, and may be the first of the queue, waits for all of them
			take(w.From, w.To, int64(op.Permits)-1)
		case trace.ModeOf(op) != history.Shared:
			take(w.From, w.To, 1)
		}
	}
	for _, h := range holds {
		switch {
		case semaphore:
			take(h.From, h.To, max(1, int64(h.Permits)))
		case h.Exclusive:
			take(h.From, h.To, 1)
		}
	}
	if semaphore {
		most = int64(r.Setup.Permits) - 1
	}
	return most, changes
}

// placeUntil is until when a wait may have a place in the queue of k: that of who never heard an answer ends with its client.
func (r *run) placeUntil(k *keyLog, w trace.Wait) int64 {
	if gone, known := r.knownEnd(w); known && w.Done < 0 {
		return after(gone.To, r.mayBeGranted(k))
	}
	return w.To
}
