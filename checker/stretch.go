package checker

import (
	"cmp"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// stretch is a time for which somebody waited: few waits that span it, in order.
type stretch struct {
	from, to int64
	waits    []trace.Wait
}

// joined cuts waits, which are in the order of their start, to [from, to] and
// joins those that follow each other within a quarter of a lease: a client that
// is refused and asks again goes on waiting. Two refusals as held by another may be
// further apart, up to a time: nobody can have been granted the key between them.
func (r *run) joined(waits []trace.Wait, from, to, refused int64) []stretch {
	near := int64(r.Setup.Lease) / 4
	var joined []stretch
	for _, w := range waits {
		w.From, w.To = max(w.From, from), min(w.To, to)
		if w.From >= w.To {
			continue
		}
		n, apart := len(joined)-1, near
		if n >= 0 && refused > near && r.busy(w) && r.busy(joined[n].last()) {
			apart = refused
		}
		if n >= 0 && w.From-joined[n].to <= apart {
			joined[n].add(w, apart)
			continue
		}
		joined = append(joined, stretch{w.From, w.To, []trace.Wait{w}})
	}
	return joined
}

// busy says that a wait came to be refused as held by another.
func (r *run) busy(w trace.Wait) bool { return w.Done >= 0 && r.Ops[w.Done].Busy }

func (s *stretch) last() trace.Wait { return s.waits[len(s.waits)-1] }

// add makes a stretch longer by a wait, and drops those that it takes the place of.
func (s *stretch) add(w trace.Wait, apart int64) {
	if w.To <= s.to {
		return
	}
	s.to = w.To
	for n := len(s.waits); n > 0; n-- {
		if n == 1 && w.From > s.from || n > 1 && w.From-s.waits[n-2].To > apart {
			break
		}
		s.waits = s.waits[:n-1]
	}
	s.waits = append(s.waits, w)
}

// within lists the operations of the waits that meet a part of the stretch.
func (s *stretch) within(from, to int64) (ops []int) {
	for _, w := range s.waits {
		if w.From < to && w.To > from {
			ops = append(ops, w.Invoke, w.Done)
		}
	}
	return ops
}

// alone are the times of more than our patience for which one client waited for what it asked for by some operations.
// Who is refused and asks again goes on.
func (r *run) alone(k *keyLog, by func(*history.Op) bool) (long []stretch) {
	open, apart := map[int]*stretch{}, int64(r.Setup.Lease)/4
	end := func(process int) {
		if s := open[process]; s != nil && s.to-s.from > r.patience() {
			long = append(long, *s)
		}
		delete(open, process)
	}
	waits := slices.Clone(k.Waits)
	slices.SortFunc(waits, func(a, b trace.Wait) int { return a.Invoke - b.Invoke })
	for _, w := range waits {
		op := &r.Ops[w.Invoke]
		if !by(op) {
			continue
		}
		w, known := r.lasted(w)
		if !known {
			continue
		}
		within := apart
		if s := open[op.Process]; s != nil && r.busy(w) && r.busy(s.last()) {
			within = max(apart, r.patience()/2)
		}
		if s := open[op.Process]; s != nil && w.From-s.to <= within {
			s.add(w, within)
		} else {
			end(op.Process)
			open[op.Process] = &stretch{w.From, w.To, []trace.Wait{w}}
		}
		if r.Ops[w.Done].Type != history.Fail {
			end(op.Process)
		}
	}
	for process := range open {
		end(process)
	}
	slices.SortFunc(long, func(a, b stretch) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.waits[0].Invoke, b.waits[0].Invoke))
	})
	return long
}
