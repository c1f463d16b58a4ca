package checker

import (
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// Whose first release was refused has lost what it believed in, unless it had been told so before, does not know how often it has the lock,
// or did not believe in it any more.
func TestDenied(t *testing.T) {
	refused := func(b *builder, h *held) { b.does(500*ms, h, history.Release, history.Fail) }
	onceMore := func(b *builder, h *held) { // or not
		b.kind(history.Reentrant)
		b.op(100*ms, h.node, history.Invoke, history.Acquire, "k").Owner = h.owner
		b.op(200*ms, h.node, history.Info, history.Acquire, "k").Owner = h.owner
	}
	for _, c := range []struct {
		name string
		what func(*builder, *held)
		want int
	}{
		{"kept", func(*builder, *held) {}, 0},
		{"given back", func(b *builder, h *held) { b.does(500*ms, h, history.Release, history.OK) }, 0},
		{"refused", refused, 1},
		{"refused twice", func(b *builder, h *held) { refused(b, h); b.does(600*ms, h, history.Release, history.Fail) }, 1},
		{"told before", func(b *builder, h *held) { b.note(400*ms, h, history.Lost); refused(b, h) }, 0},
		{"did not write", func(b *builder, h *held) { b.note(400*ms, h, history.Abstain); refused(b, h) }, 0},
		{"may have it once more", func(b *builder, h *held) {
			onceMore(b, h)
			b.does(300*ms, h, history.Release, history.OK)
			refused(b, h)
		}, 0},
		{"has it twice, or once", func(b *builder, h *held) {
			onceMore(b, h)
			refused(b, h)
		}, 1},
		{"has it once, or not at all", func(b *builder, h *held) {
			onceMore(b, h)
			b.does(300*ms, h, history.Release, history.Info)
			refused(b, h)
		}, 0},
		{"had it before, or not", func(b *builder, h *held) { // which hold of it was refused nobody knows
			b.kind(history.Reentrant)
			b.ops[len(b.ops)-1].Depth = 2
			b.process[h.node] = 0
			b.op(-200*ms, h.node, history.Invoke, history.Acquire, "k").Owner = h.owner
			b.op(-100*ms, h.node, history.Info, history.Acquire, "k").Owner = h.owner
			refused(b, h)
		}, 0},
		{"had given back another hold, or not", func(b *builder, h *held) {
			b.does(300*ms, h, history.Release, history.Info)
			b.does(500*ms, b.grantOf(390*ms, 400*ms, h.node, 2), history.Release, history.Fail)
		}, 1},
	} {
		b := newBuilder()
		c.what(b, b.grantOf(0, 10*ms, "client-1", 1))
		if got := len(newRun(b.done()).denied()); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// lossAt is the one loss of a history.
func lossAt(t *testing.T, what ...func(*builder)) *run {
	t.Helper()
	b := newBuilder()
	b.setup.Servers = []string{"server-1", "server-2", "server-3"}
	for _, f := range what {
		f(b)
	}
	r := newRun(b.done())
	if r.Losses = append(r.Losses, r.denied()...); len(r.Losses) != 1 {
		t.Fatalf("%d losses", len(r.Losses))
	}
	return r
}

// The service still had a hold as a look named it, or as it took a part of it back, before the client asked for what it was refused.
func TestFoundHeld(t *testing.T) {
	owner := "client-1/1"
	holds := func(b *builder) {
		b.kind(history.Semaphore)
		b.setup.Permits = 3
		b.permits(20*ms, 50*ms, "client-1", 2, 1)
	}
	looks := func(sent int64, owner string) func(*builder) {
		return func(b *builder) { b.seen(sent, sent+ms, owner) }
	}
	back := func(at int64, h *held, n int32, outcome history.Type) func(*builder) {
		return func(b *builder) {
			b.op(at, h.node, history.Invoke, history.Release, "k").Owner = h.owner
			b.ops[len(b.ops)-1].Permits = n
			b.op(at+5*ms, h.node, outcome, history.Release, "k").Owner = h.owner
		}
	}
	h := &held{node: "client-1", key: "k", owner: owner}
	lost := func(b *builder) { b.note(900*ms, h, history.Lost) }
	refused := back(895*ms, h, 2, history.Fail)
	for _, c := range []struct {
		name string
		what []func(*builder)
		want int64 // 0: never
	}{
		{"nobody looked", []func(*builder){lost}, 0},
		{"a look", []func(*builder){looks(100*ms, owner), lost}, 100 * ms},
		{"the last of two", []func(*builder){looks(100*ms, owner), looks(200*ms, owner), lost}, 200 * ms},
		{"of another", []func(*builder){looks(100*ms, "client-2/9"), lost}, 0},
		{"before it was granted", []func(*builder){looks(40*ms, owner), lost}, 0},
		{"after it was told", []func(*builder){looks(910*ms, owner), lost}, 0},
		{"after it had asked", []func(*builder){looks(896*ms, owner), refused}, 0},
		{"before it had asked", []func(*builder){looks(893*ms, owner), refused}, 893 * ms},
		{"a look that failed", []func(*builder){looks(100*ms, owner), func(b *builder) { b.ops[len(b.ops)-1].Error = "refused" }, lost}, 0},
		{"gave a part back", []func(*builder){looks(100*ms, owner), back(300*ms, h, 1, history.OK), lost}, 300 * ms},
		{"gave a part back and was seen", []func(*builder){back(300*ms, h, 1, history.OK), looks(400*ms, owner), lost}, 400 * ms},
		{"may have given a part back", []func(*builder){looks(100*ms, owner), back(300*ms, h, 1, history.Info), lost}, 100 * ms},
		{"of few of many servers", []func(*builder){ofFew, looks(100*ms, owner), lost}, 0},
	} {
		r := lossAt(t, append([]func(*builder){holds}, c.what...)...)
		if got := r.foundHeld(r.Losses[0]); got != c.want && got != origin+c.want {
			t.Errorf("%s: %d, want %d ms", c.name, got, c.want/ms)
		}
	}
}

// What is still unanswered as a client is told of its loss may be why it believes that. What the service told has been answered.
func TestLossAsItIsAsked(t *testing.T) {
	h := &held{node: "client-1", key: "k", owner: "client-1/1"}
	holds := func(b *builder) { b.grantOf(0, 10*ms, "client-1", 1) }
	renews := func(outcome history.Type, done int64) func(*builder) {
		return func(b *builder) {
			b.op(100*ms, "renewer", history.Invoke, history.Extend, "k").Owner = h.owner
			b.op(done, "renewer", outcome, history.Extend, "k").Owner = h.owner
		}
	}
	lost := func(b *builder) { b.note(600*ms, h, history.Lost) }
	session := func(b *builder) { // one server of three is out of its reach
		b.setup.Promise.Session, b.setup.Promise.Survives = true, history.Absence
		b.partition(100*ms, 1100*ms, 1, []string{"client-1"}, []string{"server-1"})
	}
	for _, c := range []struct {
		name   string
		what   []func(*builder)
		waited bool // for an eighth of a lease
		cause  bool
	}{
		{"told", []func(*builder){holds, lost}, false, false},
		{"a renewal that is answered later", []func(*builder){holds, renews(history.OK, 700*ms), lost}, true, true},
		{"one that was answered", []func(*builder){holds, renews(history.OK, 500*ms), lost}, false, false},
		{"the refusal itself", []func(*builder){holds, session, renews(history.Fail, 600*ms)}, false, false},
		{"a session, told by its own side", []func(*builder){holds, session, lost}, false, true},
		{"a session, told by the service", []func(*builder){holds, session, func(b *builder) { b.does(600*ms, h, history.Release, history.Fail) }}, false, false},
	} {
		r := lossAt(t, c.what...)
		l := r.Losses[0]
		if got := r.waitedOn(l, r.Ops[l.Claim.By].Time, r.Ops[l.Op].Time); got != c.waited {
			t.Errorf("%s: waited %v", c.name, got)
		}
		if got := r.hasCause(l); got != c.cause {
			t.Errorf("%s: a cause %v", c.name, got)
		}
	}
}

// A refusal that is answered in 50 ms at most was not asked for twice by reason of packets that a fault keeps back all the while, and no
// stall made a lease shorter, but one of who gives back may have had its library ask twice.
func TestAskedTwiceAtItsLimit(t *testing.T) {
	gives := func(f history.F, took int64) func(*builder) {
		return func(b *builder) {
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.op(300*ms, h.node, history.Invoke, f, "k").Owner = h.owner
			b.op(300*ms+took, h.node, history.Fail, f, "k").Owner = h.owner
		}
	}
	cut := func(from int64) func(*builder) {
		return func(b *builder) {
			b.fault(from, 800*ms, 1, "partition", "client-1", "server-1", "server-2", "server-3")
		}
	}
	stalled := func(node string) func(*builder) { return func(b *builder) { b.stall(305*ms, node, 200*ms) } }
	for _, c := range []struct {
		name          string
		what          []func(*builder)
		twice, steady bool
	}{
		{"no fault", []func(*builder){gives(history.Release, 60*ms)}, false, true},
		{"cut off, and answered at once", []func(*builder){gives(history.Release, 50*ms), cut(100 * ms)}, false, true},
		{"cut off, and answered after a while", []func(*builder){gives(history.Release, 50*ms+1), cut(100 * ms)}, true, true},
		{"cut off meanwhile", []func(*builder){gives(history.Release, 50*ms), cut(320 * ms)}, true, true},
		{"a renewal", []func(*builder){gives(history.Extend, 60*ms), cut(100 * ms)}, false, true},
		{"stalled", []func(*builder){gives(history.Release, 50*ms), stalled("client-1")}, false, false},
		{"another stalled", []func(*builder){gives(history.Release, 50*ms), stalled("client-2")}, false, true},
		{"a server stalled", []func(*builder){gives(history.Release, 50*ms), stalled("server-1")}, false, false},
		{"stalled as it renews", []func(*builder){gives(history.Extend, 50*ms), stalled("client-1")}, false, true},
	} {
		r := lossAt(t, c.what...)
		if got := r.askedTwice(r.Losses[0]); got != c.twice {
			t.Errorf("%s: twice %v", c.name, got)
		}
		if got := r.refusedSteadily(r.Losses[0]); got != c.steady {
			t.Errorf("%s: steadily %v", c.name, got)
		}
	}
}

// A session that renews by itself may have had no answer for two thirds of a lease, as the server that it spoke to was away, or out of its reach.
func TestStarved(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  func(*builder)
		renews bool
		want   bool
	}{
		{"no fault", nothing, true, false},
		{"a server away", faultToo(400*ms, 2*sec, "pause", "server-1"), true, true},
		{"one that its holder renews", faultToo(400*ms, 2*sec, "pause", "server-1"), false, false},
		{"away too late", faultToo(700*ms, 2*sec, "pause", "server-1"), true, false},
		{"cut off from one", func(b *builder) { b.fault(400*ms, 2*sec, 1, "partition", "client-1", "server-1") }, true, true},
		{"cut off from another client", func(b *builder) { b.fault(400*ms, 2*sec, 1, "partition", "client-1", "client-2") }, true, false},
		{"slow for a while", func(b *builder) { b.slow(400*ms, 2*sec, 1, "client-1", 10*ms) }, true, false},
		{"another is slow", func(b *builder) { b.slow(400*ms, 2*sec, 1, "client-2", 10*ms) }, true, false},
	} {
		r := lossAt(t, func(b *builder) {
			b.setup.Promise.Session, b.setup.Promise.Renews, b.setup.Lease = true, c.renews, time.Second
			h := b.grantOf(0, 10*ms, "client-1", 1)
			c.fault(b)
			b.note(1200*ms, h, history.Lost)
			b.endless()
		})
		if got := r.starved(r.Losses[0].Grant, origin+9*ms, origin+1200*ms); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
