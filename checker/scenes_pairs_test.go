package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of combinations that were not judged, each with the near neighbour that must stay as it is.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"wait-limit": limitsBeside, "free-lock": freeBesideHit, "starvation": starvedBeside,
		"lease-exclusion": renewedUntold, "honest-claims": sessionsBehind, "recovery": deathsOfShares, "mutual-exclusion": stallsBeside,
	} {
		maps.Copy(scenes[property], more)
	}
}

// renewedOnce is a grant of a lock that tells no deadline, renewed at 0.6 s, and one of another that asked all the time.
func renewedOnce(b *builder, answer history.Type, next int64) {
	b.setup.Servers = []string{"server-1"}
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.does(600*ms, &held{node: "renewer", key: "k", owner: h.owner, token: 1}, history.Extend, answer)
	g := b.grantOf(20*ms, next, "client-2", 2)
	b.does(next+100*ms, g, history.Release, history.OK)
	untoldOnes(b)
	for i := range b.ops {
		b.ops[i].Sent = 0
	}
}

var renewedUntold = map[string]func(*builder){
	"violated-untold-renewed": func(b *builder) { renewedOnce(b, history.OK, 1300*ms) },
	"holds-untold-renewed":    func(b *builder) { renewedOnce(b, history.OK, 1700*ms) },
	"holds-untold-unrenewed":  func(b *builder) { renewedOnce(b, history.Info, 1300*ms) },
}

// pausedBehind is a holder without a lease that stands while another is granted the lock, and then gives it back.
func pausedBehind(b *builder, answer history.Type) {
	unleased(b)
	b.setup.Servers = []string{"server-1"}
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.fault(50*ms, 2900*ms, 1, "pause", "client-1")
	g := b.grantOf(20*ms, 2500*ms, "client-2", 2)
	b.does(2700*ms, g, history.Release, history.OK)
	b.does(3*sec, h, history.Release, answer)
	b.session1(3200*ms, "client-3", 3)
}

var sessionsBehind = map[string]func(*builder){
	"violated-session-behind": func(b *builder) { pausedBehind(b, history.OK) },
	"holds-session-behind":    func(b *builder) { pausedBehind(b, history.Fail) },
}

// deadShare is a holder in a mode that dies, after which a writer waits until a time.
func deadShare(b *builder, mode history.Mode, until int64) {
	b.kind(history.ReadWrite)
	b.setup.Servers = []string{"server-1"}
	b.as(0, 10*ms, "client-1", mode, 1)
	b.fault(100*ms, 150*ms, 1, "kill", "client-1")
	h := b.as(20*ms, until, "client-2", exclusive, 2)
	b.does(until+100*ms, h, history.Release, history.OK)
}

// deadPermit is the holder of one permit of two that dies, after which somebody waits for both until a time.
func deadPermit(b *builder, until int64) {
	b.kind(history.Semaphore)
	b.setup.Servers = []string{"server-1"}
	b.permits(0, 10*ms, "client-1", 1, 1)
	b.fault(100*ms, 150*ms, 1, "kill", "client-1")
	h := b.permits(20*ms, until, "client-2", 2, 2)
	b.does(until+100*ms, h, history.Release, history.OK)
}

var deathsOfShares = map[string]func(*builder){
	"violated-writer": func(b *builder) { deadShare(b, exclusive, 9*sec) },
	"holds-writer":    func(b *builder) { deadShare(b, exclusive, 1050*ms) },
	"violated-writer-early": func(b *builder) {
		deadShare(b, exclusive, 600*ms)
		untoldOnes(b)
	},
	"violated-reader": func(b *builder) { deadShare(b, shared, 9*sec) }, // which keeps the writer out
	"holds-reader":    func(b *builder) { deadShare(b, shared, 1300*ms); b.setup.Promise.Bound = 5e8 },
	"violated-reader-early": func(b *builder) {
		deadShare(b, shared, 600*ms)
		untoldOnes(b)
	},
	"holds-reader-beside": func(b *builder) { // another reader keeps the writer out as well
		b.setup.Promise.Bound = 5e8
		deadShare(b, shared, 9*sec)
		h := b.as(30*ms, 40*ms, "client-3", shared, 1)
		for t := 500 * ms; t < 8900*ms; t += 500 * ms {
			b.does(t, h, history.Extend, history.OK)
		}
		b.does(8950*ms, h, history.Release, history.OK)
	},
	"violated-permit": func(b *builder) { deadPermit(b, 9*sec) },
	"holds-permit":    func(b *builder) { deadPermit(b, 1300*ms); b.setup.Promise.Bound = 5e8 },
}

// stalledAt is a second grant of a lock without a lease while somebody is not scheduled.
func stalledAt(b *builder, node string) {
	unleased(b)
	b.setup.Servers = []string{"server-1"}
	h := b.grantOf(0, 10*ms, "client-1", 1)
	g := b.grantOf(20*ms, 300*ms, "client-2", 2)
	b.does(400*ms, g, history.Release, history.OK)
	b.does(600*ms, h, history.Release, history.OK)
	b.stall(700*ms, node, 650*ms)
}

