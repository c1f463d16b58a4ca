package models

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

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
	u.furthest = max(u.furthest, done)
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
