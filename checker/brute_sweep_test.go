package checker

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// The sweeps over shares, each pair of shares asked of by itself.

// someShares draws shares of three grants in any order, of which many begin or end at once.
func someShares(t *rapid.T) (shares []trace.Share) {
	grants := []*trace.Grant{{Owner: "a"}, {Owner: "b"}, {Owner: "c"}}
	for range rapid.IntRange(0, 7).Draw(t, "shares") {
		from := int64(rapid.IntRange(0, 9).Draw(t, "from"))
		shares = append(shares, trace.Share{From: from, To: from + int64(rapid.IntRange(-1, 6).Draw(t, "length")), Grant: rapid.SampledFrom(grants).Draw(t, "grant"),
			Exclusive: rapid.Bool().Draw(t, "exclusive"), Permits: rapid.IntRange(1, 2).Draw(t, "permits")})
	}
	return shares
}

// begun are the shares that last as number i begins, of those before it in order; nil
// if it never lasts.
func begun(shares []trace.Share, i int) (beside []trace.Share) {
	if shares[i].From >= shares[i].To {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(shares[:i]), func(s trace.Share) bool { return s.To <= shares[i].From || s.From >= s.To })
}

func TestRivalriesAgree(t *testing.T) {
	bothWays(t, 50, func(t *rapid.T) bool {
		shares := someShares(t)
		got, want := []string{}, []string{}
		rivalries(slices.Clone(shares), func(a, b trace.Share) { got = append(got, fmt.Sprint(a.To, b)) })
		slices.SortStableFunc(shares, func(a, b trace.Share) int { return int(a.From - b.From) })
		for i, s := range shares {
			last := int64(-1) // of its rivals, the end of the last
			for _, b := range begun(shares, i) {
				if b.Grant != s.Grant && (b.Exclusive || s.Exclusive) {
					last = max(last, b.To)
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
		told := func(s trace.Share, beside []trace.Share) string {
			var names []string
			for _, b := range beside {
				names = append(names, fmt.Sprint(b))
			}
			slices.Sort(names)
			return fmt.Sprint(s, names)
		}
		got, want := []string{}, []string{}
		crowds(slices.Clone(shares), n, func(s trace.Share, beside []trace.Share, _ int) { got = append(got, told(s, beside)) })
		slices.SortStableFunc(shares, func(a, b trace.Share) int { return int(a.From - b.From) })
		for i, s := range shares {
			beside, sum := begun(shares, i), s.Permits
			for _, b := range beside {
				sum += b.Permits
			}
			if s.From < s.To && sum > n {
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
func (b brute) leasedAt(g *trace.Grant, at int64) bool {
	spans, _ := b.r.Validity(nil, g, 0)
	return slices.ContainsFunc(spans, func(s trace.Span) bool { return s.From <= at && at < s.To })
}

// Two leases that must not be together are told of once, and more than there are
// permits as each of them begins.
func TestSharedLeasesAgree(t *testing.T) {
	for _, k := range []history.Kind{history.ReadWrite, history.Semaphore} {
		bothWays(t, 1, func(t *rapid.T) bool {
			r := newRun(sharing(t, k))
			b := brute{r}
			var instants []int64 // at which a lease or a mode begins
			for i := range r.Ops {
				instants = append(instants, r.Ops[i].Time)
			}
			pairs, crowded := map[string]bool{}, 0
			for n, at := range instants {
				if n > 0 && instants[n-1] == at {
					continue
				}
				sum := 0
				for i, g := range r.Grants {
					if !b.leasedAt(g, at) {
						continue
					}
					for _, h := range r.Grants[:i] {
						if b.leasedAt(h, at) && (b.modeAt(g, at) == exclusive || b.modeAt(h, at) == exclusive) {
							pairs[fmt.Sprint(h.Op, g.Op)] = true
						}
					}
					sum += b.permitsAt(g, at)
				}
				if sum > r.Setup.Permits {
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
