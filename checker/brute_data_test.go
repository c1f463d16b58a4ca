package checker

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// The definitions of fenced-writes and no-lost-update, each asked of every pair of
// writes in the log of the resource.

func (b brute) fencedWrongly() (y tally) {
	var heard, wrote []*trace.Grant // of which the fenced copy has heard, and has accepted a write
	written := map[int64]bool{}
	for _, op := range b.r.Ops {
		if op.Type != history.Note || op.F != history.Apply && op.F != history.ReadSeen {
			continue
		}
		g := b.r.ByOwner[op.Owner]
		if op.F == history.ReadSeen {
			if b.r.Setup.FenceOn == "read" {
				heard = append(heard, g)
			}
			continue
		}
		certain := slices.ContainsFunc(heard, func(h *trace.Grant) bool { return b.before(g, h) })
		possible := slices.ContainsFunc(heard, func(h *trace.Grant) bool { return h.Pos > g.Pos })
		explained := b.r.Setup.Fencing == "strict" && g.Token == op.Fenced.Token && written[cmp.Or(op.Token, g.Token)]
		by := b.firstLater(g)
		token := cmp.Or(op.Token, g.Token)
		above := (token > op.Fenced.Token || token == op.Fenced.Token && token > 0 && b.r.Setup.Fencing != "strict") && b.validAt(g, op.Time) && (by == nil || by.OK >= op.Time)
		used := b.r.Setup.Fencing == "strict" && (g.Token != 0 && slices.Contains(wrote, g) || op.Token != 0 && written[op.Token])
		switch {
		case op.Fenced.Accepted && used:
			y.add(false)
		case op.Fenced.Accepted && possible:
			y.add(!certain)
		case op.Fenced.Accepted && op.Token > 0 && op.Fenced.Token > op.Token:
			y.add(false)
		case !op.Fenced.Accepted && (above || !explained && b.surelyHolds(g, op.Time)):
			y.add(false)
		}
		if op.Fenced.Accepted {
			heard, wrote, written[op.Token] = append(heard, g), append(wrote, g), true
		}
	}
	return y
}

// surelyHolds says whether g was valid at t, and nobody else can have been granted the key.
func (b brute) surelyHolds(g *trace.Grant, t int64) bool {
	return b.validAt(g, t) && !slices.ContainsFunc(b.r.Grants, func(h *trace.Grant) bool {
		claims := h.OK < b.r.Ops[h.Op].Deadline-7*ms-trace.ClockNoise || b.r.Ops[h.Op].Deadline == 0
		if h == g || b.before(h, g) {
			return false
		}
		return b.before(g, h) && claims && h.Sent < t || !b.before(g, h) && (claims || h.Pos < g.Pos)
	})
}

func TestFencedWritesAgree(t *testing.T) {
	tallies(t, brute.fencedWrongly, fencedWrites)
}

// TestFencingIsTried: only a stale write that was refused shows that the fence holds.
func TestFencingIsTried(t *testing.T) {
	bothWays(t, 5, func(t *rapid.T) bool {
		r := newRun(clash(t))
		b := brute{r}
		tried := slices.ContainsFunc(r.Ops, func(op history.Op) bool {
			if op.F != history.Apply || op.Fenced.Accepted {
				return false
			}
			by := b.firstLater(r.ByOwner[op.Owner])
			return by != nil && by.OK < op.Time
		})
		if o := fencedWrites(r); o.found.certain == 0 && (o.verdict == Holds) != tried {
			t.Fatalf("%s: %s", o.verdict, o.reason)
		}
		return tried
	})
}

