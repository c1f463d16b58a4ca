package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of whom a fault hit, for how long, and what was proven since, each with the near neighbour that must stay as it is.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"false-loss": lossesByWays, "deadlock-freedom": waitsAfterKills, "wait-limit": limitsOverSlowLinks, "reentrancy": innerOverSlowLinks,
		"mutual-exclusion": pairsByWays, "fairness": pausedInQueues, "honest-claims": toldByNobody,
	} {
		maps.Copy(scenes[property], more)
	}
}

// lossAfter is a holder that is told at a time that its lock is lost, by the lock or as it renews, after what came before.
func lossAfter(told int64, refused bool, promise func(*history.Promise), before func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1"}
		promise(&b.setup.Promise)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		before(b, h)
		if refused {
			b.does(told, h, history.Extend, history.Fail)
		} else {
			b.note(told, h, history.Lost)
		}
	}
}

func ofSession(p *history.Promise)    { p.Session = true }
func ofConnection(p *history.Promise) { p.Session, p.Leased, p.Extends = true, false, false }
func plainLease(*history.Promise)     {}
func ofWatchdog(p *history.Promise)   { p.Session, p.Renews = true, true }
func idleEnds(p *history.Promise)     { ofConnection(p); p.Idles = true }
func replicated(p *history.Promise)   { ofConnection(p); p.Survives = history.Restart }

// struck is a fault between two times at a node, or at its links to others.
func struck(from, to int64, kind, node string, cut ...string) func(*builder, *held) {
	return func(b *builder, _ *held) { b.fault(from, to, 1, kind, node, cut...) }
}

// then is what came one after the other.
func then(all ...func(*builder, *held)) func(*builder, *held) {
	return func(b *builder, h *held) {
		for _, one := range all {
			one(b, h)
		}
	}
}

// foundAt is a look at a time that names the holder.
func foundAt(at int64) func(*builder, *held) {
	return func(b *builder, h *held) { b.seen(at-ms, at, h.owner) }
}

func threeServers(b *builder, _ *held) {
	b.setup.Servers = []string{"server-1", "server-2", "server-3"}
}

var lossesByWays = map[string]func(*builder){
	"violated-cut-from-resource":    lossAfter(500*ms, false, ofSession, struck(100*ms, 400*ms, "partition", "client-1", "resource")),
	"violated-cut-from-client":      lossAfter(500*ms, false, ofSession, struck(100*ms, 400*ms, "partition", "client-2", "client-1")),
	"holds-cut-from-server":         lossAfter(500*ms, false, ofSession, struck(100*ms, 400*ms, "partition", "client-1", "server-1")),
	"violated-own-pause-refused":    lossAfter(200*ms, true, plainLease, struck(20*ms, 40*ms, "pause", "client-1")),
	"violated-own-cut-refused":      lossAfter(200*ms, true, plainLease, struck(20*ms, 40*ms, "partition", "client-1", "server-1")),
	"holds-servers-pause-refused":   lossAfter(200*ms, true, plainLease, struck(20*ms, 40*ms, "pause", "server-1")),
	"holds-own-clock-refused":       lossAfter(200*ms, true, plainLease, struck(20*ms, 40*ms, "clock", "client-1")),
	"violated-found-held":           lossAfter(20*sec, false, ofConnection, then(struck(100*ms, 120*ms, "pause", "client-1"), foundAt(15*sec))),
	"holds-not-found-held":          lossAfter(20*sec, false, ofConnection, struck(100*ms, 120*ms, "pause", "client-1")),
	"holds-found-held-before":       lossAfter(20*sec, false, ofConnection, then(foundAt(50*ms), struck(100*ms, 120*ms, "pause", "client-1"))),
	"violated-found-held-kill":      lossAfter(20*sec, false, ofConnection, then(struck(100*ms, 120*ms, "kill", "server-1"), foundAt(15*sec))),
	"violated-renews-others-link":   lossAfter(900*ms, false, ofWatchdog, then(threeServers, struck(50*ms, 10*sec, "partition", "server-1", "client-2"))),
	"holds-renews-own-link":         lossAfter(900*ms, false, ofWatchdog, then(threeServers, struck(50*ms, 10*sec, "partition", "server-1", "client-1"))),
	"holds-idle":                    lossAfter(20*sec, false, idleEnds, func(*builder, *held) {}),
	"violated-not-idle":             lossAfter(20*sec, false, ofConnection, func(*builder, *held) {}),
	"violated-down-all-the-while":   downBefore(-2 * sec),
	"holds-down-since-it-was-asked": downBefore(100 * ms),
}

