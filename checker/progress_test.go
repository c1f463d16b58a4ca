package checker

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// Whoever waits for a key that nobody holds, with nothing at fault, for more than two
// leases and 3 s (5 s here) is stuck.
func TestStuckAtItsLimits(t *testing.T) {
	asks := func(b *builder, from, to int64, f history.F, outcome history.Type) {
		b.op(from, "client-3", history.Invoke, f, "k")
		b.op(to, "client-3", outcome, f, "k")
	}
	for _, c := range []struct {
		name string
		what func(*builder)
		want int
	}{
		{"as long as may be", func(b *builder) { b.refused(sec, 6*sec) }, 0},
		{"longer", func(b *builder) { b.refused(sec, 6*sec+1) }, 1},
		{"who never returned may be dead", func(b *builder) { b.op(sec, "client-3", history.Invoke, history.Acquire, "k") }, 0},
		{"until it was asked to end", func(b *builder) { b.waitsUntilStop(sec, 6*sec) }, 0},
		{"longer until it was asked to end", func(b *builder) { b.waitsUntilStop(sec, 6*sec+1) }, 1},
		{"until it was killed", func(b *builder) {
			b.waitsUntilStop(sec, 9*sec)
			b.fault(6*sec, 7*sec, 1, "kill", "client-3")
		}, 0},
		{"longer until it was killed", func(b *builder) {
			b.op(sec, "client-3", history.Invoke, history.Acquire, "k")
			b.fault(6*sec+1, 7*sec, 1, "kill", "client-3")
		}, 1},
		{"another was asked to end", func(b *builder) {
			b.op(sec, "client-3", history.Invoke, history.Acquire, "k")
			b.op(9*sec, "client-2", history.Note, history.Stop, "")
		}, 0},
		{"who tries again and again waits", func(b *builder) { asks(b, sec, 9*sec, history.Try, history.Fail) }, 1},
		{"after a fault", func(b *builder) { b.fault(2*sec, 3*sec, 1, "pause", "server-1"); b.refused(sec, 8*sec+2) }, 1},
		{"not long enough after a fault", func(b *builder) { b.fault(2*sec, 3*sec, 1, "pause", "server-1"); b.refused(sec, 8*sec) }, 0},
		{"before a fault", func(b *builder) { b.fault(7*sec, 8*sec, 1, "pause", "server-1"); b.refused(sec, 9*sec) }, 1},
		{"not long enough before a fault", func(b *builder) { b.fault(7*sec, 8*sec, 1, "pause", "server-1"); b.refused(2*sec, 9*sec) }, 0},
		{"before it and after it", func(b *builder) { b.fault(7*sec, 8*sec, 1, "pause", "server-1"); b.refused(sec, 14*sec) }, 2},
		{"the fault comes first of all", func(b *builder) { b.fault(-ms, 4*sec, 1, "pause", "server-1"); b.refused(sec, 8*sec) }, 0},
		{"the fault never began", func(b *builder) {
			b.op(4*sec, "server-1", history.Note, history.Fault, "").Fault = &history.FaultNote{ID: 1, Kind: "pause", Target: "server-1", Phase: history.Missed}
			b.refused(sec, 8*sec)
		}, 1},
		{"an unknown outcome may have held it", func(b *builder) { asks(b, sec, 3*sec, history.Acquire, history.Info); b.refused(sec, 8*sec) }, 0},
		{"it came later", func(b *builder) { b.refused(sec, 6*sec+1); asks(b, 8*sec, 9*sec, history.Acquire, history.Info) }, 1},
		{"it came soon enough", func(b *builder) {
			b.setup.Promise.Session = true // else it had the key only as its client gave up
			asks(b, 6*sec, 7*sec, history.Acquire, history.Info)
			b.op(sec, "client-2", history.Invoke, history.Acquire, "k")
			b.op(8*sec, "client-2", history.Fail, history.Acquire, "k")
		}, 0},
		{"but not for so long", func(b *builder) { asks(b, sec, 3*sec, history.Acquire, history.Info); b.refused(sec, 8*sec+1) }, 1},
	} {
		b := newBuilder()
		b.session1(0, "client-1", 1)
		c.what(b)
		b.stall(20*sec, "client-2", 1)
		r := newRun(b.done())
		var f found
		if r.stuck(r.named("k"), &f); f.certain != c.want || f.possible != 0 {
			t.Errorf("%s: %d, want %d: %+v", c.name, f.certain, c.want, f.list)
		}
	}
}

