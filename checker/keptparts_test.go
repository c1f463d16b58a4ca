package checker

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// A hold is owed until it is given back, and until its holder is told that it is lost or may be: but not because of what a client is told by its
// own side, while nothing that it sends reaches any server.
func TestKeptUntil(t *testing.T) {
	cut := func(b *builder) { b.fault(100*ms, 1500*ms, 1, "partition", "server-1", "client-1") }
	lost := func(b *builder, h *held) { b.note(700*ms, h, history.Lost) }
	warned := func(b *builder, h *held) { b.note(700*ms, h, history.Suspended) }
	for _, c := range []struct {
		name  string
		fault func(*builder)
		what  func(*builder, *held)
		want  int64
	}{
		{"its lease", nothing, func(*builder, *held) {}, 2 * sec},
		{"given back", nothing, func(b *builder, h *held) { b.does(800*ms, h, history.Release, history.OK) }, 800 * ms},
		{"given back while it is cut off", cut, func(b *builder, h *held) { b.does(800*ms, h, history.Release, history.Info) }, 800 * ms},
		{"does not write while it is cut off", cut, func(b *builder, h *held) { b.note(800*ms, h, history.Abstain) }, 800 * ms},
		{"lost", nothing, lost, 700 * ms},
		{"lost while it is cut off", cut, lost, 1500 * ms},
		{"it may be lost", nothing, warned, 700 * ms},
		{"it may be lost, while it is cut off", cut, warned, 1500 * ms},
		{"it may be lost, and is safe", nothing, func(b *builder, h *held) { warned(b, h); b.note(900*ms, h, history.Resumed) }, 2 * sec},
	} {
		b := newBuilder()
		b.setup.Servers, b.setup.Lease = []string{"server-1"}, 2*time.Second
		c.fault(b)
		c.what(b, b.grantOf(0, ms, "client-1", 1))
		r := newRun(b.done())
		if got := r.keptUntil(r.Grants[0]); got != origin+c.want {
			t.Errorf("%s: %d ms, want %d", c.name, (got-origin)/ms, c.want/ms)
		}
	}
}

// Where the servers of a lock are not known, whatever happens to another than a client may happen to them.
func TestKeepsLeases(t *testing.T) {
	ends := func(b *builder) { b.ends(100*ms, "server-1") }
	paused := func(node string) func(*builder) { return faultToo(100*ms, 200*ms, "pause", node) }
	for _, c := range []struct {
		name string
		what func(*builder)
		want [2]bool // of servers that are not known, and that are
	}{
		{"no fault", nothing, [2]bool{true, true}},
		{"a server ended", ends, [2]bool{false, true}},
		{"a server paused", paused("server-1"), [2]bool{false, true}},
		{"a client paused", paused("client-1"), [2]bool{true, true}},
		{"a server ended and one paused", bothOf(ends, paused("server-1")), [2]bool{false, true}},
		{"in a session", func(b *builder) { b.setup.Promise.Session = true }, [2]bool{false, false}},
		{"renewed by itself", func(b *builder) { b.setup.Promise.Renews = true }, [2]bool{false, false}},
		{"without a lease", func(b *builder) { b.setup.Promise.Leased = false }, [2]bool{false, false}},
	} {
		for i, servers := range [][]string{nil, {"server-1"}} {
			b := newBuilder()
			b.setup.Servers = servers
			c.what(b)
			if got := newRun(b.done()).keepsLeases(); got != c.want[i] {
				t.Errorf("%s, servers %v: %v", c.name, servers, got)
			}
		}
	}
}

