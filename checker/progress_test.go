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
