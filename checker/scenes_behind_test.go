package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of claims, looks and waits behind what others hold or what hit others, each with the near neighbour that
// must stay as it is.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"honest-claims": claimsBehind, "lock-info": looksBehind, "reentrancy": countsBehind, "deadlock-freedom": stuckBehindOthers,
		"recovery": deathsBeside, "fairness": overtakenBeside,
	} {
		maps.Copy(scenes[property], more)
	}
}

// unknownNamed is a holder beside an acquire of unknown outcome, whose owner a look names once the lease is over.
func unknownNamed(b *builder, node string, answer history.Type) {
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.does(200*ms, h, history.Extend, history.OK)
	b.op(500*ms, node, history.Invoke, history.Acquire, "k")
	b.op(1400*ms, node, history.Info, history.Acquire, "k").Owner = node + "/unknown"
	b.seen(1500*ms, 1501*ms, node+"/unknown")
	b.does(2*sec, h, history.Extend, answer)
}

// permitsBehind is a holder of so many permits of three whose lease is over as two others are granted one each.
func permitsBehind(b *builder, n int32, apart int64, answer history.Type) {
	b.kind(history.Semaphore)
	b.setup.Permits = 3
	h := b.permits(0, 10*ms, "client-1", n, 1)
	b.permits(1500*ms, 1510*ms, "client-2", 1, 2)
	b.permits(1500*ms+apart, 1510*ms+apart, "client-3", 1, 3)
	b.does(1900*ms, h, history.Release, answer)
}

// givesBack gives back so many permits of the one that it was granted.
func givesBack(b *builder, n int32) {
	b.kind(history.Semaphore)
	h := b.permits(0, 10*ms, "client-1", 1, 1)
	b.does(200*ms, h, history.Release, history.OK)
	b.ops[len(b.ops)-1].Permits, b.ops[len(b.ops)-2].Permits = n, n
}

// lateBehind asks for a renewal within its lease that is answered when another was granted the lock and both leases are over.
func lateBehind(b *builder, mode, other history.Mode) {
	b.kind(history.ReadWrite)
	h := b.as(0, 10*ms, "client-1", mode, 1)
	o := b.as(20*ms, 1300*ms, "client-2", other, 2)
	b.op(900*ms, "client-1", history.Invoke, history.Extend, "k").Owner = h.owner
	ok := b.op(2100*ms, "client-1", history.OK, history.Extend, "k")
	b.claim(ok, h, 900*ms)
	b.does(2200*ms, o, history.Release, history.OK)
}

// besideEachOther are two whose requests went on at once, and that are told ok to their releases after their leases.
func besideEachOther(b *builder, mode, other history.Mode) {
	b.kind(history.ReadWrite)
	h, o := b.as(0, 10*ms, "client-1", mode, 0), b.as(5*ms, 1300*ms, "client-2", other, 0)
	b.does(1800*ms, h, history.Release, history.OK)
	b.does(1900*ms, o, history.Release, history.OK)
	b.setup.Promise.Token = false
	b.unsent()
}

// turnsBehind is a reader that asks to be the writer after another has been the writer.
func turnsBehind(b *builder, answer history.Type) {
	b.kind(history.ReadWrite)
	b.setup.Promise.Changes = true
	h := b.as(0, 10*ms, "client-1", shared, 1)
	o := b.as(20*ms, 1300*ms, "client-2", exclusive, 2)
	b.does(1400*ms, o, history.Release, history.OK)
	b.turn(1500*ms, h, exclusive, answer)
	b.unsent()
}

// pendingOwner is a release by the owner of an acquire that was never answered.
func pendingOwner(b *builder, owner string) {
	turns(b)
	b.op(3*sec, "client-3", history.Invoke, history.Acquire, "k").Owner = "client-3/asked"
	b.does(4*sec, &held{node: "client-9", key: "k", owner: owner}, history.Release, history.OK)
}

// deniedBesideClock is told that it holds nothing and then ok, while a client's clock is bent.
func deniedBesideClock(b *builder, node string) {
	b.setup.Servers = []string{"server-1"}
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.fault(-sec, 5*sec, 1, "clock", node)
	b.does(1500*ms, h, history.Extend, history.Fail)
	b.does(1700*ms, h, history.Release, history.OK)
}