var stallsBeside = map[string]func(*builder){
	"violated-resource-stalls": func(b *builder) { stalledAt(b, "resource") }, // which ends no session
	"holds-server-stalls":      func(b *builder) { stalledAt(b, "server-1") },
	"violated-within": func(b *builder) { // its own lease may be over by its answer, and it cannot have come before the older one
		b.grantOf(-10*ms, 0, "client-1", 1)
		b.setup.Servers = []string{"server-1"}
		g := b.grantOf(20*ms, 900*ms, "client-2", 2)
		b.sent(g, 20*ms)
		b.does(901*ms, g, history.Release, history.OK)
	},
}

// besideHit adds a fault of links of a client to what comes before.
func besideHit(scene func(*builder), from, to int64, hit string) func(*builder) {
	return func(b *builder) {
		scene(b)
		b.setup.Servers = []string{"server-1"}
		b.setup.Clients = append(b.setup.Clients, "client-4")
		b.fault(from, to, 1, "reset", hit)
	}
}

// waitsOn is an acquire with a limit of 0.3 s that comes back after 2 s.
func waitsOn(b *builder) {
	turns(b.kind(history.Tried))
	b.op(3*sec, "client-1", history.Invoke, history.Acquire, "k").Limit = 300 * ms
	b.op(5*sec, "client-1", history.Fail, history.Acquire, "k")
}

var limitsBeside = map[string]func(*builder){
	"violated-beside-hit": besideHit(waitsOn, 2900*ms, 4*sec, "client-3"),
	"unknown-waiter-hit":  besideHit(waitsOn, 2900*ms, 4*sec, "client-1"),
}

// slowAlone is a client that alone asks for a key, and is granted it again only after so long.
func slowAlone(b *builder) {
	b.kind(history.Alone)
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.does(100*ms, h, history.Release, history.OK)
	h = b.grantOf(200*ms, 1190*ms, "client-1", 2)
	b.does(1200*ms, h, history.Release, history.OK)
}

var freeBesideHit = map[string]func(*builder){
	"violated-beside-hit": besideHit(slowAlone, 50*ms, 2*sec, "client-3"),
	"unknown-own-hit":     besideHit(slowAlone, 50*ms, 2*sec, "client-1"),
}

// starves is a writer that waits for 17 s while readers come and go.
func starves(b *builder) {
	b.kind(history.ReadWrite)
	b.setup.Promise.Order = true
	for i := range int64(20) {
		at := i * 800 * ms
		h := b.as(at, at+10*ms, []string{"client-1", "client-3"}[i%2], shared, i+1)
		b.does(at+900*ms, h, history.Release, history.OK)
	}
	w := b.as(100*ms, 17*sec, "client-2", exclusive, 99)
	b.does(17100*ms, w, history.Release, history.OK)
}

// readsLate is a reader whose release is answered late.
func readsLate(b *builder, at int64) {
	h := b.as(at, at+10*ms, "client-4", shared, 50)
	b.op(at+20*ms, h.node, history.Invoke, history.Release, h.key).Owner = h.owner
	b.op(at+320*ms, h.node, history.OK, history.Release, h.key).Owner = h.owner
}

// starvesAs is a client that asks for the key as a reader or a writer, again and again or once, while others ask for it after
// it, and are granted it until 16 s.
func starvesAs(mode, others history.Mode, order bool, every int64) func(*builder) {
	return func(b *builder) {
		b.kind(history.ReadWrite)
		b.setup.Promise.Order = order
		for i := range int64(20) {
			at := i * 800 * ms
			h := b.as(at-10*ms, at, []string{"client-1", "client-3"}[i%2], others, i+1)
			b.does(at+750*ms, h, history.Release, history.OK)
		}
		at := 100 * ms
		for ; every > 0 && at+every < 17*sec; at += every {
			b.op(at, "client-2", history.Invoke, history.Acquire, "k").Mode = mode
			b.op(at+every, "client-2", history.Fail, history.Acquire, "k")
		}
		w := b.as(at, 17*sec, "client-2", mode, 99)
		b.does(17100*ms, w, history.Release, history.OK)
	}
}

var starvedBeside = map[string]func(*builder){
	"violated-reader":       starvesAs(shared, exclusive, true, 0),
	"violated-reader-again": starvesAs(shared, exclusive, true, 6*sec),
	"violated-writers":      starvesAs(exclusive, exclusive, true, 0),
	"holds-reader-readers": func(b *builder) {
		starvesAs(shared, shared, true, 0)(b)
		b.as(18*sec, 18010*ms, "client-1", exclusive, 100)
	},
	"holds-no-order-na":   starvesAs(shared, exclusive, false, 0),
	"violated-beside-hit": besideHit(starves, 3*sec, 4*sec, "client-4"),
	"unknown-writer-hit":  besideHit(starves, 3*sec, 8*sec, "client-2"),
	"violated-writer-hit": besideHit(starves, 3*sec, 4*sec, "client-2"), // it had a place again by 7 s
	"unknown-late":        func(b *builder) { starves(b); readsLate(b, 3*sec) },
	"violated-late-after": func(b *builder) { starves(b); readsLate(b, 12*sec) },
}
