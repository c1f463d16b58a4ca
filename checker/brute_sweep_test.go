package checker

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// The sweeps over shares, each pair of shares asked of by itself.

// someShares draws shares of three grants in any order, of which many begin or end at once.
func someShares(t *rapid.T) (shares []share) {
	grants := []*grant{{owner: "a"}, {owner: "b"}, {owner: "c"}}
	for range rapid.IntRange(0, 7).Draw(t, "shares") {
		from := int64(rapid.IntRange(0, 9).Draw(t, "from"))
		shares = append(shares, share{from: from, to: from + int64(rapid.IntRange(-1, 6).Draw(t, "length")), grant: rapid.SampledFrom(grants).Draw(t, "grant"),
			exclusive: rapid.Bool().Draw(t, "exclusive"), permits: rapid.IntRange(1, 2).Draw(t, "permits")})
	}
	return shares
}

// begun are the shares that last as number i begins, of those before it in order; nil
// if it never lasts.
func begun(shares []share, i int) (beside []share) {
	if shares[i].from >= shares[i].to {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(shares[:i]), func(s share) bool { return s.to <= shares[i].from || s.from >= s.to })
}

// The shares of a grant are all of its time, cut where its mode changes.
func TestSharesAgree(t *testing.T) {
	bothWays(t, 50, func(t *rapid.T) bool {
		g := &grant{mode: rapid.SampledFrom([]history.Mode{shared, exclusive}).Draw(t, "mode"), permits: 1}
		mode, at := map[int64]history.Mode{}, int64(0)
		for range rapid.IntRange(0, 4).Draw(t, "turns") {
			at += int64(rapid.IntRange(0, 4).Draw(t, "later"))
			g.turn(at, rapid.SampledFrom([]history.Mode{shared, exclusive}).Draw(t, "turns"))
		}
		for at := range int64(20) {
			mode[at] = g.mode
			for _, t := range g.turns {
				if t.at <= at {
					mode[at] = t.mode
				}
			}
		}
		from := int64(rapid.IntRange(0, 12).Draw(t, "from"))
		until := from + int64(rapid.IntRange(0, 7).Draw(t, "length"))
		now := from
		for _, s := range g.shares(nil, from, until) {
			if s.from != now || s.to <= s.from || s.grant != g || s.permits != 1 {
				t.Fatalf("%+v at %d of [%d, %d]", s, now, from, until)
			}
			for ; now < s.to; now++ {
				if s.exclusive != (mode[now] == exclusive) {
					t.Fatalf("%+v of %+v at %d", s, g.turns, now)
				}
			}
		}
		if now != until {
			t.Fatalf("[%d, %d] ends at %d", from, until, now)
		}
		return len(g.turns) > 0
	})
}

func TestRivalriesAgree(t *testing.T) {
	bothWays(t, 50, func(t *rapid.T) bool {
		shares := someShares(t)
		got, want := []string{}, []string{}
		rivalries(slices.Clone(shares), func(a, b share) { got = append(got, fmt.Sprint(a.to, b)) })
		slices.SortStableFunc(shares, func(a, b share) int { return int(a.from - b.from) })
		for i, s := range shares {
			last := int64(-1) // of its rivals, the end of the last
			for _, b := range begun(shares, i) {
				if b.grant != s.grant && (b.exclusive || s.exclusive) {
					last = max(last, b.to)
				}
			}
			if last >= 0 {
				want = append(want, fmt.Sprint(last, s))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v: %v, want %v", shares, got, want)
		}
		return len(want) > 0
	})
}

func TestCrowdsAgree(t *testing.T) {
	bothWays(t, 50, func(t *rapid.T) bool {
		shares, n := someShares(t), rapid.IntRange(0, 5).Draw(t, "n")
		told := func(s share, beside []share) string {
			var names []string
			for _, b := range beside {
				names = append(names, fmt.Sprint(b))
			}
			slices.Sort(names)
			return fmt.Sprint(s, names)
		}
		got, want := []string{}, []string{}
		crowds(slices.Clone(shares), n, func(s share, beside []share, _ int) { got = append(got, told(s, beside)) })
		slices.SortStableFunc(shares, func(a, b share) int { return int(a.from - b.from) })
		for i, s := range shares {
			beside, sum := begun(shares, i), s.permits
			for _, b := range beside {
				sum += b.permits
			}
			if s.from < s.to && sum > n {
				want = append(want, told(s, beside))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v of %d: %v, want %v", shares, n, got, want)
		}
		return len(want) > 0
	})
}

// leasedAt says whether the lease of g was valid at t.
func (b brute) leasedAt(g *grant, at int64) bool {
	spans, _ := b.r.validity(nil, g, 0)
	return slices.ContainsFunc(spans, func(s span) bool { return s.from <= at && at < s.to })
}

// Two leases that must not be together are told of once, and more than there are
// permits as each of them begins.
func TestSharedLeasesAgree(t *testing.T) {
	for _, k := range []history.Kind{history.ReadWrite, history.Semaphore} {
		bothWays(t, 1, func(t *rapid.T) bool {
			r := newRun(sharing(t, k))
			b := brute{r}
			var instants []int64 // at which a lease or a mode begins
			for i := range r.ops {
				instants = append(instants, r.ops[i].Time)
			}
			pairs, crowded := map[string]bool{}, 0
			for n, at := range instants {
				if n > 0 && instants[n-1] == at {
					continue
				}
				sum := 0
				for i, g := range r.grants {
					if !b.leasedAt(g, at) {
						continue
					}
					for _, h := range r.grants[:i] {
						if b.leasedAt(h, at) && (b.modeAt(g, at) == exclusive || b.modeAt(h, at) == exclusive) {
							pairs[fmt.Sprint(h.op, g.op)] = true
						}
					}
					sum += g.permits
				}
				if sum > r.setup.Permits {
					crowded++
				}
			}
			f := r.sharedLeases().found
			if k == history.Semaphore {
				if (len(f.list) > 0) != (crowded > 0) {
					t.Fatalf("%+v, want %d", f.list, crowded)
				}
				return crowded > 0
			}
			if (len(f.list) > 0) != (len(pairs) > 0) || len(f.list) > len(pairs) {
				t.Fatalf("%+v, want %v", f.list, pairs)
			}
			for i, v := range f.list {
				pair := fmt.Sprint(v.Operations[0], v.Operations[1])
				if !pairs[pair] || slices.ContainsFunc(f.list[:i], func(w Violation) bool { return slices.Equal(v.Operations, w.Operations) }) {
					t.Fatalf("%v of %v", pair, pairs)
				}
			}
			return len(pairs) > 0
		})
	}
}
