package checker

import "github.com/dlmtest/dlmtest/history"

// unknownFor lets a client ask twice, one after the other, for so long, and be told nothing.
func unknownFor(b *builder, long int64) {
	turns(b)
	b.setup.Servers = []string{"server-1"}
	for i := range int64(2) {
		from := 5*sec + i*(long+10*ms)
		b.op(from, "client-1", history.Invoke, history.Acquire, "k")
		b.op(from+long, "client-1", history.Info, history.Acquire, "k")
	}
}

// unknownAgain is an acquire of unknown outcome that a look names, before another is granted the key and once more at a time.
func unknownAgain(b *builder, at int64) {
	b.op(0, "client-1", history.Invoke, history.Acquire, "k")
	b.op(50*ms, "client-1", history.Info, history.Acquire, "k").Owner = "client-1/unknown"
	b.seen(60*ms, 61*ms, "client-1/unknown")
	h := b.grantOf(1300*ms, 1310*ms, "client-2", 2)
	b.does(1400*ms, h, history.Release, history.OK)
	b.seen(at, at+ms, "client-1/unknown")
}