var claimsBehind = map[string]func(*builder){
	"violated-unknown-named":       func(b *builder) { unknownNamed(b, "client-2", history.OK) },
	"holds-unknown-named":          func(b *builder) { unknownNamed(b, "client-2", history.Fail) },
	"violated-permits-behind":      func(b *builder) { permitsBehind(b, 2, 20*ms, history.OK) },
	"violated-permits-too-many":    func(b *builder) { givesBack(b, 2) },
	"holds-permits-all":            func(b *builder) { givesBack(b, 1) },
	"holds-permits-room":           func(b *builder) { permitsBehind(b, 1, 20*ms, history.OK) },
	"holds-permits-later":          func(b *builder) { permitsBehind(b, 2, sec, history.OK) },
	"violated-late-writers":        func(b *builder) { lateBehind(b, exclusive, exclusive) },
	"violated-late-reader":         func(b *builder) { lateBehind(b, shared, exclusive) },
	"holds-late-readers":           func(b *builder) { lateBehind(b, shared, shared) },
	"violated-open-writers":        func(b *builder) { besideEachOther(b, exclusive, exclusive) },
	"violated-open-writer":         func(b *builder) { besideEachOther(b, exclusive, shared) },
	"holds-open-readers":           func(b *builder) { besideEachOther(b, shared, shared) },
	"violated-turned-behind":       func(b *builder) { turnsBehind(b, history.OK) },
	"holds-turned-refused":         func(b *builder) { turnsBehind(b, history.Fail) },
	"violated-pending-other":       func(b *builder) { pendingOwner(b, "client-3/none") },
	"holds-pending-owner":          func(b *builder) { pendingOwner(b, "client-3/asked") },
	"violated-denied-other-clock":  func(b *builder) { deniedBesideClock(b, "client-2") },
	"holds-denied-own-clock":       func(b *builder) { deniedBesideClock(b, "client-1") },
	"holds-named-as-asked-at-once": func(b *builder) { unknownNamed(b, "client-1", history.OK) }, // its own first request
}

// lookBehind is a look after a second holder has given the key back; it names one of the two, or nobody.
func lookBehind(b *builder, names int) {
	h := b.grantOf(0, 10*ms, "client-1", 1)
	o := b.grantOf(20*ms, 1600*ms, "client-2", 2)
	b.does(1700*ms, o, history.Release, history.OK)
	b.seen(1800*ms, 1801*ms, []string{"", h.owner, o.owner}[names])
}

// lookNested is a look at a reentrant lock at a time of its hold.
func lookNested(b *builder, at int64, names bool) {
	b.kind(history.Reentrant)
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.again(20*ms, h, 2, 1)
	b.back(40*ms, h, 1)
	b.back(100*ms, h, 0)
	owner := ""
	if names {
		owner = h.owner
	}
	b.seen(at, at+ms, owner)
}

var looksBehind = map[string]func(*builder){
	"violated-unknown-again":  func(b *builder) { unknownAgain(b, 1500*ms) },
	"holds-unknown-before":    func(b *builder) { unknownAgain(b, 1200*ms) },
	"violated-superseded":     func(b *builder) { lookBehind(b, 1) },
	"holds-nobody-behind":     func(b *builder) { lookBehind(b, 0) },
	"violated-nested-nobody":  func(b *builder) { lookNested(b, 50*ms, false) },
	"holds-nested":            func(b *builder) { lookNested(b, 50*ms, true) },
	"violated-nested-given":   func(b *builder) { lookNested(b, 150*ms, true) },
	"holds-nested-given-back": func(b *builder) { lookNested(b, 150*ms, false) },
	"holds-nested-unknown": func(b *builder) { // one more hold of its may have come late
		b.op(-sec, "client-1", history.Invoke, history.Acquire, "k")
		b.op(-900*ms, "client-1", history.Info, history.Acquire, "k")
		lookNested(b, 150*ms, true)
	},
}

// deepAtOnce is granted a lock and told at once that it holds it twice, after what came before.
func deepAtOnce(b *builder, before func(*builder)) {
	nests["holds"](b)
	before(b)
	h := b.grantOf(3*sec, 3010*ms, "client-3", 9)
	b.ops[len(b.ops)-1].Depth = 2
	b.back(3100*ms, h, 1)
	b.back(3200*ms, h, 0)
}

