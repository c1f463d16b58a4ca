// Package delta is the delta debugger of all that is made smaller while something shows
// in it: a history while a violation stays, a scenario while runs of it still violate.
package delta

import (
	"errors"
	"slices"
)

// Reduce returns the items that are left, in order: without any one of them, and what
// rests on that one, it does not show any more. rests lists what must go with an item,
// for else what is left makes no sense; nil: nothing ever does. shows(items) must be
// true; it is not asked again. It need not be monotone, and what it cannot decide does
// not show. An error of shows ends it: the smallest part so far comes back beside it.
//
// Halves are left out first, then smaller blocks, then one item at a time until none can
// go, as what one item hides may depend on another: the minimizing half of delta
// debugging, of Andreas Zeller and Ralf Hildebrandt, Simplifying and Isolating
// Failure-Inducing Input, IEEE Transactions on Software Engineering 28(2), 2002.
func Reduce[T comparable](items []T, rests func(T) []T, shows func([]T) (bool, error)) ([]T, error) {
	for size := max(len(items)/2, 1); ; size = max(size/2, 1) {
		left, err := drop(items, size, rests, shows)
		if err != nil || size == 1 && len(left) == len(items) {
			return left, err
		}
		items = left
	}
}

// ErrOver says that a budget is spent: see Until.
var ErrOver = errors.New("the budget is spent")

// Until asks shows for as long as over does not say that a budget is spent.
func Until[T any](over func() bool, shows func([]T) bool) func([]T) (bool, error) {
	return func(items []T) (bool, error) {
		if over() {
			return false, ErrOver
		}
		return shows(items), nil
	}
}

// drop tries to leave out each block of some size, once.
func drop[T comparable](left []T, size int, rests func(T) []T, shows func([]T) (bool, error)) ([]T, error) {
	for from := 0; from < len(left); {
		less := leaveOut(left, from, min(from+size, len(left)), rests)
		switch yes, err := shows(less); {
		case err != nil:
			return left, err
		case yes:
			left = less // the next block begins at the same place, or a little behind it
		default:
			from += size
		}
	}
	return left, nil
}

// leaveOut leaves out a block, and what rests on its items.
func leaveOut[T comparable](left []T, from, to int, rests func(T) []T) []T {
	if rests == nil {
		return slices.Concat(left[:from], left[to:])
	}
	gone := map[T]bool{}
	for _, item := range left[from:to] {
		leave(item, rests, gone)
	}
	var kept []T
	for _, item := range left {
		if !gone[item] {
			kept = append(kept, item)
		}
	}
	return kept
}

// leave marks an item and all that rests on it.
func leave[T comparable](item T, rests func(T) []T, gone map[T]bool) {
	if gone[item] {
		return
	}
	gone[item] = true
	for _, other := range rests(item) {
		leave(other, rests, gone)
	}
}

// Least returns a number from low to high that still violates, where the next smaller
// one does not, or low. violates(high) must be true; it is not asked again. low is
// tried first, then the middle of what is left. After an error the smallest so far
// comes back beside it.
func Least(low, high int, violates func(int) (bool, error)) (int, error) {
	if low >= high {
		return high, nil
	}
	if yes, err := violates(low); err != nil || yes {
		if err != nil {
			low = high
		}
		return low, err
	}
	for high-low > 1 { // low does not violate, high does
		middle := low + (high-low)/2
		yes, err := violates(middle)
		switch {
		case err != nil:
			return high, err
		case yes:
			high = middle
		default:
			low = middle
		}
	}
	return high, nil
}
