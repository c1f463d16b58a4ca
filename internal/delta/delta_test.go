package delta

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// asked is an oracle that counts, and that must never be asked of what is no part.
type asked struct {
	t     *rapid.T
	all   []int
	n     int
	truth func([]int) bool
	last  []int // that violated
}

func (a *asked) violates(part []int) (bool, error) {
	a.n++
	if !slices.IsSorted(part) || len(part) >= len(a.all) {
		a.t.Fatalf("asked of %v, which is no smaller part in order", part)
	}
	yes := a.truth(part)
	if yes {
		a.last = slices.Clone(part)
	}
	return yes, nil
}

// minimal wants a part that violates, from which nothing single can go.
func minimal(t *rapid.T, got, all []int, truth func([]int) bool) {
	if len(got) < len(all) && !truth(got) {
		t.Fatalf("%v does not violate", got)
	}
	for i := range got {
		if less := slices.Delete(slices.Clone(got), i, i+1); truth(less) {
			t.Fatalf("%v is not 1-minimal: %v violates too", got, less)
		}
	}
}

func sequence(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func holdsAll(part, needed []int) bool {
	for _, n := range needed {
		if !slices.Contains(part, n) {
			return false
		}
	}
	return true
}

// With one smallest set of needed items, exactly that is found.
func TestReduceFindsWhatIsNeeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := sequence(rapid.IntRange(0, 40).Draw(t, "items"))
		needed := slices.DeleteFunc(slices.Clone(all), func(int) bool { return rapid.IntRange(0, 4).Draw(t, "needed") > 0 })
		a := &asked{t: t, all: all, truth: func(p []int) bool { return holdsAll(p, needed) }}
		got, err := Reduce(all, nil, a.violates)
		if err != nil || !slices.Equal(got, needed) {
			t.Fatalf("%v, %v; want %v", got, err, needed)
		}
		if most := len(all)*len(all) + 3*len(all) + 1; a.n > most {
			t.Errorf("%d questions of %d items", a.n, len(all))
		}
	})
}

// Monotone with several smallest sets: one of them is found.
func TestReduceMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := sequence(rapid.IntRange(1, 20).Draw(t, "items"))
		ways := rapid.SliceOfN(rapid.SliceOfDistinct(rapid.SampledFrom(all), rapid.ID), 1, 4).Draw(t, "ways")
		truth := func(p []int) bool {
			return slices.ContainsFunc(ways, func(w []int) bool { return holdsAll(p, w) })
		}
		got, err := Reduce(all, nil, (&asked{t: t, all: all, truth: truth}).violates)
		if err != nil {
			t.Fatal(err)
		}
		minimal(t, got, all, truth)
	})
}

// Not monotone at all: whether a part violates is as good as tossed, but fixed.
func TestReduceOfAnyOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := sequence(rapid.IntRange(0, 14).Draw(t, "items"))
		salt, often := rapid.Uint64().Draw(t, "salt"), rapid.Uint64Range(1, 9).Draw(t, "of ten")
		truth := func(p []int) bool {
			h := fnv.New64a()
			fmt.Fprint(h, salt, p)
			return h.Sum64()>>7%10 < often
		}
		got, err := Reduce(all, nil, (&asked{t: t, all: all, truth: truth}).violates)
		if err != nil {
			t.Fatal(err)
		}
		minimal(t, got, all, truth)
	})
}

// An oracle that gives up leaves the smallest part that has violated so far.
func TestReduceKeepsTheSmallestSoFar(t *testing.T) {
	full := errors.New("no time left")
	rapid.Check(t, func(t *rapid.T) {
		all := sequence(rapid.IntRange(2, 30).Draw(t, "items"))
		needed := []int{all[len(all)/2]}
		a := &asked{t: t, all: all, last: all, truth: func(p []int) bool { return holdsAll(p, needed) }}
		left := rapid.IntRange(0, 12).Draw(t, "questions")
		got, err := Reduce(all, nil, func(p []int) (bool, error) {
			if a.n == left {
				return false, full
			}
			return a.violates(p)
		})
		if err == nil && !slices.Equal(got, needed) || err != nil && !errors.Is(err, full) || !slices.Equal(got, a.last) {
			t.Fatalf("%v, %v; the last that violated was %v", got, err, a.last)
		}
	})
}

func TestLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.IntRange(0, 5).Draw(t, "low")
		high := low + rapid.IntRange(0, 60).Draw(t, "more")
		salt, monotone := rapid.Uint64().Draw(t, "salt"), rapid.Bool().Draw(t, "monotone")
		from := rapid.IntRange(low, high).Draw(t, "from")
		n := 0
		truth := func(k int) bool {
			h := fnv.New64a()
			fmt.Fprint(h, salt, k)
			return k == high || monotone && k >= from || !monotone && h.Sum64()>>7%2 == 0
		}
		got, err := Least(low, high, func(k int) (bool, error) {
			if n++; k < low || k >= high {
				t.Fatalf("asked of %d, outside %d to %d", k, low, high)
			}
			return truth(k), nil
		})
		if err != nil || !truth(got) || got > low && truth(got-1) || monotone && got != from {
			t.Fatalf("%d, %v of %d to %d", got, err, low, high)
		}
		if n > 8 {
			t.Errorf("%d questions", n)
		}
	})
	if got, err := Least(1, 9, func(int) (bool, error) { return true, errors.New("no") }); got != 9 || err == nil {
		t.Errorf("after an error %d, %v", got, err)
	}
}

// Once the budget is spent nothing more is asked, and what is left by then still shows it.
func TestUntil(t *testing.T) {
	for allowed := range 13 {
		asked := 0
		left, err := Reduce(sequence(64), nil, Until(func() bool { return asked >= allowed }, func(p []int) bool { asked++; return slices.Contains(p, 5) }))
		if asked > allowed || !slices.Contains(left, 5) || !errors.Is(err, ErrOver) || allowed == 0 && len(left) != 64 || allowed > 10 && len(left) != 1 {
			t.Errorf("%d questions of %d, left %v, %v", asked, allowed, left, err)
		}
	}
}

// What rests on an item goes with it, and that on which others rest stays as long as they do.
func TestReduceTakesAlongWhatRests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := sequence(rapid.IntRange(1, 25).Draw(t, "items"))
		on := make([]int, len(all)) // the earlier item on which each rests, or itself
		for i := range on {
			on[i] = rapid.IntRange(0, i).Draw(t, "on")
		}
		rests := func(item int) (others []int) {
			for i := range on {
				if on[i] == item && i != item {
					others = append(others, i)
				}
			}
			return others
		}
		whole := func(p []int) bool {
			return !slices.ContainsFunc(p, func(i int) bool { return !slices.Contains(p, on[i]) })
		}
		needed := rapid.SampledFrom(all).Draw(t, "needed")
		want := []int{needed}
		for on[want[0]] != want[0] {
			want = slices.Insert(want, 0, on[want[0]])
		}
		got, err := Reduce(all, rests, func(p []int) (bool, error) {
			if !whole(p) {
				t.Fatalf("asked of %v, which lacks what it rests on: %v", p, on)
			}
			return slices.Contains(p, needed), nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v, %v; want %v of %v", got, err, want, on)
		}
	})
}
