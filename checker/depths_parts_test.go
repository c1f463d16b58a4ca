package checker

import (
	"slices"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// crossNest is a client whose threads hold one lock together, thread by thread.
type crossNest struct {
	*builder
	threads map[int]int
}

func newCrossNest() *crossNest {
	b := newBuilder().kind(history.Reentrant)
	b.setup.Promise.Reentry = history.ByProcess
	return &crossNest{b, map[int]int{}}
}

// asks has a thread of client-1 ask, and answered has it answered; each returns the index of its operation.
func (n *crossNest) asks(t int64, thread int, f history.F) int {
	n.process["client-1"] = n.threads[thread]
	op := n.op(t, "client-1", history.Invoke, f, "k")
	if n.threads[thread] = op.Process; f == history.Release {
		op.Owner = "client-1/1"
	}
	return len(n.ops) - 1
}

func (n *crossNest) answered(t int64, thread int, typ history.Type, f history.F, depth int32) int {
	n.process["client-1"] = n.threads[thread]
	op := n.op(t, "client-1", typ, f, "k")
	if n.threads[thread] = n.process["client-1"]; typ != history.Info || f == history.Release {
		op.Owner, op.Depth = "client-1/1", depth
	}
	if f == history.Acquire && typ == history.OK {
		n.claim(op, &held{owner: "client-1/1", token: 1}, t-ms)
	}
	return len(n.ops) - 1
}

// once has a thread ask and be answered within a millisecond.
func (n *crossNest) once(t int64, thread int, typ history.Type, f history.F, depth int32) int {
	n.asks(t, thread, f)
	return n.answered(t+ms, thread, typ, f, depth)
}

func (n *crossNest) judged() nested { return nested{run: newRun(n.done())} }

// The answers to a holder are taken in the order in which they came, whichever of its threads was told of the first hold; that one may have been told no depth.
func TestAnswersOfThreadsThatCross(t *testing.T) {
	for _, first := range []int32{0, 1} {
		n := newCrossNest()
		n.asks(ms, 1, history.Acquire)
		n.asks(2*ms, 2, history.Acquire)
		want := []int{n.answered(3*ms, 2, history.OK, history.Acquire, 2), n.answered(4*ms, 1, history.OK, history.Acquire, first)}
		want = append(want, n.once(5*ms, 1, history.OK, history.Acquire, 3), n.once(7*ms, 1, history.OK, history.Release, 2))
		j := n.judged()
		var got []int
		for _, a := range j.asks(j.Grants[0]) {
			got = append(got, a.to)
		}
		if !slices.Equal(got, want) {
			t.Errorf("first told %d: answers %v, want %v", first, got, want)
		}
		if wrong := j.strays(j.Grants[0]); wrong != nil {
			t.Errorf("first told %d: %+v", first, wrong)
		}
	}
}

// Behind a release without an answer a holder may have as many holds as it has asked for, and what another thread of it still waits for may be one of them.
func TestHoldsBesideOneThatWaits(t *testing.T) {
	for told, want := range map[int32]int{3: 0, 4: 1} {
		n := newCrossNest()
		n.once(0, 1, history.OK, history.Acquire, 1)
		n.once(10*ms, 1, history.Info, history.Release, 0)
		n.asks(20*ms, 2, history.Acquire) // it is never answered
		n.once(30*ms, 3, history.OK, history.Acquire, told)
		if j := n.judged(); len(j.beyond(j.Grants[0])) != want {
			t.Errorf("told %d: %+v", told, j.beyond(j.Grants[0]))
		}
	}
}

// A lock can answer for itself whatever is a hold within a hold. What takes the first, or gives back the last, only the service can know, and so can it of
// a renewal.
func TestOutermost(t *testing.T) {
	n := newCrossNest()
	want := map[int]bool{
		n.once(0, 1, history.OK, history.Acquire, 1):     true,
		n.once(10*ms, 1, history.OK, history.Acquire, 2): false,
		n.once(20*ms, 1, history.OK, history.Acquire, 1): false, // whatever it says
		n.once(30*ms, 1, history.OK, history.Release, 2): false,
		n.once(40*ms, 1, history.OK, history.Release, 1): false,
		n.once(50*ms, 1, history.OK, history.Release, 0): true,
		n.once(60*ms, 1, history.OK, history.Extend, 0):  true,
		n.once(70*ms, 1, history.OK, history.Read, 0):    false,
	}
	j := n.judged()
	for op, outer := range want {
		if got := j.outermost(op); got != outer {
			t.Errorf("%s at %d ms, told %d: %v", j.Ops[op].F, (j.Ops[op].Time-origin)/ms, j.Ops[op].Depth, got)
		}
	}
}

// Who was refused its last release surely had a hold left where it has given back less than it took, and was told of its first hold: what became of one
// that it was not told of nobody knows.
func TestRefusedSurely(t *testing.T) {
	type step struct {
		typ   history.Type
		f     history.F
		depth int32
	}
	for i, c := range []struct {
		steps []step
		want  bool
	}{
		{[]step{{history.OK, history.Acquire, 1}, {history.OK, history.Acquire, 2}, {history.Info, history.Release, 0}}, true},
		{[]step{{history.Info, history.Acquire, 0}, {history.OK, history.Acquire, 2}, {history.OK, history.Release, 1}}, false},
	} {
		n := newCrossNest()
		for at, s := range append(c.steps, step{history.Fail, history.Release, 0}) {
			n.once(int64(at)*10*ms, 1, s.typ, s.f, s.depth)
		}
		j := n.judged()
		if g := j.Grants[0]; g.Done != len(n.ops)-1 || j.refusedSurely(g) != c.want {
			t.Errorf("%d: released by %d: %v", i, g.Done, j.refusedSurely(g))
		}
	}
}

// What was told to be the last release ends no lease by itself: what its holder had goes on until that is due, as far as it is known when.
func TestLeaseBesideALastRelease(t *testing.T) {
	for _, clock := range []bool{true, false} {
		n := newCrossNest()
		n.once(0, 1, history.OK, history.Acquire, 1)
		n.once(500*ms, 1, history.OK, history.Release, 0)
		if !clock {
			clearMono(n.builder)
		}
		j := n.judged()
		g, want := j.Grants[0], int64(500*ms)
		if clock {
			want = sec - trace.ClockNoise
		}
		if got := j.lastsFor(g, nestedAsk{from: g.Release, to: g.Done, by: -1}) - origin; got != want {
			t.Errorf("with a clock %v: %d us, want %d", clock, got/1000, want/1000)
		}
	}
}

// Who holds a lock, asks for it again and is never answered waits for itself, as another thread of it shows that goes on.
func TestNeverAnsweredWhatItHolds(t *testing.T) {
	for _, goesOn := range []int64{6 * sec, 900 * ms} {
		b := newBuilder()
		answeredAfter(goesOn, history.Info)(b)
		b.ops = b.ops[:len(b.ops)-1]
		if p := reentrancy(newRun(b.done())).property("reentrancy"); (p.Verdict == Violated) != (goesOn > 2*sec) {
			t.Errorf("%d ms: %s: %s", goesOn/ms, p.Verdict, p.Reason)
		}
	}
}