// The last to ask is patient for two leases and 3 s (5 s here), from when its request can be heard, and from when what was not given back
// has lasted for as much longer than the run's own lease as it was granted for.
func TestPatienceOfTheLast(t *testing.T) {
	const asked, base = 20 * sec, 25 * sec
	holds := func(lease int64, ends func(*builder, *held)) func(*builder) {
		return func(b *builder) {
			h := b.grantOf(15*sec, 15010*ms, "client-1", 1)
			b.ops[len(b.ops)-1].Lease, b.ops[len(b.ops)-2].Lease = lease, lease
			ends(b, h)
		}
	}
	givesBack := func(outcome history.Type) func(*builder, *held) {
		return func(b *builder, h *held) { b.does(16*sec, h, history.Release, outcome) }
	}
	for _, c := range []struct {
		name string
		what func(*builder)
		want int64
	}{
		{"nothing", nothing, base},
		{"cut off from all", func(b *builder) { b.fault(10*sec, 19*sec, 1, "partition", "server-1") }, 28500*ms + 5*sec},
		{"cut off long ago", func(b *builder) { b.fault(2*sec, 3*sec, 1, "partition", "server-1") }, base},
		{"cut off from another", func(b *builder) { b.fault(10*sec, 19*sec, 1, "partition", "client-1", "server-1") }, base},
		{"cut off for ever", func(b *builder) {
			b.fault(10*sec, 19*sec, 1, "partition", "server-1")
			b.ops = b.ops[:len(b.ops)-1]
		}, base},
		{"never cut off", func(b *builder) {
			b.op(19*sec, "server-1", history.Note, history.Fault, "").Fault =
				&history.FaultNote{ID: 1, Kind: "partition", Target: "server-1", Phase: history.Missed}
		}, base},
		{"paused", func(b *builder) { b.fault(10*sec, 19*sec, 1, "pause", "server-1") }, base},
		{"given back", holds(9*sec, givesBack(history.OK)), base},
		{"not known whether given back", holds(9*sec, givesBack(history.Info)), 15009*ms + 9*sec - sec + 5*sec},
		{"not known, of the run's own lease", holds(sec, givesBack(history.Info)), base},
		{"not known, without a lease", func(b *builder) {
			holds(9*sec, givesBack(history.Info))(b)
			b.setup.Promise.Leased = false
		}, base},
	} {
		b := newBuilder()
		b.setup.Servers = []string{"server-1"}
		c.what(b)
		b.final(asked - 10*ms)
		r := newRun(b.done())
		k := r.named("k")
		got := r.patientUntil(k, k.Waits[len(k.Waits)-1])
		if got-origin-c.want > 10*ms || c.want-(got-origin) > 10*ms {
			t.Errorf("%s: %d ms, want %d", c.name, (got-origin)/ms, c.want/ms)
		}
	}
}

// A key that was granted too late at the end was missing until then, though somebody else went on asking.
func TestHowLongTheLastWaited(t *testing.T) {
	for _, c := range []struct {
		granted, until int64 // 0: never
	}{{0, 20 * sec}, {15 * sec, 15 * sec}, {19 * sec, 19 * sec}} {
		b := newBuilder()
		b.setup.Keys = []string{"k"}
		b.session1(0, "client-1", 1)
		b.op(9*sec, "runner", history.Note, history.Final, "")
		b.refused(9*sec, 20*sec)
		if c.granted > 0 {
			b.grantOf(10*sec, c.granted, "client-2", 2)
		}
		var f found
		r := newRun(b.done())
		if r.finalAcquire("k", &f); len(f.list) != 1 || f.list[0].lasts.To != origin+c.until || f.list[0].lasts.From != origin+9*sec {
			t.Errorf("granted at %d ms: %+v", c.granted/ms, f.list)
		}
	}
}
