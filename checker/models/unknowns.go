package models

import (
	"math"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// unknowns searches an order for a register of which some outcomes are unknown, where
// Porcupine tries every subset of them. Here those that ask for the same are one kind, of
// which only the number that had an effect counts: of two of a kind, the one that was called
// first can always stand for the other. One that had none may have it at any later time, so
// of two ways to the same place the one that used no more of any kind is as good as the
// other, which is dropped. What changes nothing and is legal where it stands is taken at once.
//
// It goes deep first, as one order is enough. Where that does not end soon it goes by how many
// operations of known outcome are behind a place, so that only places with as many or more are
// to be remembered. The limits are a time and how many ways are remembered.
type unknowns struct {
	sure  []Op // of known outcome, by their calls
	kinds []alike
	ways  map[int]*ways // by how many sure operations are behind
	kept  int
	// furthest is the most sure operations that were behind a place lately.
	furthest int
}

// alike is what some operations of unknown outcome ask for.
type alike struct {
	op    *Op
	calls []int
}

// waysKept bounds what is remembered, to some 100 MB, and deepKept what is of the first search.
const waysKept, deepKept = 1 << 18, 1 << 14

// newUnknowns is nil where no outcome is unknown, or something else is done than to read,
// write and compare.
func newUnknowns(ops []Op) *unknowns {
	u := &unknowns{}
	of := map[[3]string]int{}
	for i := range ops {
		op := &ops[i]
		switch {
		case op.F != Read && op.F != Write && op.F != CAS:
			return nil
		case op.Type == history.OK, op.Type == history.Fail && op.F == CAS:
			u.sure = append(u.sure, *op)
		case op.Type == history.Info && op.F != Read:
			name := [3]string{string(op.F), op.Old, op.Value}
			n, known := of[name]
			if !known {
				n = len(u.kinds)
				of[name] = n
				u.kinds = append(u.kinds, alike{op: op})
			}
			u.kinds[n].calls = append(u.kinds[n].calls, op.Call)
		}
	}
	if len(u.kinds) == 0 || len(ops) > math.MaxUint16 {
		return nil
	}
	slices.SortFunc(u.sure, func(a, b Op) int { return a.Call - b.Call })
	for i := range u.kinds {
		slices.Sort(u.kinds[i].calls)
	}
	return u
}

// decide says Legal or Illegal, or nothing where it gives up.
func (u *unknowns) decide(initial string, limit time.Duration) string {
	until := time.Now().Add(limit)
	for _, search := range []func(time.Time) string{u.deep, u.broad} {
		u.begin(initial)
		if said := search(until); said != "" {
			return said
		}
	}
	return ""
}

// begin forgets what was reached, and is at the beginning.
func (u *unknowns) begin(initial string) {
	u.ways, u.kept, u.furthest = map[int]*ways{}, 0, 0
	u.reach(place{value: initial}, make([]uint16, len(u.kinds)))
}

// deep goes on from the place that has come furthest. It keeps all of them.
func (u *unknowns) deep(until time.Time) string {
	most := deepKept + 2*len(u.sure)
	for done := u.furthest; done >= 0; {
		w := u.ways[done]
		if done == len(u.sure) && w != nil {
			return Legal
		}
		if w == nil || len(w.queue) == 0 {
			done--
			continue
		}
		at := w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		if at.worse {
			continue
		}
		if u.kept > most || time.Now().After(until) {
			return ""
		}
		u.furthest = done
		u.onward(at)
		done = u.furthest
	}
	return Illegal
}

// broad goes through the places by how many sure operations are behind them.
func (u *unknowns) broad(until time.Time) string {
	for done := range len(u.sure) {
		w := u.ways[done]
		for i := 0; w != nil && i < len(w.queue); i++ {
			if at := w.queue[i]; !at.worse {
				u.onward(at)
			}
			if u.kept > waysKept || time.Now().After(until) {
				return ""
			}
		}
		if w != nil {
			u.kept -= len(w.queue)
			delete(u.ways, done)
		}
	}
	if u.ways[len(u.sure)] == nil {
		return Illegal
	}
	return Legal
}

// onward takes each step that is possible from a place.
func (u *unknowns) onward(at *way) {
	next, first := u.open(&at.place)
	for _, i := range next {
		if op := &u.sure[i]; op.legal(at.value) {
			u.reach(u.behind(at.place, i, op.after(at.value)), at.used)
		}
	}
	for n := range u.kinds {
		k, used := &u.kinds[n], int(at.used[n])
		if used == len(k.calls) || k.calls[used] > first || !k.op.legal(at.value) || k.op.Value == at.value {
			continue
		}
		more := slices.Clone(at.used)
		more[n]++
		to := at.place
		to.value = k.op.Value
		u.reach(to, more)
	}
}
