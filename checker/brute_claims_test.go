package checker

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
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
func (b brute) firstLater(g *trace.Grant) (first *trace.Grant) {
	for _, h := range b.r.Grants {
		if h != g && b.before(g, h) && (first == nil || h.OK < first.OK) {
			first = h
		}
	}
	return first
}

// late: the next grant was made between a renewal and its ok, and within its lease, of a second;
// no release had been asked for, and no loss told.
func (b brute) late(g, by *trace.Grant, p, i int) bool {
	invoke, ok := b.r.Ops[p], b.r.Ops[i]
	if by == nil || invoke.F != history.Extend || by.OK < invoke.Time || by.OK >= ok.Time || by.OK >= max(ok.Sent, invoke.Time)+ok.Lease-ms {
		return false
	}
	return !slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
		ended := o.F == history.Release && o.Type == history.Invoke || o.F == history.Lost || o.Type == history.Fail && (o.F == history.Extend || o.F == history.Release)
		return ended && o.Owner == g.Owner && o.Time <= by.OK
	})
}

func (b brute) honest() (y tally) {
	for p, invoke := range b.r.Ops {
		if invoke.Type != history.Invoke || invoke.F != history.Extend && invoke.F != history.Release {
			continue
		}
		done := slices.IndexFunc(b.r.Ops[p+1:], func(o history.Op) bool { return o.Process == invoke.Process })
		if done < 0 || b.r.Ops[p+1+done].Type != history.OK {
			continue
		}
		g := b.r.ByOwner[invoke.Owner]
		by := b.firstLater(g)
		gaveBack := slices.ContainsFunc(b.r.Ops[:p], func(o history.Op) bool {
			return o.Type == history.OK && o.F == history.Release && o.Owner == g.Owner
		})
		denied := slices.ContainsFunc(b.r.Ops[:p], func(o history.Op) bool { // no fault is drawn
			return o.Type == history.Fail && (o.F == history.Extend || o.F == history.Release) && o.Owner == g.Owner
		})
		open := slices.ContainsFunc(b.r.Grants, func(h *trace.Grant) bool {
			asked := slices.ContainsFunc(b.r.Ops, func(o history.Op) bool { return o.F == history.Release && o.Owner == h.Owner })
			return h.Op > g.Op && !b.before(g, h) && !b.before(h, g) && h.OK < invoke.Time && !asked
		})
		gone := slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
			return o.F == history.Holder && g.OK < o.Sent && o.Time < invoke.Time && o.Owner != g.Owner && b.denies(o, g)
		})
		ok := b.r.Ops[p+1+done]
		beside := slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
			meets := o.F == history.Holder && g.OK < o.Sent && invoke.Time <= o.Time && o.Sent <= ok.Time && o.Time < max(ok.Sent, invoke.Time)+ok.Lease-ms
			released := slices.ContainsFunc(b.r.Ops, func(e history.Op) bool {
				return e.F == history.Release && e.Owner == g.Owner && e.Time <= o.Time
			})
			return meets && !released && o.Owner != g.Owner && b.denies(o, g)
		})
		var rival *trace.Grant // the first of those whose order is open and that were told ok
		for _, h := range b.r.Grants {
			told := slices.ContainsFunc(b.r.Successes, func(c trace.Success) bool { return c.Grant == h }) ||
				slices.ContainsFunc(b.r.Ops, func(o history.Op) bool { return o.F == history.Holder && o.Owner == h.Owner && o.Sent > h.OK })
			if h.Op > g.Op && !b.before(g, h) && !b.before(h, g) && told && rival == nil {
				rival = h
			}
		}
		switch {
		case by != nil && by.OK < invoke.Time:
			y.add(b.both(g, by))
		case gaveBack, denied, gone, invoke.F == history.Extend && beside && b.r.Setup.Promise.Leased:
			y.add(false)
		case rival != nil && rival.OK < invoke.Time:
			y.add(b.both(g, rival))
		case b.late(g, by, p, p+1+done):
			y.add(b.both(g, by))
		case open:
			y.add(true)
		}
	}
	return y
}

// denies says that a look shows that g is not held: it names nobody, or somebody who cannot have had the key only
// before g.
func (b brute) denies(look history.Op, g *trace.Grant) bool {
	h := b.r.ByOwner[look.Owner]
	return look.Owner == "" || h != nil && !b.before(h, g) || h == nil && b.maybeOther(look.Owner, g)
}

// maybeOther says whether an owner is that of an acquire of unknown outcome of another client.
func (b brute) maybeOther(owner string, g *trace.Grant) bool {
	return slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
		return o.F == history.Acquire && o.Type == history.Info && o.Owner == owner && owner != "" && o.Node != g.Node
	})
}

func TestHonestClaimsAgree(t *testing.T) {
	tallies(t, brute.honest, honestClaims)
}

// both says that g can be held still when h was granted.
func (b brute) both(g, h *trace.Grant) bool {
	return b.validAt(g, h.OK) && (b.r.Setup.Promise.Leased || b.owed(g, h.OK))
}

