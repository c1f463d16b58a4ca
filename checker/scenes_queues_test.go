package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// Who was overtaken in a queue: what the threads of one client share; each with the near neighbour that must stay as it is.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"fairness": queuedThreads,
	} {
		maps.Copy(scenes[property], more)
	}
}

// threadsOfOne is a lock that is reentrant by process, which client-2 waits for since 0.2 s, client-1 by a thread since first and by another since 2 s.
// When client-3 gives it back it is given to client-1, twice, and the second hold is answered before the first, which ends so; negative: only the
// other thread asks.
func threadsOfOne(first int64, outcome history.Type) func(*builder) {
	return func(b *builder) {
		b.kind(history.Reentrant)
		b.setup.Promise.Order, b.setup.Promise.Reentry, b.setup.Servers = true, history.ByProcess, []string{"server-1"}
		was := b.grantOf(0, 10*ms, "client-3", 1)
		b.renews(300*ms, 2300*ms, was)
		b.does(2400*ms, was, history.Release, history.OK)
		by := func(process int, t int64, typ history.Type) *history.Op {
			op := b.op(t, "client-1", typ, history.Acquire, "k")
			op.Process = process
			return op
		}
		h := &held{node: "client-1", key: "k", owner: "client-1/both", token: 2}
		by(91, 2*sec, history.Invoke)
		second := by(91, 2500*ms, history.OK)
		b.claim(second, h, 2480*ms)
		if second.Depth = 1; first >= 0 {
			second.Depth = 2
			by(90, first, history.Invoke)
			if done := by(90, 2501*ms, outcome); outcome == history.OK {
				b.claim(done, h, 2480*ms)
				done.Depth = 1
			}
			b.back(2600*ms, h, 1)
		}
		b.back(2700*ms, h, 0)
		next := b.grantOf(200*ms, 3*sec, "client-2", 3)
		b.does(3100*ms, next, history.Release, history.OK)
		b.final(6 * sec)
	}
}

var queuedThreads = map[string]func(*builder){
	"holds-threads-crossed":         threadsOfOne(100*ms, history.OK), // its first thread was first
	"violated-threads-crossed-late": threadsOfOne(1900*ms, history.OK),
	"violated-threads-one":          threadsOfOne(-1, history.OK),
	"holds-threads-unanswered":      threadsOfOne(100*ms, history.Info), // the first hold may be its
	"violated-threads-unanswered":   threadsOfOne(1900*ms, history.Info),
}
