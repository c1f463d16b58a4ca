package models

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// zones decides a register of which no value is written twice, in O(n log n): Gibbons
// and Korach 1997. A write and the reads of its value are a cluster, with a zone between
// its first return and its last call. Where the return comes first the register certainly
// has the value in between. Such a history is linearizable if and only if each value that
// was read had been asked to be written by then, no two such stretches overlap, and none
// has all of another cluster in it. A write of unknown outcome counts if it was read.
// ok is false where a value is written twice, or something else is done than to read and
// write.
func zones(initial string, ops []Op) (bad []int, ok bool) {
	all := map[string]*zone{initial: {first: -1, last: -1, call: -1, from: -1, to: -1, read: true}}
	for i := range ops {
		op := &ops[i]
		switch {
		case op.F == Write && op.Type != history.Fail:
			if all[op.Value] != nil {
				return nil, false
			}
			z := &zone{first: math.MaxInt, last: op.Call, call: op.Call, from: i, to: i}
			if op.Type == history.OK {
				z.first, z.read = op.Return, true
			}
			all[op.Value] = z
		case op.F != Read && op.Type != history.Fail, op.F == CAS:
			return nil, false
		}
	}
	for i := range ops {
		op := &ops[i]
		if op.F != Read || op.Type != history.OK {
			continue
		}
		z := all[op.Value]
		if z == nil || z.call > op.Return {
			return []int{i}, true
		}
		z.read = true
		if op.Return < z.first {
			z.first, z.from = op.Return, i
		}
		if op.Call > z.last {
			z.last, z.to = op.Call, i
		}
	}
	return clash(all), true
}

// unwritten is the first operation that saw what nobody had asked to write by its return; -1:
// there is none, or something else is done than to read, write and compare.
func unwritten(initial string, ops []Op) int {
	asked := map[string]int{initial: -1} // the first call
	for i := range ops {
		op := &ops[i]
		switch {
		case op.F != Read && op.F != Write && op.F != CAS:
			return -1
		case op.F == Read, op.Type == history.Fail, op.F == CAS && op.Old == op.Value:
		default:
			if first, known := asked[op.Value]; !known || op.Call < first {
				asked[op.Value] = op.Call
			}
		}
	}
	return slices.IndexFunc(ops, func(op Op) bool {
		if op.Type != history.OK || op.F == Write {
			return false
		}
		saw := op.Value
		if op.F == CAS {
			saw = op.Old
		}
		first, known := asked[saw]
		return !known || first > op.Return
	})
}

// zone is what is known of one value: the first return and the last call of its cluster.
type zone struct {
	first, last int
	call        int  // of the write
	from, to    int  // the operations that returned first and were called last; -1: what was there at first
	read        bool // the write happened
}

// clash names the operations of two zones that have no place beside each other.
func clash(all map[string]*zone) []int {
	var forward, backward []*zone
	for _, z := range all {
		switch {
		case !z.read:
		case z.first < z.last:
			forward = append(forward, z)
		default:
			backward = append(backward, z)
		}
	}
	slices.SortFunc(forward, func(a, b *zone) int { return cmp.Compare(a.first, b.first) })
	for i := 1; i < len(forward); i++ {
		if a, b := forward[i-1], forward[i]; b.first < a.last {
			return named(a, b)
		}
	}
	slices.SortFunc(backward, func(a, b *zone) int { return cmp.Compare(a.last, b.last) })
	for _, b := range backward {
		i, _ := slices.BinarySearchFunc(forward, b.last, func(z *zone, at int) int { return cmp.Compare(z.first, at) })
		if i > 0 && forward[i-1].last > b.first {
			return named(forward[i-1], b)
		}
	}
	return nil
}

// named lists the operations by which two zones are known.
func named(a, b *zone) (ops []int) {
	for _, i := range []int{a.from, a.to, b.from, b.to} {
		if i >= 0 {
			ops = append(ops, i)
		}
	}
	slices.Sort(ops)
	return slices.Compact(ops)
}

// zoned reports what zones found.
func (s *search) zoned(bad []int) {
	if len(bad) == 0 {
		return
	}
	returned := func(i int) int { // what nobody knows the outcome of has no return, and perhaps no end
		if s.ops[i].Type == history.OK {
			return s.ops[i].Return
		}
		return -1
	}
	last := slices.MaxFunc(bad, func(a, b int) int { return cmp.Compare(returned(a), returned(b)) })
	var refs []Ref
	for _, i := range bad {
		if refs = append(refs, s.calls[s.ops[i].Call]); returned(i) >= 0 {
			refs = append(refs, s.calls[s.ops[i].Return])
		}
	}
	op := &s.ops[last]
	why := ", beside the operations of another value that stood there all the time"
	if len(bad) == 1 {
		why = ": nobody had asked to write that by then"
		if op.F == CAS {
			why = fmt.Sprintf(" from %q: nobody had asked to write that by then", op.Old)
		}
	}
	s.found.add(op.Return, s.k.name, refs, func() string {
		return fmt.Sprintf("No order explains the %s %q by process %d %sthat returned at %s%s.", op.F, op.Value,
			op.Process, keyed(s.k), s.calls[op.Return], why)
	})
}
