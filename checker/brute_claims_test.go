package checker

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// The definitions of honest-claims and release-by-owner, and what is counted.

// tally counts violations that are certain, and those that are only possible.
type tally struct{ certain, possible int }

func (y *tally) add(possible bool) {
	if possible {
		y.possible++
	} else {
		y.certain++
	}
}

func (f found) tally() tally { return tally{f.certain, f.possible} }

// firstLater is the first proven of those that were certainly granted after g.
func (b brute) firstLater(g *grant) (first *grant) {
	for _, h := range b.r.grants {
		if h != g && b.before(g, h) && (first == nil || h.ok < first.ok) {
			first = h
		}
	}
	return first
}

func (b brute) honest() (y tally) {
	for p, invoke := range b.r.ops {
		if invoke.Type != history.Invoke || invoke.F != history.Extend && invoke.F != history.Release {
			continue
		}
		done := slices.IndexFunc(b.r.ops[p+1:], func(o history.Op) bool { return o.Process == invoke.Process })
		if done < 0 || b.r.ops[p+1+done].Type != history.OK {
			continue
		}
		g := b.r.byOwner[invoke.Owner]
		by := b.firstLater(g)
		gaveBack := slices.ContainsFunc(b.r.ops[:p], func(o history.Op) bool {
			return o.Type == history.OK && o.F == history.Release && o.Owner == g.owner
		})
		open := slices.ContainsFunc(b.r.grants, func(h *grant) bool {
			asked := slices.ContainsFunc(b.r.ops, func(o history.Op) bool { return o.F == history.Release && o.Owner == h.owner })
			return h.op > g.op && !b.before(g, h) && !b.before(h, g) && h.ok < invoke.Time && !asked
		})
		switch {
		case by != nil && by.ok < invoke.Time:
			y.add(b.validAt(g, by.ok))
		case gaveBack:
			y.add(false)
		case open:
			y.add(true)
		}
	}
	return y
}

func TestHonestClaimsAgree(t *testing.T) {
	tallies(t, brute.honest, honestClaims)
}

func (b brute) freedOthers() (y tally) {
	ops := b.r.ops
	for _, g := range b.r.grants {
		asked := slices.IndexFunc(ops, func(o history.Op) bool { return o.F == history.Release && o.Owner == g.owner })
		by := b.firstLater(g)
		if asked < 0 || by == nil || by.ok >= ops[asked].Time {
			continue
		}
		at, said, done := ops[asked].Time, history.Info, int64(-1)
		if i := slices.IndexFunc(ops[asked+1:], func(o history.Op) bool { return o.Process == g.process }); i >= 0 {
			said, done = ops[asked+1+i].Type, ops[asked+1+i].Time
		}
		var holder *grant // the last one proven before it
		for _, h := range b.r.grants {
			if h.ok < at {
				holder = h
			}
		}
		if said == history.Fail || !b.before(g, holder) || b.lookedWithout(holder, holder.ok, at) {
			continue
		}
		until := at
		for until < 200*ms && b.validAt(holder, until) { // or for ever
			until += ms
		}
		third := slices.IndexFunc(b.r.grants, func(h *grant) bool { return h.ok > at })
		if third >= 0 && b.r.grants[third].ok < until || done >= 0 && b.lookedWithout(holder, done, until) {
			y.add(said != history.OK || b.validAt(g, holder.ok))
		}
	}
	return y
}

// lookedWithout says whether a look at the server between two times found another holder.
func (b brute) lookedWithout(g *grant, from, to int64) bool {
	return slices.ContainsFunc(b.r.ops, func(o history.Op) bool {
		return o.F == history.Holder && from < o.Time && o.Time < to && o.Owner != g.owner
	})
}

func TestReleaseByOwnerAgrees(t *testing.T) {
	tallies(t, brute.freedOthers, releaseByOwner)
}

// tallies compares how much is found of each kind.
func tallies(t *testing.T, want func(brute) tally, judge func(*run) outcome) {
	seen := tally{}
	for range 20 {
		rapid.Check(t, func(t *rapid.T) {
			r := newRun(clash(t))
			w, f := want(brute{r}), judge(r).found
			if f.tally() != w {
				t.Fatalf("%+v, want %+v", f.list, w)
			}
			seen.certain += min(w.certain, 1)
			seen.possible += min(w.possible, 1)
		})
	}
	if seen.certain == 0 || seen.possible == 0 {
		t.Errorf("one-sided histories: %+v", seen)
	}
	t.Logf("%+v", seen)
}

// metAnother says whether an acquire waited while another client believed.
func (b brute) metAnother(invoke history.Op) bool {
	granted := slices.ContainsFunc(b.r.grants, func(g *grant) bool { return g.key.name == invoke.Key && g.node == invoke.Node })
	unanswered := slices.ContainsFunc(b.r.ops, func(o history.Op) bool {
		return o.Type == history.Info && o.Process == invoke.Process && o.Index > invoke.Index
	})
	if !granted && unanswered {
		return false // its request need not have reached the service
	}
	to := invoke.Time
	for _, w := range b.r.waits() {
		if lasted, known := b.r.lasted(w); w.invoke == invoke.Index && known {
			to = lasted.to
		}
	}
	return slices.ContainsFunc(b.r.grants, func(g *grant) bool {
		return g.key.name == invoke.Key && g.node != invoke.Node && g.ok < g.end && invoke.Time < g.end && (g.ok < to || g.ok <= invoke.Time)
	})
}

// waits are those of all keys.
func (r *run) waits() (all []wait) {
	for _, k := range r.keys {
		all = append(all, k.waits...)
	}
	return all
}

// TestCountsAgree counts contended acquires and stale writes one by one.
func TestCountsAgree(t *testing.T) {
	for range 5 {
		rapid.Check(t, func(t *rapid.T) {
			r := newRun(clash(t))
			b, want := brute{r}, Counts{}
			for _, op := range r.ops {
				if op.Type == history.Invoke && op.F == history.Acquire && b.metAnother(op) {
					want.Contended++
				}
				if op.Type != history.Invoke || op.F != history.Write {
					continue
				}
				at, refused := op.Time, false
				if i := slices.IndexFunc(r.ops, func(o history.Op) bool { return o.F == history.Apply && o.Value == op.Value }); i >= 0 {
					at = r.ops[i].Time
					refused = !r.ops[i].Fenced.Accepted
				} else if i := slices.IndexFunc(r.ops, func(o history.Op) bool { return o.Type == history.OK && o.Value == op.Value }); i >= 0 {
					refused = !r.ops[i].Fenced.Accepted
				}
				if by := b.firstLater(r.byOwner[op.Owner]); by != nil && by.ok < at {
					want.StaleWrites++
					if refused {
						want.StaleRefused++
					}
				}
			}
			got := Counts{Contended: r.counts.Contended, StaleWrites: r.counts.StaleWrites, StaleRefused: r.counts.StaleRefused}
			if got != want {
				t.Fatalf("%+v, want %+v", got, want)
			}
		})
	}
}