// downBefore kills one server of three at a time; a second later its client is told of the loss of a lock without a lease.
func downBefore(from int64) func(*builder) {
	return func(b *builder) {
		replicated(&b.setup.Promise)
		threeServers(b, nil)
		b.fault(3*sec+from, 20*sec, 1, "kill", "server-3")
		h := b.grantOf(3*sec, 3010*ms, "client-1", 1)
		b.note(4*sec, h, history.Lost)
	}
}

// grantedLater is a second grant of a lock without a lease, a while after the first, which nobody gave back.
func grantedLater(promise func(*history.Promise), before func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		promise(&b.setup.Promise)
		b.setup.Servers = []string{"server-1"}
		before(b, b.grantOf(0, 10*ms, "client-1", 1))
		b.grantOf(20*sec, 20010*ms, "client-2", 2)
	}
}

var pairsByWays = map[string]func(*builder){
	"violated-cut-from-resource": grantedLater(ofConnection, struck(100*ms, 400*ms, "partition", "client-1", "resource")), // it has ended nothing
	"holds-cut-from-server":      grantedLater(ofConnection, struck(100*ms, 400*ms, "partition", "client-1", "server-1")),
	"holds-idle-timeout":         grantedLater(idleEnds, func(*builder, *held) {}),
}

// waitsAfterKill waits for a free key for so long behind a kill of the one server that lasted 20 ms.
func waitsAfterKill(long int64) func(*builder) {
	return func(b *builder) {
		ofConnection(&b.setup.Promise)
		b.setup.Servers = []string{"server-1"}
		b.session1(0, "client-1", 1)
		b.fault(sec, 1020*ms, 1, "kill", "server-1")
		h := b.grantOf(2*sec, 2*sec+long, "client-2", 2)
		b.does(3*sec+long, h, history.Release, history.OK)
		b.final(4*sec + long)
	}
}

// waitsOver is a client that asks for a free key again and again, each time for less than a lease, over a link that adds so much, while
// another is paused.
func waitsOver(by int64) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1"}
		b.session1(0, "client-1", 1)
		b.fault(sec, 30*sec, 1, "pause", "client-1")
		b.slow(sec, 30*sec, 2, "client-2", by)
		for t := 2 * sec; t < 25*sec; t += 730 * ms {
			b.op(t, "client-2", history.Invoke, history.Acquire, "k").Limit = 720 * ms
			b.op(t+720*ms, "client-2", history.Fail, history.Acquire, "k")
		}
		b.final(40 * sec)
		b.session1(40*sec+10*ms, "client-3", 2)
	}
}

var waitsAfterKills = map[string]func(*builder){
	"violated-beside-slight-delay": waitsOver(ms),
	"holds-beside-delay":           waitsOver(160 * ms), // one acquire may take longer than each of its waits
	"violated-behind-kill":         waitsAfterKill(20 * sec),
	"holds-behind-kill":            waitsAfterKill(8 * sec), // a database that was killed reads its log first
}

// limitOver waits for 30 s with a limit of 300 ms, over a link that adds so much.
func limitOver(by int64) func(*builder) {
	return func(b *builder) {
		b.kind(history.Tried)
		b.setup.Servers = []string{"server-1"}
		b.grantOf(0, 10*ms, "client-1", 1)
		b.slow(0, 40*sec, 1, "client-2", by)
		b.op(100*ms, "client-2", history.Invoke, history.Acquire, "k").Limit = 300 * ms
		b.op(30*sec, "client-2", history.Fail, history.Acquire, "k")
	}
}

var limitsOverSlowLinks = map[string]func(*builder){
	"violated-slight-delay": limitOver(ms),
	"unknown-delay":         limitOver(500 * ms),
}

