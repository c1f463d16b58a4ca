package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// Who was overtaken in a queue: threads of one client that share a grant, places that faults may have cost, and those who try; each with the
// near neighbour that must stay as it is.
func init() {
	maps.Copy(scenes["fairness"], queuedThreads)
	maps.Copy(scenes["fairness"], placesLost)
	maps.Copy(scenes["fairness"], triesAhead)
	maps.Copy(scenes["starvation"], hungryAgainst)
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

// behindAll is client-2, which waits for as long as a latency on its links lasts, while others come and go; their tokens rise. The fault begins as it asks.
func behindAll(from, until int64, tokens bool) func(*builder) {
	return func(b *builder) {
		b.setup.Promise.Order, b.setup.Promise.Token, b.setup.Servers = true, tokens, []string{"server-1"}
		b.fault(from, until, 1, "latency", "client-2")
		for i := range int64(40) {
			b.session1(i*300*ms, []string{"client-1", "client-3"}[i%2], i+1)
		}
		h := b.grantOf(50*ms, 12*sec, "client-2", 99)
		b.does(12100*ms, h, history.Release, history.OK)
		if !tokens {
			clearTokens(b)
		}
	}
}

var placesLost = map[string]func(*builder){
	"unknown-behind-all":             behindAll(40*ms, 12*sec, true), // tokens that rise tell nothing of places
	"holds-behind-all-untold-na":     behindAll(40*ms, 12*sec, false),
	"violated-behind-all-fault-soon": behindAll(40*ms, 60*ms, true),
	"violated-behind-all-fault-late": behindAll(9*sec, 12*sec, true),
	"holds-behind-all-and-another": func(b *builder) { // a wait that no fault met tells an order
		behindAll(40*ms, 12*sec, true)(b)
		h := b.grantOf(20*sec, 20010*ms, "client-1", 101)
		b.does(20300*ms, h, history.Release, history.OK)
		h = b.grantOf(20050*ms, 20400*ms, "client-3", 102)
		b.does(20500*ms, h, history.Release, history.OK)
		h = b.grantOf(20060*ms, 20600*ms, "client-2", 103)
		b.does(20700*ms, h, history.Release, history.OK)
	},
}

// triedAt is client-2, which waits behind client-3 until that gives the key back at 2.4 s, and client-1, which tries to have it at a time and gets it.
func triedAt(t int64) func(*builder) {
	return func(b *builder) {
		b.setup.Promise.Order, b.setup.Promise.Tries, b.setup.Promise.Token, b.setup.Servers = true, true, false, []string{"server-1"}
		was := b.grantOf(0, 10*ms, "client-3", 0)
		b.renews(300*ms, 2300*ms, was)
		b.does(2400*ms, was, history.Release, history.OK)
		next := b.grantOf(200*ms, 2600*ms, "client-2", 0)
		b.does(2700*ms, next, history.Release, history.OK)
		tries := len(b.ops)
		h := b.grantOf(t, t+2*ms, "client-1", 0)
		b.ops[tries].F, b.ops[tries+1].F = history.Try, history.Try
		b.does(t+50*ms, h, history.Release, history.OK)
	}
}

var triesAhead = map[string]func(*builder){
	"violated-try-ahead":  triedAt(2410 * ms), // a try that is granted past the queue overtakes who waits
	"holds-try-behind-na": triedAt(2710 * ms),
}

// hungryBeside is a writer that waits from 20 ms on and is never answered, while readers come and go, one each 2 s, and a fault goes on.
func hungryBeside(readers, from, until int64, kind, target string) func(*builder) {
	return func(b *builder) {
		overtakenBy(b, readers)
		b.fault(from, until, 1, kind, target)
	}
}

var hungryAgainst = map[string]func(*builder){
	"unknown-fault-first":         hungryBeside(5, 30*ms, sec, "pause", "client-3"), // which may have cost its place, and the new one is too young
	"violated-fault-before":       hungryBeside(30, -100*ms, 10*ms, "latency", "client-3"),
	"unknown-fault-before":        hungryBeside(4, -100*ms, 10*ms, "latency", "client-3"),
	"violated-server-first":       hungryBeside(30, 30*ms, 50*ms, "pause", "server"),
	"violated-fault-amid":         hungryBeside(9, 4500*ms, 5500*ms, "pause", "client-3"),
	"unknown-fault-amid":          hungryBeside(7, 4500*ms, 5500*ms, "pause", "client-3"),
	"unknown-fault-all-the-while": hungryBeside(30, 30*ms, 70*sec, "latency", "client-3"),
	"unknown-fault-again": func(b *builder) { // each time too soon for a wait that is too long
		overtakenBy(b, 12)
		for i := range int64(6) {
			b.fault(4*i*sec+30*ms, 4*i*sec+500*ms, int(i)+1, "pause", "client-3")
		}
	},
	"unknown-late-behind-a-fault": func(b *builder) { // a service that answers late may have lost its session again
		hungryBeside(6, 30*ms, sec, "pause", "client-3")(b)
		h := b.as(3*sec, 3010*ms, "client-2", shared, 50)
		b.op(3100*ms, "client-2", history.Invoke, history.Release, "k").Owner = h.owner
		b.op(3500*ms, "client-2", history.OK, history.Release, "k").Owner = h.owner
	},
	"violated-late-before-a-fault": func(b *builder) { // that is over
		hungryBeside(9, 4500*ms, 5500*ms, "pause", "client-3")(b)
		h := b.as(sec, 1010*ms, "client-2", shared, 50)
		b.op(1100*ms, "client-2", history.Invoke, history.Release, "k").Owner = h.owner
		b.op(1500*ms, "client-2", history.OK, history.Release, "k").Owner = h.owner
	},
}
