// Package shrink makes a scenario smaller while a violation stays: delta debugging
// over what the scenario consists of, with runs on a real cluster as the oracle.
package shrink

import "slices"

// Ddmin returns a part of items that still violates and is 1-minimal: without any one
// of its items the violation is not there. violates(items) must be true; it is not
// asked again. The order of items is kept.
//
// The algorithm is ddmin of Andreas Zeller and Ralf Hildebrandt, Simplifying and
// Isolating Failure-Inducing Input, IEEE Transactions on Software Engineering 28(2),
// 2002: try each of n parts, then what is left without each, and cut finer where
// neither violates. Beside it the last single item is left out too, as a lock may be
// broken with no fault at all. Neither a monotone oracle is asked for nor one that can
// decide every part: what cannot be decided does not violate.
//
// An error of violates ends it. The smallest part so far comes back beside the error.
func Ddmin[T any](items []T, violates func([]T) (bool, error)) ([]T, error) {
	for n := 2; len(items) > 0; {
		n = min(n, len(items))
		smaller, found, err := split(items, n, violates)
		switch {
		case err != nil:
			return items, err
		case found && len(smaller) <= len(items)/2:
			items, n = smaller, 2 // a part by itself
		case found:
			items, n = smaller, max(n-1, 2)
		case n == len(items):
			return items, nil
		default:
			n *= 2
		}
	}
	return items, nil
}

// split cuts items into n parts and finds one that violates by itself, or one without
// which the others do. Of two parts, each is what is left without the other; of one,
// nothing is.
func split[T any](items []T, n int, violates func([]T) (bool, error)) ([]T, bool, error) {
	var parts, rests [][]T
	for i := range n {
		from, to := i*len(items)/n, (i+1)*len(items)/n
		parts = append(parts, items[from:to:to])
		rests = append(rests, slices.Concat(items[:from], items[to:]))
	}
	candidates := slices.Concat(parts, rests)
	switch n {
	case 1:
		candidates = rests
	case 2:
		candidates = parts
	}
	for _, c := range candidates {
		if yes, err := violates(c); err != nil || yes {
			return c, yes, err
		}
	}
	return nil, false, nil
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
