package checker

import (
	"slices"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// Only where the service itself ends leases or sessions, and says so, does a fault that hit a client leave the others owed what they ask for.
func TestBesideFaults(t *testing.T) {
	hit := func(node string) func(*builder) { return func(b *builder) { b.fault(sec, 2*sec, 1, "pause", node) } }
	promise := func(p history.Promise) func(*builder) { return func(b *builder) { b.setup.Promise = p } }
	for i, c := range []struct {
		what func(*builder)
		want bool
	}{
		{hit("client-1"), true},
		{bothOf(hit("client-1"), promise(history.Promise{Session: true})), true},
		{bothOf(hit("client-1"), promise(history.Promise{})), false},
		{bothOf(hit("client-1"), promise(history.Promise{Leased: true, Mute: true})), false},
		{hit("server-1"), false},
		{nothing, false},
		{func(b *builder) {
			b.op(sec, "client-1", history.Note, history.Fault, "").Fault = &history.FaultNote{ID: 1, Kind: "pause", Target: "client-1", Phase: history.Missed}
		}, false},
	} {
		b := newBuilder()
		b.setup.Servers = []string{"server-1"}
		c.what(b)
		if got := newRun(b.done()).besideFaults(); got != c.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}

// A key is concerned by the faults of servers, and of a client while it asked for it or may have had it: each once, the earlier of two
// times it asked too, as it goes on beside the later one.
func TestConcern(t *testing.T) {
	b := newBuilder()
	b.setup.Servers = []string{"server-1"}
	b.refuse(sec, 9*sec, "client-1", history.Acquire, 0)
	b.process["client-1"] = 0 // another thread
	b.refuse(2*sec, 3*sec, "client-1", history.Acquire, 0)
	b.fault(6*sec, 7*sec, 1, "pause", "client-1")
	b.refuse(5*sec, 8*sec, "client-3", history.Acquire, 0)
	b.fault(6*sec, 7*sec, 2, "partition", "server-1", "client-1", "client-3")
	b.fault(6*sec, 7*sec, 3, "pause", "client-2") // which asked for nothing
	b.fault(12*sec, 13*sec, 4, "pause", "client-1")
	r := newRun(b.done())
	k := r.named("k")
	var got []int
	for _, f := range r.concern(k) {
		got = append(got, f.ID)
	}
	slices.Sort(got)
	if want := []int{1, 2}; !slices.Equal(got, want) {
		t.Errorf("faults %v, want %v", got, want)
	}
	if got, want := r.engaged(k)["client-1"], spansOf(sec, 9*sec); !slices.Equal(got, want) {
		t.Errorf("engaged %v, want %v", got, want)
	}
}

// Who was refused a key has none of it, unless it was hit by a fault and the lock is one of a quorum: it may not have taken its votes back for a
// lease. Who was granted it has it from its answer on, or from its call where a fault hit it.
func TestMayBeHeld(t *testing.T) {
	for i, c := range []struct {
		outcome    history.Type
		hit, votes bool
		want       []trace.Span
	}{
		{history.Fail, false, false, nil},
		{history.Fail, false, true, nil},
		{history.Fail, true, false, nil},
		{history.Fail, true, true, spansOf(sec, 3500*ms)},
		{history.OK, false, false, spansOf(1200*ms, 4*sec)},
		{history.OK, false, true, spansOf(1200*ms, 4*sec)},
		{history.OK, true, false, spansOf(sec, 4*sec)},
		{history.OK, true, true, spansOf(sec, 4*sec)},
	} {
		b := newBuilder()
		b.setup.Servers = []string{"server-1"}
		if c.votes {
			b.setup.Promise.DriftFactor = 0.01
		}
		if c.outcome == history.OK {
			b.does(4*sec-ms, b.grantOf(sec, 1200*ms, "client-1", 1), history.Release, history.OK)
		} else {
			b.refuse(sec, 1200*ms, "client-1", history.Acquire, 0)
		}
		if c.hit {
			b.fault(1100*ms, 1500*ms, 1, "pause", "client-1")
		}
		r := newRun(b.done())
		held, _ := r.mayBeHeld(r.named("k"))
		var got []trace.Span
		for _, h := range held {
			got = append(got, trace.Span{From: h.From, To: h.To})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
}

// What the dead have sent is over a lease after their death, whenever they are started again; not so what is sent under other faults, and by whom
// a kill has missed.
func TestHitsOfAClient(t *testing.T) {
	b := newBuilder()
	b.setup.Servers = []string{"server-1"}
	b.fault(sec, 20*sec, 1, "kill", "client-1")
	b.fault(30*sec, 40*sec, 2, "kill", "client-1")
	b.op(31*sec, "client-1", history.Note, history.Fault, "").Fault = &history.FaultNote{ID: 2, Kind: "kill", Target: "client-1", Phase: history.Missed}
	b.fault(50*sec, 60*sec, 3, "pause", "client-1")
	if got, want := newRun(b.done()).hits("client-1"), spansOf(sec, 2*sec, 30*sec, 41*sec, 50*sec, 61*sec); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Of a lock that may be shared who waits to share it is owed it beside those who share it, and who waits to have it alone is not.
func TestStuckBesideThoseWhoShare(t *testing.T) {
	for i, c := range []struct {
		kind     history.Kind
		mode     history.Mode
		holds    bool
		violated int
	}{
		{history.ReadWrite, exclusive, false, 1},
		{history.ReadWrite, exclusive, true, 0},
		{history.ReadWrite, shared, false, 1},
		{history.ReadWrite, shared, true, 1},
		{history.Semaphore, "", false, 1},
		{history.Semaphore, "", true, 1},
	} {
		b := newBuilder().kind(c.kind)
		b.setup.Servers, b.setup.Lease = []string{"server-1"}, 30e9
		if c.holds {
			h := b.as(0, 10*ms, "client-1", c.mode, 1)
			if c.kind == history.ReadWrite {
				b.ops[0].Mode, b.ops[1].Mode = shared, shared
			} else {
				b.ops[0].Permits, b.ops[1].Permits = 1, 1
			}
			b.does(98*sec, h, history.Release, history.OK)
		}
		b.fault(2*sec, 90*sec, 1, "pause", "client-2")
		for n, typ := range []history.Type{history.Invoke, history.Fail} {
			op := b.op(sec+int64(n)*96*sec, "client-3", typ, history.Acquire, "k")
			if op.Mode = c.mode; c.kind == history.Semaphore {
				op.Permits = 1
			}
		}
		r := newRun(b.done())
		var f found
		if r.stuckBeside(r.named("k"), &f); f.certain != c.violated {
			t.Errorf("%d: %d, want %d: %+v", i, f.certain, c.violated, f.list)
		}
	}
}
