package models

import (
	"encoding/binary"
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
// The limits are a time and how many ways are remembered: those with as many operations of
// known outcome behind them as the one at hand, or more.
type unknowns struct {
	sure  []Op // of known outcome, by their calls
	kinds []alike
	ways  map[int]*ways // by how many sure operations are behind
	kept  int
}

// alike is what some operations of unknown outcome ask for.
type alike struct {
	op    *Op
	calls []int
}

// place is where an order has come to: the sure operations before low and those of beyond
// are behind it.
type place struct {
	low    int
	beyond []int
	value  string
}

// way is one way to a place: of each kind, how many it used.
type way struct {
	place
	used   []uint16
	worse  bool // than another
	placed string
}

// ways are those with as many sure operations behind them.
type ways struct {
	to    map[string][]*way
	queue []*way
}

// waysKept bounds what is remembered, to some 100 MB.
const waysKept = 1 << 18

// newUnknowns is nil where no outcome is unknown, or something else is done than to read,
// write and compare.
func newUnknowns(ops []Op) *unknowns {
	u := &unknowns{ways: map[int]*ways{}}
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
	u.reach(place{value: initial}, make([]uint16, len(u.kinds)))
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

// open are the sure operations that may come next, and the first return among those not
// behind a place, before which whatever comes next was called.
func (u *unknowns) open(p *place) (next []int, first int) {
	first = math.MaxInt
	beyond := p.beyond
	for i := p.low; i < len(u.sure) && u.sure[i].Call < first; i++ {
		if len(beyond) > 0 && beyond[0] == i {
			beyond = beyond[1:]
			continue
		}
		next = append(next, i)
		first = min(first, u.sure[i].Return)
	}
	return slices.DeleteFunc(next, func(i int) bool { return u.sure[i].Call > first }), first
}

// behind puts one more sure operation behind a place.
func (u *unknowns) behind(p place, i int, value string) place {
	at, _ := slices.BinarySearch(p.beyond, i)
	p.beyond = slices.Insert(slices.Clone(p.beyond), at, i)
	for p.value = value; len(p.beyond) > 0 && p.beyond[0] == p.low; p.low++ {
		p.beyond = p.beyond[1:]
	}
	return p
}

// reach notes a way to a place, and first goes on over what changes nothing there.
func (u *unknowns) reach(p place, used []uint16) {
	for settled := false; !settled; {
		settled = true
		next, _ := u.open(&p)
		for _, i := range next {
			if op := &u.sure[i]; op.legal(p.value) && op.after(p.value) == p.value && op.F != Write {
				p, settled = u.behind(p, i, p.value), false
				break
			}
		}
	}
	done := p.low + len(p.beyond)
	w := u.ways[done]
	if w == nil {
		w = &ways{to: map[string][]*way{}}
		u.ways[done] = w
	}
	one := &way{place: p, used: used, placed: p.name()}
	for _, other := range w.to[one.placed] {
		if noMore(other.used, used) {
			return
		}
		other.worse = other.worse || noMore(used, other.used)
	}
	w.to[one.placed] = append(slices.DeleteFunc(w.to[one.placed], func(o *way) bool { return o.worse }), one)
	w.queue = append(w.queue, one)
	u.kept++
}

// noMore says that a used no more of any kind than b.
func noMore(a, b []uint16) bool {
	for i := range a {
		if a[i] > b[i] {
			return false
		}
	}
	return true
}

// name tells places with as many sure operations behind them apart.
func (p *place) name() string {
	b := binary.AppendUvarint(nil, uint64(p.low))
	b = binary.AppendUvarint(b, uint64(len(p.beyond)))
	for _, i := range p.beyond {
		b = binary.AppendUvarint(b, uint64(i-p.low))
	}
	return string(b) + p.value
}

// legal says whether an operation of a register may stand where a value is.
func (op *Op) legal(value string) bool {
	switch {
	case op.F == Read:
		return op.Value == value
	case op.F == CAS && op.Type == history.Fail:
		return op.Old != value
	}
	return op.F == Write || op.Old == value
}

// after is what a register has behind an operation that is legal there.
func (op *Op) after(value string) string {
	if op.F == Read || op.Type == history.Fail {
		return value
	}
	return op.Value
}
