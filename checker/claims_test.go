package checker

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// What ends a grant at the instant at which another was granted the key has ended it by then: a renewal that is told ok
// long after that says nothing of it.
func TestLateAnswerAtTheInstant(t *testing.T) {
	for _, c := range []struct {
		name string
		ends func(*builder, *held, int64)
		want Verdict
	}{
		{"nothing ends it", func(*builder, *held, int64) {}, Violated},
		{"told of its loss a moment later", func(b *builder, h *held, at int64) { b.note(at+1, h, history.Lost) }, Violated},
		{"told of its loss", func(b *builder, h *held, at int64) { b.note(at, h, history.Lost) }, Holds},
		{"given back a moment later", func(b *builder, h *held, at int64) { b.does(at+1, h, history.Release, history.Fail) }, Violated},
		{"given back", func(b *builder, h *held, at int64) { b.does(at, h, history.Release, history.Fail) }, Holds},
	} {
		b := newBuilder()
		renewedLate(b, 1300*ms, false)
		c.ends(b, &held{node: "client-1", key: "k", owner: "client-1/1"}, 1300*ms)
		if p := honestClaims(newRun(b.done())).property("honest-claims"); p.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", c.name, p.Verdict, c.want, p.Reason)
		}
	}
}

// The ok of a release of a lock that answers nothing to it is no claim, so it is no rival's either.
func TestMuteRelease(t *testing.T) {
	for mute, want := range map[bool]Verdict{false: Violated, true: Holds} {
		b := newBuilder()
		overtakes(b, history.OK)
		b.setup.Promise.Mute = mute
		if p := honestClaims(newRun(b.done())).property("honest-claims"); p.Verdict != want {
			t.Errorf("mute %v: %s, want %s: %s", mute, p.Verdict, want, p.Reason)
		}
	}
}

// Of a lock whose holders may change their mode, one that did leaves open what it had when another was granted the lock.
func TestClaimOfWhoChanges(t *testing.T) {
	for turns, want := range map[bool]Verdict{false: Violated, true: Holds} {
		b := newBuilder().kind(history.ReadWrite)
		b.setup.Promise.Changes = true
		h := b.as(0, 10*ms, "client-1", exclusive, 1)
		if turns {
			b.turn(100*ms, h, shared, history.OK)
		}
		o := b.as(500*ms, 1500*ms, "client-2", shared, 2)
		b.does(1600*ms, o, history.Release, history.OK)
		b.does(1700*ms, h, history.Release, history.OK)
		if p := honestClaims(newRun(b.done())).property("honest-claims"); p.Verdict != want {
			t.Errorf("turns %v: %s, want %s: %s", turns, p.Verdict, want, p.Reason)
		}
	}
}

// An acquire of unknown outcome that is known as whom it may hold the key explains no claim of another owner.
func TestStrangerBesideANamedAcquire(t *testing.T) {
	for as, want := range map[string]Verdict{"": Holds, "client-9/one": Violated} {
		b := newBuilder()
		turns(b)
		b.op(2400*ms, "client-9", history.Invoke, history.Acquire, "k")
		b.op(2450*ms, "client-9", history.Info, history.Acquire, "k").Owner = as
		b.does(2500*ms, &held{node: "client-9", key: "k", owner: "client-9/none"}, history.Release, history.OK)
		if p := honestClaims(newRun(b.done())).property("honest-claims"); p.Verdict != want {
			t.Errorf("unknown as %q: %s, want %s: %s", as, p.Verdict, want, p.Reason)
		}
	}
}

// Answers may come in another order than their requests were sent.
func TestClaimBehindSlowAnswers(t *testing.T) {
	b := newBuilder().kind(history.ReadWrite)
	h := b.as(0, 10*ms, "client-1", exclusive, 1)
	b.as(1100*ms, 1300*ms, "client-2", shared, 2)
	for i, node := range []string{"client-3", "client-4"} {
		b.sent(b.as(int64(i)*ms, 1900*ms+int64(i)*ms, node, shared, int64(3+i)), int64(i)*ms)
	}
	b.does(2*sec, h, history.Release, history.OK)
	if p := honestClaims(newRun(b.done())).property("honest-claims"); p.Verdict != Violated {
		t.Errorf("%s: %s", p.Verdict, p.Reason)
	}
}

// A look at the only server tells what is true, also where the records of that server have not come. One look of several servers
// may have asked another than the one that knows.
func TestClaimBesideMissingRecords(t *testing.T) {
	for _, c := range []struct {
		servers int
		came    bool
		want    Verdict
	}{
		{1, true, Violated}, {1, false, Violated}, {3, true, Violated}, {3, false, Unknown},
	} {
		b := newBuilder()
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.seen(1200*ms, 1201*ms, "")
		b.does(1500*ms, h, history.Extend, history.OK)
		b.final(5 * sec)
		if c.came {
			b.ended()
		} else {
			b.ended("server-1")
		}
		b.setup.Servers = []string{"server-1", "server-2", "server-3"}[:c.servers]
		if p := judgeAll(b.done()).Property("honest-claims"); p.Verdict != c.want {
			t.Errorf("%+v: %s: %s", c, p.Verdict, p.Reason)
		}
	}
}

// The reason counts the false answers also where something else is told beside them.
func TestClaimsCountedBesideSilence(t *testing.T) {
	b := newBuilder()
	unsaidLoss(10 * sec)(b)
	b.does(9*sec, &held{node: "client-1", key: "k", owner: "client-1/1"}, history.Extend, history.OK)
	const want = "1 of 2 ok answers to extend or release came although the client did not hold the lock. " +
		"1 holder was told nothing of the loss of the lock."
	if p := judgeAll(b.done()).Property("honest-claims"); p.Verdict != Violated || p.Reason != want {
		t.Errorf("%s: %s", p.Verdict, p.Reason)
	}
}
