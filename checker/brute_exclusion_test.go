package checker

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// The definition of mutual-exclusion, asked of every pair of grants, against the
// judge on small histories in which grants clash.

// before says whether g was certainly granted before h.
func (b brute) before(g, h *trace.Grant) bool {
	for _, x := range b.r.Grants {
		for _, y := range b.r.Grants {
			if x.Token == 0 || x != y && x.Token == y.Token || x.Token < y.Token && y.OK < x.Sent {
				return g.OK < h.Sent // tokens say nothing
			}
		}
	}
	return g.Token < h.Token
}

// firstActAfter is when the holder of g first acted after t, while it believed: it
// wrote, or it asked to extend and was told that it holds the lock. -1: never.
func (b brute) firstActAfter(g *trace.Grant, t int64) int64 {
	first := int64(-1)
	for i, op := range b.r.Ops {
		if op.Type != history.Invoke || op.Owner != g.Owner || op.Time <= t || op.Time > g.End {
			continue
		}
		acts := op.F == history.Write && (g.EndOp < 0 || i <= g.EndOp)
		if op.F == history.Extend {
			done := slices.IndexFunc(b.r.Ops[i+1:], func(o history.Op) bool { return o.Process == op.Process })
			acts = done >= 0 && b.r.Ops[i+1+done].Type == history.OK && (g.EndOp < 0 || i+1+done < g.EndOp)
		}
		if acts && (first < 0 || op.Time < first) {
			first = op.Time
		}
	}
	return first
}

func (b brute) actsAfter(g *trace.Grant, t int64) bool { return b.firstActAfter(g, t) >= 0 }

// owed says whether g was believed in at t, within a lease of the last request that made one
// or for as long as its holder did not give it back. There is no fault here.
func (b brute) owed(g *trace.Grant, t int64) bool { return b.owedFrom(g, t, t) }

// owedFrom is owed at t of who had been told by a time that it has its lock still, if it was ever told that it may not.
func (b brute) owedFrom(g *trace.Grant, t, by int64) bool {
	leased := !b.r.Setup.Promise.Leased
	for i, op := range b.r.Ops {
		made := i == g.Op || op.Owner == g.Owner && op.F == history.Extend && op.Type == history.OK && i > g.Op
		sent := op.Sent
		if i == g.Op {
			sent = b.madeFrom(g)
		}
		leased = leased || made && t < sent+12*ms
		warned := op.F == history.Suspended && !b.resumed(g, i, by)
		gone := warned || op.F == history.Lost || op.F == history.Extend && op.Type == history.Fail
		if op.Owner == g.Owner && gone && i > g.Op && op.Time <= t {
			return false
		}
	}
	return leased && t < g.End
}

// madeOf is what madeFrom has found of one run.
var madeOf struct {
	r  *run
	at map[*trace.Grant]int64
}

// madeFrom is the first time at which g can have been made beside none of those that were answered before it: each of
// these had the key, while it was owed it, before g if g would still have been owed it then.
func (b brute) madeFrom(g *trace.Grant) int64 {
	if madeOf.r != b.r {
		madeOf.r, madeOf.at = b.r, map[*trace.Grant]int64{}
	}
	from, known := madeOf.at[g]
	if known {
		return from
	}
	defer func() { madeOf.at[g] = from }()
	from = g.Sent
	for _, p := range b.r.Grants {
		if p.OK >= g.OK || p.OK >= g.Sent && p.OK >= from+12*ms && b.r.Setup.Promise.Leased {
			continue
		}
		if p.OK >= g.Sent {
			from = max(from, b.madeFrom(p))
		}
		for t := p.OK; t+ms < g.OK+ms && b.owedFrom(p, t+ms, p.OK); t += ms {
			from = min(max(from, t+ms), g.OK)
		}
	}
	return from
}

// resumed says whether the holder of g was told by a time, after an operation, that it has its lock still.
func (b brute) resumed(g *trace.Grant, after int, by int64) bool {
	return slices.ContainsFunc(b.r.Ops[after:], func(o history.Op) bool { return b.safe(g, o) && o.Time <= by })
}

func (b brute) safe(g *trace.Grant, o history.Op) bool {
	return o.Owner == g.Owner && (o.F == history.Resumed || o.F == history.Extend && o.Type == history.OK)
}

// resumedBeside says whether the holder of g was told that it has its lock still while h was owed, too.
func (b brute) resumedBeside(g, h *trace.Grant) bool {
	return slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
		at := o.Time + trace.ClockNoise
		return b.safe(g, o) && o.Time >= max(g.OK, h.OK) && b.owedFrom(g, at, o.Time) && b.owedFrom(h, at, o.Time)
	})
}

// excluded says whether all pairs of grants keep to mutual exclusion.
func (b brute) excluded() Verdict {
	verdict := Holds
	for _, g := range b.r.Grants {
		for _, h := range b.r.Grants {
			both := max(g.OK, h.OK)
			if g != h && g.OK < h.Sent && b.owedFrom(g, h.OK+trace.ClockNoise, h.OK) { // h was made while g was owed
				return Violated
			}
			if g == h || both >= min(g.End, h.End) {
				continue
			}
			mine, theirs := b.actsAfter(g, both), b.actsAfter(h, both)
			switch {
			case b.owedFrom(g, both+trace.ClockNoise, both) && b.owedFrom(h, both+trace.ClockNoise, both), b.resumedBeside(g, h):
				return Violated
			case b.before(h, g):
			case b.before(g, h) && b.actsAfter(g, h.OK), !b.before(g, h) && mine && theirs:
				return Violated
			case !b.before(g, h) && (mine || theirs):
				verdict = Unknown
			}
		}
	}
	return verdict
}

// pair are the two grants of a violation.
func (b brute) pair(v Violation) (g, h *trace.Grant) {
	for _, x := range b.r.Grants {
		if slices.Contains(v.Operations, x.Op) {
			g, h = h, x
		}
	}
	return g, h
}

func TestExclusionAgrees(t *testing.T) {
	seen := map[Verdict]int{}
	for range 30 {
		checkAnew(t, func(t *rapid.T) {
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
				if strings.Contains(v.Message, "had not lost it") {
					continue // nobody need have acted
				}
				if slices.ContainsFunc(r.Losses, func(l trace.Loss) bool { return l.Grant == g || l.Grant == h }) {
					continue // what it did between that and a later write counts only with that write
				}
				if b.before(g, h) && v.At != b.firstActAfter(g, h.OK) || b.before(h, g) && v.At != b.firstActAfter(h, g.OK) {
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
