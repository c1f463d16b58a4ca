package models

import (
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
)

// ownerless judges a mutex, or a semaphore of N, that anybody may give back.
//
// Operations of a kind (acquire, release) do the same, so a schedule is legal if
// the count of permits stays within 0 and N. Linearize only when forced: when an
// operation returns that has no place yet, put it there; if the count does not
// allow it, put one pending operation of the other kind before it, the one that
// returns first (earliest deadline first); if there is none the history is not
// linearizable. Waiting never hurts: take any legal schedule, and of what it
// places before that return move all but the forced operation behind it; they
// are still pending, their sum is the same, and as both ends are within 0 and N
// they have an order that stays within. Earliest deadline first never hurts: of
// two pending operations of a kind exchange the places.
//
// With the returns known beforehand that is two heaps and O(n log n). In a
// stream they are not, so a use is noted with its time and gets its operation
// later: an operation that returns takes the earliest use after its call, which
// is the use that earliest deadline first would have given it, as all that
// returned before it have theirs. A use can be made if at least as many
// operations are pending as uses are open; calls and uses keep that true, and a
// failure, which takes a call away, is the only time to look again.
//
// Memory: what is pending and the unknown outcomes, 8 bytes each.
type ownerless struct {
	k       *keyLog
	found   *found
	permits int
	out     int     // permits that are out
	kinds   [2]pool // acquires, releases
}

// pool is one kind of operation.
type pool struct {
	calls []int // pending ones and those of unknown outcome, ascending
	uses  []use // without an operation as yet, ascending
}

// use is a place that some operation pending then took.
type use struct {
	at     int
	forced [2]Ref // the operation whose return forced it
}

func newOwnerless(o Options) Decider {
	return newFront(rules{name: "ownerless", fs: []F{Acquire, Try, Release}, judge: func(k *keyLog, f *found) judge {
		return &ownerless{k: k, found: f, permits: o.permits()}
	}}, o)
}

func (u *ownerless) kind(op *operation) (mine, other *pool, step int) {
	if op.F == Release {
		return &u.kinds[1], &u.kinds[0], -1
	}
	return &u.kinds[0], &u.kinds[1], 1
}

func (u *ownerless) call(op *operation) string {
	mine, _, _ := u.kind(op)
	mine.calls = append(mine.calls, op.call.Index)
	return ""
}

func (u *ownerless) done(op *operation) {
	mine, other, step := u.kind(op)
	switch op.Type {
	case history.OK:
		mine.drop(op.call.Index)
		if !mine.take(op.call.Index) {
			u.force(op, other, step)
		}
	case history.Fail:
		mine.drop(op.call.Index)
		u.failed(mine, op)
	}
}

func (u *ownerless) end() {}

// force puts an operation at its return.
func (u *ownerless) force(op *operation, other *pool, step int) {
	if u.out+step >= 0 && u.out+step <= u.permits {
		u.out += step
		return
	}
	if len(other.calls) > len(other.uses) {
		other.uses = append(other.uses, use{op.ret.Index, [2]Ref{op.call, op.ret}})
		return // the other, then this one: the count is as before
	}
	u.found.add(op.ret.Index, u.k.name, []Ref{op.call, op.ret}, func() string {
		if step > 0 {
			return fmt.Sprintf("%s was granted %sat %s, when %d of %d permits were out and nobody was giving one back.",
				op.who(), keyed(u.k), op.ret, u.out, u.permits)
		}
		return fmt.Sprintf("%s gave back %sat %s, when nobody held it and nobody was taking it.", op.who(), keyed(u.k), op.ret)
	})
}

// failed looks whether the uses still have their operations.
func (u *ownerless) failed(s *pool, op *operation) {
	from := sort.Search(len(s.uses), func(i int) bool { return s.uses[i].at > op.call.Index })
	for i := from; i < len(s.uses); i++ {
		if sort.SearchInts(s.calls, s.uses[i].at) > i {
			continue
		}
		forced := s.uses[i]
		s.uses = slices.Delete(s.uses, i, i+1)
		u.found.add(forced.at, u.k.name, []Ref{op.call, op.ret, forced.forced[0], forced.forced[1]}, func() string {
			return fmt.Sprintf("What returned at %s needed the %s %sof %s, which failed at %s.", forced.forced[1], op.F, keyed(u.k), op.who(), op.ret)
		})
		return
	}
}

func (s *pool) drop(call int) {
	if i, ok := slices.BinarySearch(s.calls, call); ok {
		s.calls = slices.Delete(s.calls, i, i+1)
	}
}

// take gives an operation the earliest use after its call.
func (s *pool) take(call int) bool {
	i := sort.Search(len(s.uses), func(i int) bool { return s.uses[i].at > call })
	if i == len(s.uses) {
		return false
	}
	s.uses = slices.Delete(s.uses, i, i+1)
	return true
}
