package checker

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// The definition of mutual-exclusion, asked of every pair of grants, against the
// judge on small histories in which grants clash.

// before says whether g was certainly granted before h.
func (b brute) before(g, h *grant) bool {
	for _, x := range b.r.grants {
		for _, y := range b.r.grants {
			if x.token == 0 || x != y && x.token == y.token || x.token < y.token && y.ok < x.sent {
				return g.ok < h.sent // tokens say nothing
			}
		}
	}
	return g.token < h.token
}

// firstActAfter is when the holder of g first acted after t, while it believed: it
// wrote, or it asked to extend and was told that it holds the lock. -1: never.
func (b brute) firstActAfter(g *grant, t int64) int64 {
	first := int64(-1)
	for i, op := range b.r.ops {
		if op.Type != history.Invoke || op.Owner != g.owner || op.Time <= t || op.Time > g.end {
			continue
		}
		acts := op.F == history.Write && (g.endOp < 0 || i <= g.endOp)
		if op.F == history.Extend {
			done := slices.IndexFunc(b.r.ops[i+1:], func(o history.Op) bool { return o.Process == op.Process })
			acts = done >= 0 && b.r.ops[i+1+done].Type == history.OK && (g.endOp < 0 || i+1+done < g.endOp)
		}
		if acts && (first < 0 || op.Time < first) {
			first = op.Time
		}
	}
	return first
}

func (b brute) actsAfter(g *grant, t int64) bool { return b.firstActAfter(g, t) >= 0 }

// excluded says whether all pairs of grants keep to mutual exclusion.
func (b brute) excluded() Verdict {
	verdict := Holds
	for _, g := range b.r.grants {
		for _, h := range b.r.grants {
			both := max(g.ok, h.ok)
			if g == h || both >= min(g.end, h.end) {
				continue
			}
			mine, theirs := b.actsAfter(g, both), b.actsAfter(h, both)
			switch {
			case b.before(h, g):
			case b.before(g, h) && b.actsAfter(g, h.ok), !b.before(g, h) && mine && theirs:
				return Violated
			case !b.before(g, h) && (mine || theirs):
				verdict = Unknown
			}
		}
	}
	return verdict
}

// pair are the two grants of a violation.
func (b brute) pair(v Violation) (g, h *grant) {
	for _, x := range b.r.grants {
		if slices.Contains(v.Operations, x.op) {
			g, h = h, x
		}
	}
	return g, h
}

func TestExclusionAgrees(t *testing.T) {
	seen := map[Verdict]int{}
	for range 30 {
		rapid.Check(t, func(t *rapid.T) {
			r := newRun(clash(t))
			f, got := mutualExclusion(r).found, Holds
			switch {
			case f.certain > 0:
				got = Violated
			case f.possible > 0:
				got = Unknown
			}
			b := brute{r}
			want := b.excluded()
			for _, v := range f.list {
				g, h := b.pair(v)
				if slices.ContainsFunc(r.losses, func(l loss) bool { return l.grant == g || l.grant == h }) {
					continue // what it did between that and a later write counts only with that write
				}
				if b.before(g, h) && v.At != b.firstActAfter(g, h.ok) || b.before(h, g) && v.At != b.firstActAfter(h, g.ok) {
					t.Fatalf("%+v is not the first act", v)
				}
			}
			if got != want {
				t.Fatalf("%s, want %s: %+v", got, want, f.list)
			}
			seen[want]++
		})
	}
	if seen[Holds] < 20 || seen[Violated] < 20 || seen[Unknown] < 20 {
		t.Errorf("one-sided histories: %v", seen)
	}
	t.Logf("%v", seen)
}
