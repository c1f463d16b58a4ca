package checker

import (
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// Who holds a key and asks for it again, at the very limits: its lease is owed until 1.009 s.
func TestReentrancyAtItsLimits(t *testing.T) {
	asks := func(from, to int64, then func(*history.Op)) func(*builder) {
		return func(b *builder) {
			b.kind(history.Reentrant)
			b.op(ms, "client-2", history.Invoke, history.Acquire, "k") // so there is contention
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.claimMore("client-1", 10*ms, ms) // until 1.010 s by its clock
			b.op(20*ms, "client-2", history.Fail, history.Acquire, "k")
			b.op(21*ms, "client-2", history.Invoke, history.Acquire, "k")
			b.op(from, "client-1", history.Invoke, history.Acquire, "k")
			op := b.op(to, "client-1", history.Fail, history.Acquire, "k")
			then(op)
			b.note(to+ms, h, history.Lost)
		}
	}
	fails := func(*history.Op) {}
	busy := func(op *history.Op) { op.Busy = true }
	anew := func(op *history.Op) {
		op.Type, op.Owner, op.Token, op.Depth, op.Lease, op.Sent, op.Deadline = history.OK, "client-1/new", 9, 1, sec, op.Time, op.Mono+sec
	}
	owed := 1010*ms - trace.ClockNoise
	atLimits(t, "reentrancy", reentrancy, []limit{
		{"refused as its lease ends", asks(owed-ms, owed, busy), Violated, "1 breach of the rules for holds within holds, of which there were 1"},
		{"refused just after", asks(owed-ms, owed+1, busy), Unknown, "Nobody is known to have taken again"},
		{"granted anew as its lease ends", asks(20*ms, owed, anew), Violated, "1 breach of the rules for holds within holds, of which there were 1"},
		{"waited for itself until its lease had ended", asks(20*ms, owed+1, anew), Violated, "1 breach of the rules for holds within holds, of which there were 1"},
		{"waited in vain for half a lease", asks(20*ms, 520*ms, fails), Unknown, "Nobody is known to have taken again"},
		{"and longer", asks(20*ms, 520*ms+1, fails), Violated, "1 breach"},
		{"not answered", asks(20*ms, 520*ms+1, func(op *history.Op) { op.Type = history.Info }), Unknown, "Nobody is known to have taken again"},
		{"a fault keeps it waiting", func(b *builder) { asks(20*ms, 520*ms+1, fails)(b); b.fault(30*ms, 40*ms, 1, "pause", "server-1") }, Unknown, "Nobody is known to have taken again"},
		{"another key", func(b *builder) {
			asks(20*ms, 520*ms+1, busy)(b)
			for i := range b.ops {
				if b.ops[i].Node == "client-1" && b.ops[i].Time >= origin+20*ms {
					b.ops[i].Key = "l"
				}
			}
		}, Unknown, "Nobody is known to have taken again"},
	})
}

// To be told that it holds the lock still is an act on it, of a stale holder too.
func TestHoldsWithinHoldsAreActs(t *testing.T) {
	for name, act := range map[string]func(*builder, *held){
		"takes it again": func(b *builder, h *held) { b.again(3*sec, h, 2, 1) },
		"gives it back":  func(b *builder, h *held) { b.again(20*ms, h, 2, 1); b.back(3*sec, h, 1) },
	} {
		b := newBuilder().kind(history.Reentrant)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.grantOf(30*ms, 2*sec, "client-2", 2)
		act(b, h)
		if p := mutualExclusion(newRun(b.done())).property("mutual-exclusion"); p.Verdict != Violated {
			t.Errorf("%s: %s: %s", name, p.Verdict, p.Reason)
		}
	}
}

// Who is refused an inner release was told of its loss, and who got no answer may have
// given back more than it knows.
func TestUnknownDepths(t *testing.T) {
	b := newBuilder().kind(history.Reentrant)
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.again(20*ms, h, 2, 1)
	b.does(30*ms, h, history.Release, history.Fail)
	if g := newRun(b.done()).Grants[0]; g.End != origin+31*ms || g.Told != g.End {
		t.Errorf("refused: believes until %d, told at %d", g.End-origin, g.Told-origin)
	}
	for told, ends := range map[int32]int64{2: 50 * ms, 3: 60 * ms} { // it gives back all but one, which the lost release may give back yet
		b := newBuilder().kind(history.Reentrant)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.does(20*ms, h, history.Release, history.Info)
		b.again(40*ms, h, told, 1)
		b.back(50*ms, h, told-1)
		b.back(60*ms, h, told-2)
		if g := newRun(b.done()).Grants[0]; g.End != origin+ends {
			t.Errorf("%d holds: believes until %d, want %d", told, g.End-origin, ends)
		}
	}
	b = newBuilder().kind(history.Reentrant)
	h = b.grantOf(0, 10*ms, "client-1", 1)
	b.does(20*ms, h, history.Release, history.Info)
	b.op(30*ms, "client-1", history.Note, history.Lost, "") // of its session, which has no grant then
	b.again(40*ms, h, 2, 1)
	b.op(50*ms, "client-1", history.Note, history.Lost, "")
	if g := newRun(b.done()).Grants[0]; g.End != origin+50*ms || len(newRun(b.done()).Losses) != 1 {
		t.Errorf("who holds on and is told of its loss believes until %d", g.End-origin)
	}
}

// An answer that comes beside a release without an answer tells no depth for certain.
func TestDepthBesideAnUnknownOutcome(t *testing.T) {
	for open, want := range map[history.Type]string{history.Info: "kept it until its last release", history.OK: "1 breach"} {
		b := newBuilder().kind(history.Reentrant)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.again(12*ms, h, 2, 1)
		b.process["client-1"] = 0
		b.op(20*ms, "client-1", history.Invoke, history.Acquire, "k")
		second := b.process["client-1"]
		b.process["client-1"] = 1
		b.op(21*ms, "client-1", history.Invoke, history.Release, "k").Owner = h.owner
		b.process["client-1"] = second
		b.claim(b.op(22*ms, "client-1", history.OK, history.Acquire, "k"), h, 20*ms)
		b.ops[len(b.ops)-1].Depth = 2 // it may have been given back before
		b.process["client-1"] = 1
		done := b.op(23*ms, "client-1", open, history.Release, "k")
		done.Owner, done.Depth = h.owner, 2
		b.refuse(24*ms, 25*ms, "client-2", history.Acquire, 0)
		if p := reentrancy(newRun(b.done())).property("reentrancy"); !strings.Contains(p.Reason, want) {
			t.Errorf("%s: %s, want %q", open, p.Reason, want)
		}
	}
}

// An answer that comes after the deadline that it names shows that its holder is alive.
func TestLateInnerGrant(t *testing.T) {
	b := newBuilder().kind(history.Reentrant)
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.does(20*ms, h, history.Extend, history.Info) // from now on another process asks
	b.op(500*ms, "client-1", history.Invoke, history.Acquire, "k")
	b.claim(b.op(1700*ms, "client-1", history.OK, history.Acquire, "k"), h, 500*ms)
	b.ops[len(b.ops)-1].Depth = 2
	if g := newRun(b.done()).Grants[0]; g.End != trace.Forever {
		t.Errorf("believes until %d", g.End-origin)
	}
}

// A lock that tells no deadline owes a grant, sent at 100 ms, for a lease, and one with a
// session until a fault.
func TestLeasedUntil(t *testing.T) {
	for _, c := range []struct {
		validity  history.Validity
		session   bool
		from, to  int64
		wantUntil int64
	}{
		{history.Told, false, 0, 0, trace.Forever},
		{history.Untold, false, 5 * sec, 6 * sec, 1100 * ms},
		{history.Untold, true, 5 * sec, 6 * sec, 5 * sec},
		{history.Untold, true, 200 * ms, 6 * sec, 600 * ms}, // its last heartbeat may have been before
		{history.Untold, true, 50 * ms, 100 * ms, 600 * ms},
		{history.Untold, true, 50 * ms, 100*ms - 1, 600 * ms}, // what it did lingers
		{history.Untold, true, -9 * sec, -8 * sec, trace.Forever},
	} {
		r := &run{Trace: &trace.Trace{Setup: history.Setup{Lease: 1e9, Promise: history.Promise{Leased: true, Validity: c.validity, Session: c.session, Renews: c.session}}, Ops: make([]history.Op, 1),
			Faults: []*trace.Fault{{From: c.from, To: c.to}, {Begin: -1, From: 150 * ms, To: trace.Forever}}}}
		if got := r.leasedUntil(&trace.Grant{Sent: 100 * ms}); got != c.wantUntil {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
