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
