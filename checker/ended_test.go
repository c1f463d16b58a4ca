package checker

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// ends notes that a server has ended by itself.
func (b *builder) ends(t int64, server string) {
	b.op(t, server, history.Note, history.ServerEnd, "").Error = "panic"
}

// asks is a client that is refused again and again for a time.
func (b *builder) asks(from, to int64, node string) {
	for ; from < to; from += 500 * ms {
		b.op(from, node, history.Invoke, history.Acquire, "k")
		b.op(from+490*ms, node, history.Fail, history.Acquire, "k")
	}
}

// What a server that ended by itself keeps from its clients is what the fault before has shown:
// nothing else is blamed for it, and what the rest still owes is.
func TestServersThatEnded(t *testing.T) {
	three, one := []string{"server-1", "server-2", "server-3"}, []string{"server-1"}
	for _, c := range []struct {
		name, property string
		servers        []string
		history        func(*builder)
		want           Verdict
	}{
		{"a later fault leaves one of three", "availability", three, func(b *builder) {
			b.ends(3200*ms, "server-1")
			b.fault(20*sec, 25*sec, 2, "kill", "server-2")
			b.asks(20*sec, 26*sec, "client-1")
		}, NA},
		{"it was started again", "availability", three, func(b *builder) {
			b.ends(3200*ms, "server-1")
			b.fault(10*sec, 11*sec, 3, "kill", "server-1")
			b.fault(20*sec, 25*sec, 2, "kill", "server-2")
			b.asks(20*sec, 26*sec, "client-1")
		}, Violated},
		{"two of three are there", "availability", three, func(b *builder) {
			b.ends(3200*ms, "server-1")
			b.fault(20*sec, 25*sec, 2, "latency", "client-2")
			b.asks(20*sec, 26*sec, "client-1")
		}, Violated},
		{"none is left at the end", "deadlock-freedom", one, func(b *builder) {
			b.ends(3200*ms, "server-1")
			b.asks(4*sec, 20*sec, "client-1")
			b.op(20*sec, "runner", history.Note, history.Final, "")
			b.asks(20*sec+ms, 40*sec, "final")
		}, Unknown},
		{"two are left at the end", "deadlock-freedom", three, func(b *builder) {
			b.ends(3200*ms, "server-1")
			b.op(20*sec, "runner", history.Note, history.Final, "")
			b.asks(20*sec+ms, 40*sec, "final")
		}, Violated},
		{"a holder is told", "false-loss", one, func(b *builder) {
			h := b.grantOf(9*sec, 9*sec+10*ms, "client-1", 8)
			b.note(9200*ms, h, history.Lost)
			b.ends(9250*ms, "server-1")
		}, Holds},
		{"a holder is told long before", "false-loss", one, func(b *builder) {
			h := b.grantOf(9*sec, 9*sec+10*ms, "client-1", 8)
			b.note(9200*ms, h, history.Lost)
			b.ends(12*sec, "server-1")
		}, Violated},
		{"a holder died before", "recovery", one, func(b *builder) {
			b.grantOf(9*sec, 9*sec+10*ms, "client-1", 8)
			b.fault(9100*ms, 30*sec, 2, "kill", "client-1")
			b.ends(9300*ms, "server-1")
			b.asks(9400*ms, 20*sec, "client-2")
		}, NA},
		{"a holder died, and two are left", "recovery", three, func(b *builder) {
			b.ends(3200*ms, "server-1")
			b.grantOf(9*sec, 9*sec+10*ms, "client-1", 8)
			b.fault(9100*ms, 30*sec, 2, "kill", "client-1")
			b.asks(9400*ms, 20*sec, "client-2")
		}, Violated},
	} {
		b := newBuilder()
		b.setup.Servers = c.servers
		turns(b)
		b.fault(3*sec, 3100*ms, 1, "crash", "server-1")
		c.history(b)
		result := Judge(b.done())
		if p := result.Property(c.property); p.Verdict != c.want {
			t.Errorf("%s: %s %s (%s), want %s", c.name, c.property, p.Verdict, p.Reason, c.want)
		}
	}
}