// Of two clients who ask by wrong clocks, the one that asks last may have been wrong first.
func TestAskedByWrongClocks(t *testing.T) {
	b := newBuilder()
	b.setup.Servers = []string{"server-1"}
	b.fault(500*ms, 800*ms, 1, "clock", "client-1")
	b.fault(200*ms, 900*ms, 2, "clock", "client-2")
	b.grantOf(0, 950*ms, "client-1", 1)
	b.grantOf(100*ms, 850*ms, "client-2", 2)
	r := newRun(b.done())
	if got, want := r.askedByWrongClock(r.named("k")), []trace.Span{{From: origin + 200*ms, To: origin + 950*ms}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A stall of more than half a lease may end a session that was made meanwhile, also where a stall of another server began later and was over before.
func TestStallsOfServers(t *testing.T) {
	for _, c := range []struct{ sent, want int64 }{{0, 100 * ms}, {200 * ms, 200 * ms}, {2 * sec, 2 * sec}, {6 * sec, -1}} {
		b := newBuilder()
		b.setup.Servers, b.setup.Promise.Session = []string{"server-1", "server-2"}, true
		b.stall(5*sec, "server-1", 4900*ms)
		b.stall(1500*ms, "server-2", sec)
		b.grantOf(c.sent, 7*sec, "client-1", 1)
		b.sent(&held{owner: "client-1/1"}, c.sent)
		r := newRun(b.done())
		want := origin + c.want
		if c.want < 0 {
			want = trace.Forever
		}
		if got := r.firstStall(r.Grants[0]); got != want {
			t.Errorf("sent at %d ms: %d ms, want %d", c.sent/ms, (got-origin)/ms, c.want/ms)
		}
	}
}

// A grant that may be over as it is answered was made beside whoever had been granted the key before it was asked for and has it still,
// whoever came between, and whoever was warned meanwhile and told later that it is safe.
func TestDoublesBehindALateAnswer(t *testing.T) {
	renews := func(b *builder, h *held, until int64) { // from 0.5 s on
		for t := int64(500 * ms); t < until; t += 700 * ms {
			b.does(t, h, history.Extend, history.OK)
		}
	}
	holds := func(b *builder, from int64, token int64) *held {
		return b.grantOf(from, from+10*ms, fmt.Sprint("client-", token), token)
	}
	warned := func(b *builder, h *held, from, to int64) {
		b.note(from, h, history.Suspended)
		b.note(to, h, history.Resumed)
	}
	for _, c := range []struct {
		name string
		what func(*builder)
		want []string
	}{
		{"nobody", func(b *builder) { b.does(sec, holds(b, 0, 1), history.Release, history.OK) }, nil},
		{"one", func(b *builder) { renews(b, holds(b, 0, 1), 5*sec) }, []string{"1 9"}},
		{"one, and another between", func(b *builder) {
			renews(b, holds(b, 0, 1), 5*sec)
			b.does(1100*ms, holds(b, sec, 2), history.Release, history.OK)
		}, []string{"1 2", "1 9"}},
		{"one that was warned, and another between", func(b *builder) {
			b.does(100*ms, holds(b, 50*ms, 3), history.Release, history.OK)
			h := holds(b, 200*ms, 1)
			renews(b, h, 5*sec)
			warned(b, h, 600*ms, 700*ms)
			b.does(1500*ms, holds(b, sec, 2), history.Release, history.OK)
		}, []string{"1 2", "1 9"}},
		{"one, and another that is warned for a while", func(b *builder) {
			b.does(40*ms, holds(b, 0, 3), history.Release, history.OK)
			renews(b, holds(b, 50*ms, 1), 5*sec)
			h := holds(b, 200*ms, 2)
			warned(b, h, 600*ms, 5500*ms)
			b.does(5600*ms, h, history.Extend, history.OK)
		}, []string{"1 2", "1 9"}},
		{"two", func(b *builder) {
			h := holds(b, 50*ms, 1)
			renews(b, h, 7*sec)
			warned(b, h, 100*ms, 150*ms)
			renews(b, holds(b, 200*ms, 2), 5*sec)
		}, []string{"1 2", "1 9", "2 9"}},
	} {
		b := newBuilder()
		b.setup.Servers, b.setup.Promise.Session = []string{"server-1"}, true
		b.fault(2500*ms, 2600*ms, 1, "pause", "client-9") // which may have ended its own session
		c.what(b)
		b.grantOf(2*sec, 4*sec, "client-9", 9)
		b.sent(&held{owner: fmt.Sprint("client-9/", b.owners)}, 2*sec)
		r := newRun(b.done())
		var got []string
		for pair := range r.doubles(r.named("k")) {
			got = append(got, fmt.Sprint(pair[0].Token, " ", pair[1].Token))
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