func (b brute) freedOthers() (y tally) {
	ops := b.r.Ops
	for asked, op := range ops {
		g := b.r.ByOwner[op.Owner]
		if op.F != history.Release || op.Type != history.Invoke || g == nil {
			continue
		}
		by := b.firstLater(g)
		if by == nil || by.OK >= op.Time {
			continue
		}
		at, said, done := ops[asked].Time, history.Info, int64(-1)
		if i := slices.IndexFunc(ops[asked+1:], func(o history.Op) bool { return o.Process == g.Process }); i >= 0 {
			said, done = ops[asked+1+i].Type, ops[asked+1+i].Time
		}
		var holder *trace.Grant // the last one of those proven before it
		for _, h := range b.r.Grants {
			if h.OK < at && (holder == nil || !h.Key.Sure || h.Token > holder.Token) {
				holder = h
			}
		}
		if said == history.Fail || !b.before(g, holder) || b.lookedWithout(holder, holder.OK, at) {
			continue
		}
		until := at
		for until < 200*ms && b.validAt(holder, until) { // or for ever
			until += ms
		}
		third := slices.IndexFunc(b.r.Grants, func(h *trace.Grant) bool { return h.OK > at })
		if third >= 0 && b.r.Grants[third].OK < until || done >= 0 && b.lookedWithout(holder, done, until) {
			y.add(said != history.OK || b.both(g, holder))
		}
	}
	return y
}

// lookedWithout says whether a look at the server between two times found another holder.
func (b brute) lookedWithout(g *trace.Grant, from, to int64) bool {
	return slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
		return o.F == history.Holder && from < o.Time && o.Time < to && o.Owner != g.Owner
	})
}

func TestReleaseByOwnerAgrees(t *testing.T) {
	tallies(t, brute.freedOthers, releaseByOwner)
}

// tallies compares how much is found of each kind.
func tallies(t *testing.T, want func(brute) tally, judge func(*run) outcome) {
	seen := tally{}
	for range 20 {
		checkAnew(t, func(t *rapid.T) {
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
	granted := slices.ContainsFunc(b.r.Grants, func(g *trace.Grant) bool { return g.Key.Name == invoke.Key && g.Node == invoke.Node })
	unanswered := slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
		return o.Type == history.Info && o.Process == invoke.Process && o.Index > invoke.Index
	})
	if !granted && unanswered {
		return false // its request need not have reached the service
	}
	to := invoke.Time
	for _, w := range b.r.waits() {
		if lasted, known := b.r.lasted(w); w.Invoke == invoke.Index && known {
			to = lasted.To
		}
	}
	return slices.ContainsFunc(b.r.Grants, func(g *trace.Grant) bool {
		return g.Key.Name == invoke.Key && g.Node != invoke.Node && g.OK < g.End && invoke.Time < g.End && (g.OK < to || g.OK <= invoke.Time)
	})
}

// waits are those of all keys.
func (r *run) waits() (all []trace.Wait) {
	for _, k := range r.keys {
		all = append(all, k.Waits...)
	}
	return all
}

// TestCountsAgree counts contended acquires and stale writes one by one. openlyStale counts the grants that were
// written on after the first other one was, of those made later whose order with it is open and that were written on
// after that.
func (b brute) openlyStale() (n int) {
	wrote := func(g *trace.Grant, after int64) bool {
		by := b.firstLater(g)
		return slices.ContainsFunc(b.r.Writes, func(w trace.Write) bool {
			at := b.r.Ops[max(w.Invoke, w.Apply)].Time
			return w.Grant == g && at > after && (by == nil || by.OK >= at)
		})
	}
	for _, g := range b.r.Grants {
		for _, h := range b.r.Grants {
			if h.Op > g.Op && !b.before(g, h) && !b.before(h, g) && wrote(h, h.OK) {
				if wrote(g, h.OK) {
					n++
				}
				break
			}
		}
	}
	return n
}

func TestCountsAgree(t *testing.T) {
	for range 5 {
		checkAnew(t, func(t *rapid.T) {
			r := newRun(clash(t))
			b, want := brute{r}, Counts{}
			for _, op := range r.Ops {
				if op.Type == history.Invoke && op.F == history.Acquire && b.metAnother(op) {
					want.Contended++
				}
				if op.Type != history.Invoke || op.F != history.Write {
					continue
				}
				at, refused := op.Time, false
				if i := slices.IndexFunc(r.Ops, func(o history.Op) bool { return o.F == history.Apply && o.Value == op.Value }); i >= 0 {
					at = r.Ops[i].Time
					refused = !r.Ops[i].Fenced.Accepted
				} else if i := slices.IndexFunc(r.Ops, func(o history.Op) bool { return o.Type == history.OK && o.Value == op.Value }); i >= 0 {
					refused = !r.Ops[i].Fenced.Accepted
				}
				if by := b.firstLater(r.ByOwner[op.Owner]); by != nil && by.OK < at {
					want.StaleWrites++
					if refused {
						want.StaleRefused++
					}
				}
			}
			want.StaleWrites += b.openlyStale()
			got := Counts{Contended: r.counts.Contended, StaleWrites: r.counts.StaleWrites, StaleRefused: r.counts.StaleRefused}
			if got != want {
				t.Fatalf("%+v, want %+v", got, want)
			}
		})
	}
}