// lostBefore is a holder that is told of its loss, and by nobody that it holds nothing.
func lostBefore(b *builder) {
	b.note(2100*ms, b.grantOf(sec, 1010*ms, "client-3", 7), history.Lost)
}

// inThreads takes a lock again in another process of its client, of a lock that is reentrant so.
func inThreads(b *builder, by history.Reentry, owner string) {
	nests["holds"](b)
	b.setup.Promise.Reentry = by
	h := b.grantOf(3*sec, 3010*ms, "client-1", 9)
	first := b.process["client-1"]
	b.process["client-1"] = 77
	again := *h
	if owner != "" {
		again.owner = owner
	}
	b.again(3020*ms, &again, 2, 9)
	b.back(3100*ms, h, 1)
	b.process["client-1"] = first
	b.back(3200*ms, h, 0)
}

var countsBehind = map[string]func(*builder){
	"violated-deep-at-once": func(b *builder) { deepAtOnce(b, func(*builder) {}) },
	"holds-deep-unknown": func(b *builder) { // its first request may have won
		deepAtOnce(b, func(b *builder) {
			b.op(2*sec, "client-3", history.Invoke, history.Acquire, "k")
			b.op(2100*ms, "client-3", history.Info, history.Acquire, "k")
		})
	},
	"violated-deep-superseded": func(b *builder) { // what it had before, and was told to have lost, went to another
		deepAtOnce(b, func(b *builder) {
			lostBefore(b)
			b.does(2700*ms, b.grantOf(2500*ms, 2510*ms, "client-2", 8), history.Release, history.OK)
		})
	},
	"holds-deep-lost":       func(b *builder) { deepAtOnce(b, lostBefore) }, // the service may have kept it
	"violated-other-thread": func(b *builder) { inThreads(b, history.ByThread, "") },
	"holds-other-thread":    func(b *builder) { inThreads(b, history.ByProcess, "") },
	"holds-other-owner":     func(b *builder) { inThreads(b, history.ByProcess, "client-1/again") }, // it calls the same hold by another name
}

// waitsWhile is a client that waits for a permit for 20 s: the holder of the other one renews it, and what was the third's may
// be kept by a client that died, while a fault hits another client.
func waitsWhile(b *builder, hit string, death bool) {
	b.kind(history.Semaphore)
	b.setup.Servers = []string{"server-1"}
	b.setup.Clients = append(b.setup.Clients, "client-4")
	b.permits(0, 10*ms, "client-1", 1, 1)
	if death {
		b.fault(100*ms, 40*sec, 1, "kill", "client-1") // and is never started again
	}
	h := b.permits(0, 12*ms, "client-3", 1, 2)
	for t := 500 * ms; t < 20*sec; t += 500 * ms {
		b.does(t, h, history.Extend, history.OK)
	}
	b.op(20*ms, "client-2", history.Invoke, history.Acquire, "k").Permits = 1
	b.op(20*sec, "client-2", history.Fail, history.Acquire, "k")
	if hit != "" {
		b.fault(50*ms, 19*sec, 2, "reset", hit)
	}
	b.final(45 * sec)
}

// deadWriterWaits is a reader that waits beside a reader behind a writer that waits and may have died.
func deadWriterWaits(b *builder, dies bool) {
	b.kind(history.ReadWrite)
	h := b.as(0, 10*ms, "client-1", shared, 1)
	for t := 500 * ms; t < 30*sec; t += 500 * ms {
		b.does(t, h, history.Extend, history.OK)
	}
	b.does(30*sec, h, history.Release, history.OK)
	b.op(100*ms, "client-3", history.Invoke, history.Acquire, "k").Mode = exclusive
	if dies {
		b.fault(200*ms, 300*ms, 1, "kill", "client-3")
	}
	b.op(400*ms, "client-2", history.Invoke, history.Acquire, "k").Mode = shared
	b.op(29*sec, "client-2", history.Fail, history.Acquire, "k")
	b.final(45 * sec)
}