// What the copy has heard of and certainly came later is named before what is only possible.
func TestHeardOf(t *testing.T) {
	k := &trace.Key{}
	grants := []*trace.Grant{{OK: 5, Sent: 1}, {OK: 9, Sent: 7}, {OK: 11, Sent: 4}, {OK: 14, Sent: 3}}
	for i, g := range grants {
		g.Key, g.Pos = k, i
	}
	for _, c := range []struct {
		heard []int
		want  int // by the first of grants
	}{{nil, -1}, {[]int{0}, -1}, {[]int{2}, 2}, {[]int{1, 2}, 1}, {[]int{2, 1}, 1}, {[]int{2, 3}, 3}, {[]int{3, 2}, 3}, {[]int{1}, 1}} {
		var s fenced
		for _, i := range c.heard {
			s.hear(grants[i], i)
		}
		got := s.after(grants[0])
		if c.want < 0 != (got.grant == nil) || c.want >= 0 && (got.grant != grants[c.want] || got.note != c.want) {
			t.Errorf("%v: %+v", c.heard, got)
		}
	}
	k.Sure = true
	var s fenced
	s.hear(grants[1], 1)
	s.hear(grants[3], 3)
	if got := s.after(grants[0]); got.note != 3 {
		t.Errorf("the latest was not named: %+v", got)
	}
}

// Who wrote nothing down of its node is named by its process.
func TestWho(t *testing.T) {
	for want, g := range map[string]trace.Grant{"a": {Node: "a"}, "a (token 7)": {Node: "a", Token: 7}, "process 3": {Process: 3}} {
		if got := g.Who(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// lostUpdates follows what each accepted write of a copy replaced.
func (b brute) lostUpdates(s side) (y tally) {
	acked := func(value string) bool {
		return slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
			return o.F == history.Write && o.Type == history.OK && o.Value == value && s.of(&o).Accepted
		})
	}
	var log []history.Op // accepted writes
	for _, op := range b.r.Ops {
		if op.F != history.Apply || !s.of(&op).Accepted {
			continue
		}
		c := s.of(&op)
		if c.Base != c.Previous {
			owner := slices.IndexFunc(b.r.Ops, func(o history.Op) bool { return o.F == history.Write && o.Value == c.Previous })
			if owner < 0 || b.r.Ops[owner].Owner != op.Owner {
				y.add(owner >= 0 && !acked(c.Previous))
			}
		} else if other := lastOf(log, func(o history.Op) bool { return s.of(&o).Previous == c.Previous }); other != "" {
			y.add(!acked(other))
		}
		log = append(log, op)
	}
	for _, op := range b.r.Ops {
		if op.F == history.Write && op.Type == history.OK && s.of(&op).Accepted &&
			!slices.ContainsFunc(b.r.Ops, func(o history.Op) bool { return o.F == history.Apply && o.Value == op.Value }) && b.loggedAfter(op.Time) ||
			op.F == history.Write && op.Type == history.OK && s.of(&op).Accepted && b.refused(s, op.Value) {
			y.add(false)
		}
	}
	return y
}

// loggedAfter says whether the resource's log, which holds a write, goes on after t.
func (b brute) loggedAfter(t int64) bool {
	wrote := slices.ContainsFunc(b.r.Ops, func(o history.Op) bool { return o.F == history.Apply })
	return wrote && slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
		return o.Time > t && (o.F == history.Apply || o.F == history.ReadSeen || o.F == history.Happened)
	})
}

// refused says whether the log holds a value as refused.
func (b brute) refused(s side, value string) bool {
	return slices.ContainsFunc(b.r.Ops, func(o history.Op) bool { return o.F == history.Apply && o.Value == value && !s.of(&o).Accepted })
}

// lastOf is the value of the last write that matches, "" if none does.
func lastOf(log []history.Op, match func(history.Op) bool) (value string) {
	for _, op := range log {
		if match(op) {
			value = op.Value
		}
	}
	return value
}

func TestLostUpdatesAgree(t *testing.T) {
	for _, s := range []side{unfenced, fencedOf} {
		tallies(t, func(b brute) tally { return b.lostUpdates(s) }, func(r *run) outcome { return r.noLostUpdate(s) })
	}
}

// Every update that the resource forgot is found, not the first alone.
func TestForkedTwice(t *testing.T) {
	b := newBuilder()
	h := b.grantOf(0, 10*ms, "client-1", 1)
	for i := range int64(2) {
		b.read((20+10*i)*ms, h)
		was := *b.resource("k")
		b.write((22+10*i)*ms, h)
		*b.resource("k") = was
		b.write((24+10*i)*ms, h)
	}
	if f := newRun(b.done()).noLostUpdate(unfenced).found; f.certain != 2 {
		t.Errorf("%+v", f)
	}
}
