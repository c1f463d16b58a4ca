package models

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// try judges a mutex of which a failed try says: at some instant of it another
// owner held the lock.
//
// The holds themselves are judged as those of a mutex, and their order is that
// of the acquires' returns. For the tries they should last as long as they can:
// put each release at its return and each acquire at its call. Where the next
// hold can begin before the last must have ended, the gap between them shrinks
// to an instant, and no try lies in an instant. Otherwise the gap from the
// return of the release to the call of the next acquire is free in every
// linearization; the gaps do not depend on each other. So a failed try is
// wrong if and only if all of it lies in such a gap, or its own owner held the
// lock all the time. A release of unknown outcome may come as late as the next
// hold lets it; an acquire of unknown outcome can have an effect only after all
// other holds, as its owner, who is retired, never gives back.
//
// Memory: beside the holds, the failed tries of one gap. O(n).
type try struct {
	holds
	grants  int         // acquires that returned
	last    int         // index of the last of these returns
	over    bool        // the release of that hold has returned
	gap     []operation // failed tries that lie in the gap that lasts, by their returns
	unknown int         // index of the earliest call of an acquire of unknown outcome; -1: none
}

func newTry(o Options) Decider {
	return newFront(rules{name: "try", fs: []F{Acquire, Try, Release}, owners: true, judge: func(k *keyLog, f *found) judge {
		return &try{holds: holds{kind: kind{tries: true}, k: k, found: f}, over: true, unknown: -1}
	}}, o)
}

// call notes whether the lock is free for certain when a try begins.
func (t *try) call(op *operation) string {
	op.mark = -1
	if op.F == Try && t.over && t.writers.n == 0 {
		op.mark = t.grants
	}
	return t.holds.call(op)
}

func (t *try) done(op *operation) {
	switch {
	case !taking(op.F):
		if op.Type == history.OK && op.hold != nil && op.hold.ret.Index == t.last {
			t.over = true
		}
	case op.Type == history.OK:
		t.grants++
		t.last, t.over = op.ret.Index, false
		t.close(op.call.Index)
	case op.Type == history.Info && (t.unknown < 0 || op.call.Index < t.unknown):
		t.unknown = op.call.Index
	case op.Type == history.Fail && op.F == Try:
		t.refused(op)
	}
	t.holds.done(op)
}

func (t *try) refused(op *operation) {
	if held := op.owner.hold; held != nil {
		t.found.add(op.ret.Index, t.k.name, []Ref{held.call, held.ret, op.call, op.ret}, func() string {
			return fmt.Sprintf("%s was refused %sat %s as if another held it, but held it itself since %s.", op.who(), t.of(), op.ret, held.ret)
		})
		return
	}
	if op.mark == t.grants {
		t.gap = append(t.gap, *op)
	}
}

// close ends a gap: the next hold may have begun at index begin.
func (t *try) close(begin int) {
	for i := range t.gap {
		if op := t.gap[i]; op.ret.Index < begin {
			t.found.add(op.ret.Index, t.k.name, []Ref{op.call, op.ret}, func() string {
				return fmt.Sprintf("%s was refused %sat %s as if another held it, but nobody did since before %s.", op.who(), t.of(), op.ret, op.call)
			})
		}
	}
	t.gap = t.gap[:0]
}

func (t *try) end() {
	if t.unknown < 0 {
		t.unknown = int(^uint(0) >> 1)
	}
	t.close(t.unknown)
}
