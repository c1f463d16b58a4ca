package models

import "slices"

// Reduce makes a history smaller for as long as a violation stays in it. It
// returns the parts of 0 to n-1, in order, that are left: without any one of
// them, and what rests on that one, the violation is gone. rests lists what must
// go with a part, for else what is left is no piece of the same history; nil:
// nothing ever does. still judges the parts that it is given. over is asked before
// each question: once it says true, what is left by then is returned, and done is
// false; nil: it never does.
//
// Halves are tried first, then smaller blocks, then one part at a time until
// none can go, as what one part hides may depend on another: the minimizing half
// of delta debugging (Zeller and Hildebrandt 2002).
func Reduce(n int, rests func(part int) []int, still func(parts []int) bool, over func() bool) (left []int, done bool) {
	left = make([]int, n)
	for i := range left {
		left[i] = i
	}
	if over == nil {
		over = func() bool { return false }
	}
	for size := max(n/2, 1); ; size = max(size/2, 1) {
		smaller := drop(left, size, rests, still, over)
		switch {
		case over():
			return smaller, false
		case size == 1 && len(smaller) == len(left):
			return left, true
		}
		left = smaller
	}
}

// drop tries to leave out each block of some size, once.
func drop(left []int, size int, rests func(int) []int, still func([]int) bool, over func() bool) []int {
	for from := 0; from < len(left) && !over(); {
		rest := leaveOut(left, from, min(from+size, len(left)), rests)
		if still(rest) {
			left = rest // the next block begins at the same place, or a little behind it
		} else {
			from += size
		}
	}
	return left
}

// leaveOut leaves out a block, and what rests on its parts.
func leaveOut(left []int, from, to int, rests func(int) []int) []int {
	if rests == nil {
		return slices.Concat(left[:from], left[to:])
	}
	gone := map[int]bool{}
	for _, part := range left[from:to] {
		leave(part, rests, gone)
	}
	var rest []int
	for _, part := range left {
		if !gone[part] {
			rest = append(rest, part)
		}
	}
	return rest
}

// leave marks a part and all that rests on it.
func leave(part int, rests func(int) []int, gone map[int]bool) {
	if gone[part] {
		return
	}
	gone[part] = true
	for _, other := range rests(part) {
		leave(other, rests, gone)
	}
}