var stuckBehindOthers = map[string]func(*builder){
	"violated-dead-permit":             func(b *builder) { waitsWhile(b, "", true) },
	"violated-permit-beside-hit":       func(b *builder) { waitsWhile(b, "client-4", true) },
	"holds-permit-waiter-hit":          func(b *builder) { waitsWhile(b, "client-2", true) },
	"holds-permit-server-hit":          func(b *builder) { waitsWhile(b, "server-1", true) },
	"violated-dead-writer-waits":       func(b *builder) { deadWriterWaits(b, true) },
	"holds-writer-waits":               func(b *builder) { deadWriterWaits(b, false) },
	"violated-key-beside-hit":          func(b *builder) { keyBesideHit(b, "client-3") },
	"holds-key-waiter-hit":             func(b *builder) { keyBesideHit(b, "client-2") },
	"holds-key-asked-by-the-hit":       func(b *builder) { keyBesideHit(b, "client-3"); b.asksAgain("client-3", 4*sec, 20*sec, 1500*ms) },
	"violated-key-beside-hit-nameless": func(b *builder) { keyBesideHit(b, "client-3"); b.setup.Servers = nil },
	"holds-key-nameless-hit":           func(b *builder) { keyBesideHit(b, "server-1"); b.setup.Servers = nil }, // it may be a server
	// Each request explains a lease of the wait, and no more.
	"violated-key-asked-by-the-hit-seldom": func(b *builder) { keyBesideHit(b, "client-3"); b.asksAgain("client-3", 4*sec, 20*sec, 2*sec) },
}

// keyBesideHit is a free key for which a client waits in vain, while a fault hits one client.
func keyBesideHit(b *builder, hit string) {
	turns(b)
	b.setup.Servers = []string{"server-1"}
	b.fault(3*sec, 21*sec, 1, "blackhole", hit)
	b.op(3500*ms, "client-2", history.Invoke, history.Acquire, "k")
	b.op(20*sec, "client-2", history.Fail, history.Acquire, "k")
	b.final(30 * sec)
}

// asksAgain lets a client ask again and again, and be told nothing.
func (b *builder) asksAgain(node string, from, to, every int64) {
	for t := from; t < to; t += every {
		b.op(t, node, history.Invoke, history.Acquire, "k")
		b.op(t+100*ms, node, history.Info, history.Acquire, "k")
	}
}

var deathsBeside = map[string]func(*builder){
	"violated-late-beside-hit": func(b *builder) { // another client's links are at fault
		orphaned(b)
		b.setup.Servers = []string{"server-1"}
		b.fault(50*ms, 4*sec, 2, "reset", "client-3")
		b.grantOf(50*ms, 3*sec, "client-2", 2)
	},
	"holds-waiter-hit-na": func(b *builder) {
		orphaned(b)
		b.setup.Servers = []string{"server-1"}
		b.fault(50*ms, 4*sec, 2, "reset", "client-2")
		b.grantOf(50*ms, 3*sec, "client-2", 2)
	},
}

// passesBy is a client that is granted the lock before one that asked long before it, while a fault hits one.
func passesBy(b *builder, hit string, until int64, sent bool) {
	b.setup.Promise.Order, b.setup.Promise.Token = true, false
	b.setup.Servers = []string{"server-1"}
	h := b.grantOf(0, 10*ms, "client-1", 0)
	for t := 500 * ms; t < 6*sec; t += 500 * ms {
		b.does(t, h, history.Extend, history.OK)
	}
	b.does(6*sec, h, history.Release, history.OK)
	o := b.grantOf(4*sec, 6100*ms, "client-3", 0)
	b.does(6150*ms, o, history.Release, history.OK)
	g := b.grantOf(20*ms, 6200*ms, "client-2", 0)
	b.does(6250*ms, g, history.Release, history.OK)
	if hit != "" {
		b.fault(50*ms, until, 1, "reset", hit)
	}
	if !sent {
		b.unsent()
	}
}

var overtakenBeside = map[string]func(*builder){
	"violated-beside-hit": func(b *builder) { passesBy(b, "client-3", 100*ms, true) },
	"violated-unsent":     func(b *builder) { passesBy(b, "", 0, false) },
	"holds-waiter-hit-na": func(b *builder) { passesBy(b, "client-2", 3*sec, true) },
}
