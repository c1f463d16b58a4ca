package checker

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// The definitions of lease-exclusion and fencing-monotonic, asked of every pair.

// TestOverlaps compares the sweep with a look at all pairs of spans.
func TestOverlaps(t *testing.T) {
	type seen struct {
		owner    int
		from, to int64 // to: the latest end of the others that had begun
	}
	for range 20 {
		checkAnew(t, func(t *rapid.T) {
			var spans []trace.Span
			for range rapid.IntRange(0, 9).Draw(t, "spans") {
				from := rapid.Int64Range(-6, 6).Draw(t, "from")
				spans = append(spans, trace.Span{From: from, To: from + rapid.Int64Range(0, 8).Draw(t, "length"), Owner: rapid.IntRange(0, 3).Draw(t, "owner")})
			}
			inOrder := slices.Clone(spans)
			slices.SortStableFunc(inOrder, func(a, b trace.Span) int { return int(a.From - b.From) })
			var want, got []seen
			for i, s := range inOrder {
				rival := s.From
				for _, r := range inOrder[:i] {
					if r.Owner != s.Owner && r.From < r.To {
						rival = max(rival, r.To)
					}
				}
				if rival > s.From && s.From < s.To {
					want = append(want, seen{s.Owner, s.From, rival})
				}
			}
			overlaps(spans, func(rival, s trace.Span) {
				if rival.Owner == s.Owner {
					t.Fatalf("%v is no rival of %v", rival, s)
				}
				got = append(got, seen{s.Owner, s.From, rival.To})
			})
			if !slices.Equal(got, want) {
				t.Fatalf("%v, want %v", got, want)
			}
		})
	}
}

// validAt says whether the lease of g was valid at t.
func (b brute) validAt(g *trace.Grant, t int64) bool {
	if t < g.OK || t >= g.End {
		return false
	}
	last, suspended := b.r.Ops[g.Op].Deadline, false
	for _, op := range b.r.Ops[g.Op+1:] {
		switch {
		case op.Owner != g.Owner || op.Time > t:
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
	return !suspended && (last == 0 || t < last-7*ms-trace.ClockNoise)
}

// bothValid says whether the leases of g and h were valid at once.
func (b brute) bothValid(g, h *trace.Grant) bool {
	for t := int64(0); t < 200*ms; t += ms {
		if b.validAt(g, t) && b.validAt(h, t) {
			return true
		}
	}
	return false
}

// noRoom says that the lease of g was over when it was answered, and that at each instant of its request, half a millisecond after the other, another was kept for
// certain, or is before a lease of g's is over that nothing can have ended.
func (b brute) noRoom(g *trace.Grant) bool {
	if b.validAt(g, g.OK) {
		return false
	}
	kept := func(t int64) bool {
		return slices.ContainsFunc(g.Key.Grants, func(h *trace.Grant) bool { return h != g && b.r.keptAt(h, t, trace.ClockNoise) })
	}
	for made := g.Sent; made < g.OK; made += ms / 2 {
		until := made
		for until < g.OK && !kept(until) {
			until += ms / 2
		}
		if until > made && (until >= g.OK || until-made >= b.r.LeaseOf(&b.r.Ops[g.Op])-trace.ClockNoise || b.r.firstCause(g) <= until) {
			return false
		}
	}
	return g.Sent < g.OK
}

func TestLeaseExclusionAgrees(t *testing.T) {
	bothWays(t, 1, func(t *rapid.T) bool {
		r := newRun(clash(t))
		b, want := brute{r}, false
		for i, g := range r.Grants {
			for _, h := range r.Grants[:i] {
				want = want || b.bothValid(g, h)
			}
			want = want || b.noRoom(g)
		}
		f := leaseExclusion(r).found
		if (f.certain > 0) != want || f.possible > 0 {
			t.Fatalf("%+v, want %v", f.list, want)
		}
		told := map[[2]int]bool{}
		for _, v := range f.list {
			if v.late {
				if !slices.ContainsFunc(v.Operations, func(i int) bool { return b.noRoom(r.granted0(i)) }) {
					t.Fatalf("%+v", v)
				}
				continue
			}
			g, h := r.granted0(v.Operations[0]), r.granted0(v.Operations[1])
			if pair := [2]int{g.Op, h.Op}; told[pair] || !b.bothValid(g, h) {
				t.Fatalf("%+v", v)
			} else {
				told[pair] = true
			}
		}
		return want
	})
}

// granted0 is the grant of an operation.
func (r *run) granted0(op int) *trace.Grant {
	return r.Grants[slices.IndexFunc(r.Grants, func(g *trace.Grant) bool { return g.Op == op })]
}

// lastFound is when the last look was sent that found g; 0: none did.
func (b brute) lastFound(g *trace.Grant) (at int64) {
	for _, op := range b.r.Ops {
		if op.F == history.Holder && op.Owner == g.Owner {
			at = max(at, op.Sent)
		}
	}
	return at
}

// TestFencingMonotonicAgrees looks at every pair of tokens.
func TestFencingMonotonicAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRun(clash(t))
		missing, lower, again, open := 0, 0, 0, 0
		for i, g := range r.Grants {
			same := func(h *trace.Grant) bool { return h.Token == g.Token }
			switch {
			case g.Token == 0:
				missing++
				continue
			case slices.ContainsFunc(r.Grants, func(h *trace.Grant) bool { return h.OK < g.Sent && h.Token > g.Token }):
				lower++
			default: // by the last looks that found them; what requests say of the greatest token stands above it
				var top *trace.Grant
				for _, h := range r.Grants {
					ok, sent := max(h.OK, brute{r}.lastFound(h)), max(g.Sent, brute{r}.lastFound(g))
					if ok < sent && (top == nil || h.Token > top.Token || h.Token == top.Token && h.Sent < top.Sent) {
						top = h
					}
				}
				behind := func(h *trace.Grant) bool { return h.OK < brute{r}.madeFrom(g) && h.Token > g.Token }
				if top != nil && top.Token > g.Token && g.OK >= top.Sent {
					lower++
				} else if slices.ContainsFunc(r.Grants, behind) {
					open++
				}
			}
			if slices.ContainsFunc(r.Grants[:i], same) {
				again++
			}
		}
		if f := fencingMonotonic(r).found; f.certain != missing+lower+again || f.possible != open {
			t.Fatalf("%d missing, %d lower, %d again, %d open: %+v", missing, lower, again, open, f.list)
		}
	})
}
