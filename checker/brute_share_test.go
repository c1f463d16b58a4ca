package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// The definitions of rw-exclusion, permits and honest-refusal, asked of
// every instant, or of every pair.

// sharing draws a small history of a lock that several may hold, sound or not.
func sharing(t *rapid.T, k history.Kind) (history.Setup, []history.Op) {
	b := newBuilder().kind(k)
	for n := range rapid.IntRange(1, 4).Draw(t, "clients") {
		node, at := fmt.Sprintf("client-%d", n+1), int64(0)
		for range rapid.IntRange(1, 3).Draw(t, "holds") {
			step := func() int64 { at += rapid.Int64Range(1, 12).Draw(t, "step") * 3 * ms; return at }
			var h *held
			var mode history.Mode
			if k == history.Semaphore {
				h = b.permits(step(), step(), node, rapid.Int32Range(1, 2).Draw(t, "permits"), int64(len(b.ops)+1))
			} else {
				mode = rapid.SampledFrom([]history.Mode{shared, exclusive}).Draw(t, "mode")
				h = b.as(step(), step(), node, mode, int64(len(b.ops)+1))
			}
			for range rapid.IntRange(0, 3).Draw(t, "acts") {
				switch rapid.IntRange(0, 3).Draw(t, "act") {
				case 0:
					if k == history.Semaphore { // of one permit it is all
						b.does(step(), h, history.Release, rapid.SampledFrom([]history.Type{history.OK, history.OK, history.Fail, history.Info}).Draw(t, "part"))
						b.ops[len(b.ops)-2].Permits = 1
					}
					if k == history.ReadWrite {
						other := map[history.Mode]history.Mode{shared: exclusive, exclusive: shared}[mode]
						if rapid.IntRange(0, 4).Draw(t, "the same") == 0 {
							other = mode
						}
						turned := rapid.SampledFrom([]history.Type{history.OK, history.OK, history.Fail, history.Fail, history.Info}).Draw(t, "turned")
						if b.turn(step(), h, other, turned); turned == history.OK {
							mode = other
						}
					}
				case 1:
					b.does(step(), h, history.Extend, history.OK)
				default:
					b.look(step(), h)
				}
			}
			switch end := rapid.SampledFrom([]history.Type{history.OK, history.OK, history.Fail, history.Info, ""}).Draw(t, "end"); end {
			case "":
			default:
				b.does(step(), h, history.Release, end)
			}
		}
	}
	return b.done()
}

// modeAt is how g is held at t, by its own operations alone.
func (b brute) modeAt(g *trace.Grant, at int64) history.Mode {
	mode := trace.ModeOf(&b.r.Ops[g.Op])
	before := mode // it asked for another
	for i := range b.r.Ops {
		op := &b.r.Ops[i]
		if op.F != history.Change || op.Owner != g.Owner || op.Time > at {
			continue
		}
		switch {
		case op.Type == history.Invoke:
			if before = mode; op.Mode == shared {
				mode = shared
			}
		case op.Type == history.OK:
			mode = op.Mode
		case op.Type == history.Fail:
			mode = before
		}
	}
	return mode
}

// permitsAt is how many permits g has left at t, without those of which it asked to give them back.
func (b brute) permitsAt(g *trace.Grant, at int64) int {
	left := g.Permits
	for i := range b.r.Ops {
		if op := &b.r.Ops[i]; op.F == history.Release && op.Type == history.Invoke && op.Owner == g.Owner && op.Time <= at {
			if op.Permits == 0 || int(op.Permits) >= left {
				break
			}
			left -= int(op.Permits)
		}
	}
	return left
}

// uses says whether g was used at t: believed in, and acted on later in the same mode
// without having been in the other one between.
func (b brute) uses(g *trace.Grant, at int64) bool {
	if at < g.OK {
		return false
	}
	for _, act := range b.r.InOrder(g) {
		a := act.Time
		if a <= at || a > g.End {
			continue
		}
		same := true
		for i := range b.r.Ops {
			if op := &b.r.Ops[i]; op.Owner == g.Owner && op.Time > at && op.Time < a {
				same = same && b.modeAt(g, op.Time) == b.modeAt(g, at) && b.permitsAt(g, op.Time) == b.permitsAt(g, at)
			}
		}
		if same {
			return true
		}
	}
	return false
}

// owes says whether nothing can have ended the hold of g by t; until when is keptUntil's to say, which
// has a definition of its own.
func (b brute) owes(g *trace.Grant, at int64) bool {
	return b.r.keptAt(g, at, trace.ClockNoise)
}

// wrongAt says whether more is used at t, or owed, than the lock may give.
func (b brute) wrongAt(at int64) bool {
	return b.tooMany(at, func(g *trace.Grant) bool { return b.uses(g, at) }) ||
		b.tooMany(at, func(g *trace.Grant) bool { return b.owes(g, at) })
}

func (b brute) tooMany(at int64, used func(*trace.Grant) bool) bool {
	sum, writers, users := 0, 0, 0
	for _, g := range b.r.Grants {
		if used(g) {
			users++
			sum += b.permitsAt(g, at)
			if b.modeAt(g, at) == exclusive {
				writers++
			}
		}
	}
	if b.r.Setup.Kind == history.Semaphore {
		return sum > b.r.Setup.Permits
	}
	return writers > 0 && users > 1
}