// innerOver is a holder that asks for its lock again, and is refused after most of its lease, over a link that adds so much.
func innerOver(by int64) func(*builder) {
	return func(b *builder) {
		b.kind(history.Reentrant)
		b.setup.Servers = []string{"server-1"}
		b.slow(0, 40*sec, 1, "client-1", by)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.op(20*ms, "client-1", history.Invoke, history.Acquire, "k")
		b.op(900*ms, "client-1", history.Fail, history.Acquire, "k")
		b.does(910*ms, h, history.Release, history.OK)
	}
}

var innerOverSlowLinks = map[string]func(*builder){
	"violated-in-vain-slight-delay": innerOver(ms),
	"unknown-in-vain-delay":         innerOver(500 * ms),
}

// pausedInQueue waits from 2 s to 12 s, and is paused, or cut off, for a moment at 3 s; another asks at a time, and is granted the key.
func pausedInQueue(asked int64, kind string, cut ...string) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1"}
		b.setup.Promise.Order, b.setup.Promise.Token = true, false
		b.session1(0, "client-3", 0)
		b.fault(3*sec, 3020*ms, 1, kind, "client-1", cut...)
		b.session1(asked, "client-2", 0)
		b.grantOf(2*sec, 12*sec, "client-1", 0)
	}
}

var pausedInQueues = map[string]func(*builder){
	"violated-long-behind-a-pause": pausedInQueue(8*sec, "pause"),
	"violated-long-behind-a-cut":   pausedInQueue(8*sec, "partition", "server-1"),
	"holds-soon-behind-a-pause-na": pausedInQueue(4500*ms, "pause"), // it may have lost its place, and have asked for a new one since
}

// toldOK is a holder, or a client that asks, of a lock at two servers; a fault that lasts from 200 ms to 5 s, and what is told ok at a time, 1 ms after it was asked.
func toldOK(at int64, what history.F, promise func(*history.Promise), faults ...func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1", "server-2"}
		promise(&b.setup.Promise)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		then(faults...)(b, h)
		if what == history.Acquire {
			b.does(50*ms, h, history.Release, history.OK)
			b.grantOf(at, at+ms, "client-2", 2)
			return
		}
		b.does(100*ms, h, history.Extend, history.OK)
		b.does(at, h, what, history.OK)
	}
}

func noReturn(p *history.Promise) { p.Mute = true }

func cutFrom(n int, node string, cut ...string) func(*builder, *held) {
	return func(b *builder, _ *held) { b.fault(200*ms, 5*sec, n, "partition", node, cut...) }
}

func down(n int, kind, server string) func(*builder, *held) {
	return func(b *builder, _ *held) { b.fault(200*ms, 5*sec, n, kind, server) }
}

var (
	cutFromBoth  = cutFrom(1, "client-1", "server-1", "server-2")
	toldByNobody = map[string]func(*builder){
		"violated-nobody-renews":        toldOK(800*ms, history.Extend, plainLease, cutFromBoth),
		"violated-nobody-frees":         toldOK(800*ms, history.Release, plainLease, cutFromBoth),
		"violated-nobody-grants":        toldOK(sec, history.Acquire, ofSession, down(1, "pause", "server-1"), down(2, "kill", "server-2")),
		"violated-nobody-cut-and-away":  toldOK(800*ms, history.Extend, plainLease, cutFrom(1, "server-1", "client-1"), down(2, "pause", "server-2")),
		"holds-nobody-yet":              toldOK(600*ms, history.Extend, plainLease, cutFromBoth), // the cut may have come late
		"holds-nobody-any-more":         toldOK(5*sec, history.Acquire, plainLease, cutFromBoth),
		"holds-nobody-one-server-left":  toldOK(800*ms, history.Extend, plainLease, cutFrom(1, "client-1", "server-1")),
		"holds-nobody-other-client-cut": toldOK(800*ms, history.Extend, plainLease, cutFrom(1, "client-2", "server-1", "server-2")),
		"holds-nobody-slow-disks":       toldOK(800*ms, history.Extend, plainLease, down(1, "disk-stall", "server-1"), down(2, "disk-stall", "server-2")),
		"holds-nobody-session":          toldOK(800*ms, history.Extend, ofWatchdog, cutFromBoth), // it may tell what it keeps alive by itself
		"holds-nobody-no-return":        toldOK(800*ms, history.Release, noReturn, cutFromBoth),
	}
)
