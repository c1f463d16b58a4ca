package checker

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// The definitions of lease-exclusion and fencing-monotonic, asked of every pair.

// TestOverlaps compares the sweep with a look at all pairs of spans.
func TestOverlaps(t *testing.T) {
	type seen struct {
		owner    int
		from, to int64 // to: the latest end of the others that had begun
	}
	for range 20 {
		rapid.Check(t, func(t *rapid.T) {
			var spans []span
			for range rapid.IntRange(0, 9).Draw(t, "spans") {
				from := rapid.Int64Range(-6, 6).Draw(t, "from")
				spans = append(spans, span{from, from + rapid.Int64Range(0, 8).Draw(t, "length"), rapid.IntRange(0, 3).Draw(t, "owner")})
			}
			inOrder := slices.Clone(spans)
			slices.SortStableFunc(inOrder, func(a, b span) int { return int(a.from - b.from) })
			var want, got []seen
			for i, s := range inOrder {
				rival := s.from
				for _, r := range inOrder[:i] {
					if r.owner != s.owner && r.from < r.to {
						rival = max(rival, r.to)
					}
				}
				if rival > s.from && s.from < s.to {
					want = append(want, seen{s.owner, s.from, rival})
				}
			}
			overlaps(spans, func(rival, s span) {
				if rival.owner == s.owner {
					t.Fatalf("%v is no rival of %v", rival, s)
				}
				got = append(got, seen{s.owner, s.from, rival.to})
			})
			if !slices.Equal(got, want) {
				t.Fatalf("%v, want %v", got, want)
			}
		})
	}
}

// validAt says whether the lease of g was valid at t.
func (b brute) validAt(g *grant, t int64) bool {
	if t < g.ok || t >= g.end {
		return false
	}
	last, suspended := b.r.ops[g.op].Deadline, false
	for _, op := range b.r.ops[g.op+1:] {
		switch {
		case op.Owner != g.owner || op.Time > t:
		case op.F == history.Lost || op.F == history.Extend && op.Type == history.Fail:
			return false
		case op.F == history.Extend && op.Type == history.OK:
			last, suspended = op.Deadline, false
		case op.F == history.Suspended:
			suspended = true
		case op.F == history.Resumed:
			suspended = false
		}
	}
	return !suspended && (last == 0 || t < last-7*ms-clockNoise)
}

// bothValid says whether the leases of g and h were valid at once.
func (b brute) bothValid(g, h *grant) bool {
	for t := int64(0); t < 200*ms; t += ms {
		if b.validAt(g, t) && b.validAt(h, t) {
			return true
		}
	}
	return false
}

func TestLeaseExclusionAgrees(t *testing.T) {
	bothWays(t, 1, func(t *rapid.T) bool {
		r := newRun(clash(t))
		b, want := brute{r}, false
		for i, g := range r.grants {
			for _, h := range r.grants[:i] {
				want = want || b.bothValid(g, h)
			}
		}
		f := leaseExclusion(r).found
		if (f.certain > 0) != want || f.possible > 0 {
			t.Fatalf("%+v, want %v", f.list, want)
		}
		told := map[[2]int]bool{}
		for _, v := range f.list {
			g, h := r.granted0(v.Operations[0]), r.granted0(v.Operations[1])
			if pair := [2]int{g.op, h.op}; told[pair] || !b.bothValid(g, h) {
				t.Fatalf("%+v", v)
			} else {
				told[pair] = true
			}
		}
		return want
	})
}

// granted0 is the grant of an operation.
func (r *run) granted0(op int) *grant {
	return r.grants[slices.IndexFunc(r.grants, func(g *grant) bool { return g.op == op })]
}

// TestFencingMonotonicAgrees looks at every pair of tokens.
func TestFencingMonotonicAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRun(clash(t))
		missing, lower, again := 0, 0, 0
		for i, g := range r.grants {
			same := func(h *grant) bool { return h.token == g.token }
			switch {
			case g.token == 0:
				missing++
				continue
			case slices.ContainsFunc(r.grants, func(h *grant) bool { return h.ok < g.invoked && h.token > g.token }):
				lower++
			}
			if slices.ContainsFunc(r.grants[:i], same) {
				again++
			}
		}
		if f := fencingMonotonic(r).found; f.certain != missing+lower+again || f.possible > 0 {
			t.Fatalf("%d missing, %d lower, %d again: %+v", missing, lower, again, f.list)
		}
	})
}