func TestSharingAgrees(t *testing.T) {
	for _, c := range []struct { // in this order, so that each draws the same in every run of the test
		kind  history.Kind
		judge func(*run) outcome
	}{{history.ReadWrite, rwExclusion}, {history.Semaphore, permits}} {
		k, judge := c.kind, c.judge
		bothWays(t, 1, func(t *rapid.T) bool {
			setup, ops := sharing(t, k)
			if err := history.Validate(setup, ops); err != nil {
				t.Fatal(err)
			}
			r := newRun(setup, ops)
			b, want := brute{r}, false
			for i := range ops { // nothing begins between two operations
				want = want || b.wrongAt(ops[i].Time)
			}
			o := judge(r)
			f, readers, writers := o.found, 0, 0
			for i := range ops {
				switch op := &ops[i]; {
				case op.F == history.Acquire && op.Type == history.OK && op.Mode == shared:
					readers++
				case op.F == history.Acquire && op.Type == history.OK, op.F == history.Change && op.Type != history.Invoke && b.modeAt(r.ByOwner[op.Owner], op.Time) == exclusive && b.modeAt(r.ByOwner[op.Owner], op.Time-1) == shared:
					writers++
				}
			}
			if figures := fmt.Sprintf("%s of readers and %d of writers", nouns.Count(readers, "grant"), writers); k == history.ReadWrite && !strings.Contains(o.reason, figures) && o.verdict == Holds {
				t.Fatalf("%s, want %s", o.reason, figures)
			}
			if (f.certain > 0) != want || f.possible > 0 {
				t.Fatalf("%s: %+v, want %v", k, f.list, want)
			}
			for _, v := range f.list {
				if !b.wrongAt(v.At) {
					t.Fatalf("%s: nothing is wrong at %d: %+v", k, v.At, v)
				}
			}
			if rapid.IntRange(0, 9).Draw(t, "ask Porcupine") == 0 { // it takes its time
				agreed(t, setup, ops, map[string]int{})
			}
			return want
		})
	}
}

// A refusal is wrong if nobody else can have been anywhere near the lock.
func TestHonestRefusalAgrees(t *testing.T) {
	bothWays(t, 1, func(t *rapid.T) bool {
		b := newBuilder().kind(history.Tried)
		if rapid.Bool().Draw(t, "short") {
			b.setup.Lease, b.setup.Promise.Bound = 20e6, 5e6
		}
		for n := range rapid.IntRange(1, 4).Draw(t, "clients") {
			node, at := fmt.Sprintf("client-%d", n+1), int64(0)
			for range rapid.IntRange(1, 3).Draw(t, "attempts") {
				step := func() int64 { at += rapid.Int64Range(1, 12).Draw(t, "step") * 3 * ms; return at }
				switch rapid.IntRange(0, 4).Draw(t, "attempt") {
				case 0, 1:
					h := b.grant(step(), step(), node, "k", int64(len(b.ops)+1))
					if rapid.IntRange(0, 3).Draw(t, "renews") == 0 {
						b.does(step(), h, history.Extend, rapid.SampledFrom([]history.Type{history.OK, history.OK, history.Info}).Draw(t, "renewed"))
					}
					if end := rapid.SampledFrom([]history.Type{history.OK, history.OK, history.OK, history.Fail, history.Info, ""}).Draw(t, "end"); end != "" {
						b.does(step(), h, history.Release, end)
					}
				case 2:
					b.op(step(), node, history.Invoke, history.Try, "k")
					b.op(step(), node, rapid.SampledFrom([]history.Type{history.Fail, history.Info}).Draw(t, "open"), history.Try, "k")
				default:
					b.refuse(step(), step(), node, history.Try, 0)
				}
			}
		}
		setup, ops := b.done()
		r := newRun(setup, ops)
		want := 0
		if len(r.keys) > 0 {
			for i, w := range r.keys[0].Waits {
				if w.Done >= 0 && ops[w.Done].Busy && !aloneBut(r, i) {
					want++
				}
			}
		}
		if f := honestRefusal(r).found; f.certain != want {
			t.Fatalf("%+v, want %d", f.list, want)
		}
		return want > 0
	})
}

// aloneBut says whether another attempt than number i may have been alive during it.
func aloneBut(r *run, i int) bool {
	mine := r.keys[0].Waits[i]
	for j, w := range r.keys[0].Waits {
		if j == i || w.From > mine.To {
			continue
		}
		end := int64(trace.Forever)
		g := slices.IndexFunc(r.Grants, func(g *trace.Grant) bool { return g.Invoke == w.Invoke })
		lasts := int64(r.Setup.Lease + r.Setup.Promise.Bound)
		switch {
		case w.Done < 0:
		case g >= 0:
			end = lastHeld(r, r.Grants[g], lasts)
		case r.Ops[w.Done].Type == history.Fail:
			end = w.To
		default:
			end = w.To + lasts
		}
		if end >= mine.From {
			return true
		}
	}
	return false
}

// lastHeld is until when g may have been held: until it was given back or, where the service says that there was nothing to give
// back, until all leases that it told are over, if it told what became of each renewal.
func lastHeld(r *run, g *trace.Grant, lasts int64) int64 {
	told, seen, unknown := g.OK, g.OK, false
	for _, op := range r.Ops {
		switch {
		case op.Owner != g.Owner || op.F == history.Acquire:
		case op.F == history.Extend && op.Type == history.OK:
			told = op.Time
		case op.F == history.Extend && op.Type == history.Info:
			unknown = true
		case op.F == history.Release && op.Type == history.OK, op.F == history.Release && op.Type == history.Fail && unknown:
			return op.Time
		case op.F == history.Release && op.Type == history.Fail:
			return min(op.Time, told+lasts+ms)
		}
		if op.Owner == g.Owner {
			seen = op.Time
		}
	}
	return seen + lasts
}
