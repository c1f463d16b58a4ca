package checker

import (
	"fmt"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// slowHandover is a lock whose handover takes longer than to think and to work: each
// client that gave it back asks again before the next one has it, so nobody's acquire is
// invoked while another believes.
func slowHandover(b *builder, clients int) {
	b.setup.Clients = nil
	for i := range clients {
		b.setup.Clients = append(b.setup.Clients, fmt.Sprintf("client-%d", i+1))
	}
	asked := make([]int64, clients)
	for turn := range int64(4 * clients) {
		i := turn % int64(clients)
		at := turn * 200 * ms // 20 ms of work, 180 of handover
		h := b.grant(asked[i], at+100*ms, b.setup.Clients[i], "k", turn+1)
		b.read(at+105*ms, h)
		b.write(at+110*ms, h)
		b.does(at+120*ms, h, history.Release, history.OK)
		asked[i] = at + 130*ms
	}
	b.final(int64(4*clients)*200*ms + sec)
}

func TestWhoQueuesContends(t *testing.T) {
	b := newBuilder()
	b.setup.Expect.Contention = 1
	slowHandover(b, 5)
	setup, ops := b.done()
	r := Judge(setup, ops)
	if p := r.Property("mutual-exclusion"); p.Verdict != Holds || r.Counts.Contended < 15 || r.TooLittle {
		t.Errorf("%s: %s; %d contended, %q", p.Verdict, p.Reason, r.Counts.Contended, r.Doubts)
	}
}

// One client alone contends with nobody, however long it waits; nor do two that never meet.
func TestWhoIsAloneDoesNot(t *testing.T) {
	for name, scene := range map[string]func(*builder){
		"alone": func(b *builder) { slowHandover(b, 1) },
		"in turns": func(b *builder) {
			for i := range int64(6) {
				h := b.grant(i*sec, i*sec+100*ms, b.setup.Clients[i%3], "k", i+1)
				b.read(i*sec+110*ms, h)
				b.write(i*sec+120*ms, h)
				b.does(i*sec+200*ms, h, history.Release, history.OK)
			}
		},
		"on keys of their own": func(b *builder) {
			b.setup.Keys = []string{"k", "l"}
			b.does(300*ms, b.grant(0, 10*ms, "client-1", "k", 1), history.Release, history.OK)
			b.does(400*ms, b.grant(100*ms, 110*ms, "client-2", "l", 2), history.Release, history.OK)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBuilder()
			scene(b)
			setup, ops := b.done()
			if r := Judge(setup, ops); r.Counts.Contended != 0 || r.Property("mutual-exclusion").Verdict != Unknown || !r.TooLittle {
				t.Errorf("%d contended, %+v", r.Counts.Contended, r.Property("mutual-exclusion"))
			}
		})
	}
}

// A wait that ends as a belief begins, and one that begins as it ends, do not meet it.
func TestContentionAtItsLimits(t *testing.T) {
	for _, c := range []struct {
		from, to int64
		want     int
	}{{0, 100 * ms, 0}, {0, 100*ms + 1, 1}, {200 * ms, 300 * ms, 0}, {200*ms - 1, 300 * ms, 1}, {120 * ms, 150 * ms, 1}, {0, 900 * ms, 1}} {
		b := newBuilder()
		h := b.grant(90*ms, 100*ms, "client-1", "k", 1)
		b.does(200*ms, h, history.Release, history.OK)
		b.op(c.from, "client-2", history.Invoke, history.Acquire, "k")
		b.op(c.to, "client-2", history.Fail, history.Acquire, "k")
		r := newRun(b.done())
		if r.counts.Contended != c.want {
			t.Errorf("from %d to %d: %d, want %d", c.from, c.to, r.counts.Contended, c.want)
		}
	}
}

// Whose requests all failed at once need not have reached the service, and tested nothing.
func TestContentionOfWhomNobodyHeard(t *testing.T) {
	for _, c := range []struct {
		granted bool
		want    int
	}{{false, 0}, {true, 3}} {
		b := newBuilder()
		if c.granted {
			b.does(20*ms, b.grant(0, 10*ms, "client-2", "k", 1), history.Release, history.OK)
		}
		h := b.grant(90*ms, 100*ms, "client-1", "k", 2)
		for i := range int64(3) {
			b.op((110+10*i)*ms, "client-2", history.Invoke, history.Acquire, "k")
			b.op((112+10*i)*ms, "client-2", history.Info, history.Acquire, "k").Error = "connection refused"
		}
		b.does(200*ms, h, history.Release, history.OK)
		if r := newRun(b.done()); r.counts.Contended != c.want {
			t.Errorf("granted before: %v: %d contended, want %d", c.granted, r.counts.Contended, c.want)
		}
	}
}

// Of a client's own holds, one that it never gave back may have begun before one that is over: none of them is another's.
func TestNoContentionWithItself(t *testing.T) {
	for _, other := range []bool{false, true} {
		b := newBuilder().kind(history.Semaphore)
		b.setup.Permits = 4
		b.permits(0, 10*ms, "client-1", 1, 1)
		b.does(200*ms, b.permits(20*ms, 30*ms, "client-1", 1, 2), history.Release, history.OK)
		b.does(250*ms, b.permits(40*ms, 50*ms, "client-1", 1, 3), history.Release, history.OK)
		want := 0
		if other {
			b.permits(260*ms, 270*ms, "client-2", 1, 4)
			want = 2 // its wait beside the first hold, and the wait of client-1 beside its own
		}
		b.op(300*ms, "client-1", history.Invoke, history.Acquire, "k")
		b.op(310*ms, "client-1", history.Fail, history.Acquire, "k")
		if r := newRun(b.done()); r.counts.Contended != want {
			t.Errorf("beside another %v: %d contended, want %d", other, r.counts.Contended, want)
		}
	}
}

// Of two grants of which nobody knows which came first, and that were both written on, one was stale; permits stand beside each other.
func TestOpenlyStaleWrites(t *testing.T) {
	for kind, want := range map[history.Kind]int{history.Mutex: 1, history.Semaphore: 0, history.ReadWrite: 0} {
		b := newBuilder().kind(kind)
		b.setup.Promise.Token, b.setup.Permits = false, 2
		h := b.grant(0, 100*ms, "client-1", "k", 0)
		o := b.grant(ms, 101*ms, "client-2", "k", 0)
		for at, g := range []*held{h, o} {
			b.read((110+int64(at)*10)*ms, g)
			b.write((115+int64(at)*10)*ms, g)
		}
		if r := newRun(b.done()); r.counts.StaleWrites != want {
			t.Errorf("%s: %d stale writes, want %d", kind, r.counts.StaleWrites, want)
		}
	}
}
