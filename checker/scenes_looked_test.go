package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of what makes a look at the servers tell nothing, or nothing certain, each with the near neighbour that must stay as it is.
func init() {
	maps.Copy(scenes["lock-info"], lookedAtFew)
	maps.Copy(scenes["lock-info"], lookedAtUnknown)
	maps.Copy(scenes["honest-claims"], claimsLooked)
}

// aparts is a look of client-3 in the middle of a lease that finds nobody, while a fault is at a node, or at its links to others; the
// servers are so many, 0: not known.
func aparts(servers int, survives history.Survival, kind, node string, cut ...string) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1", "server-2", "server-3"}[:servers]
		b.setup.Promise.Survives = survives
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.seen(20*ms, 21*ms, h.owner)
		b.fault(50*ms, 300*ms, 1, kind, node, cut...)
		b.seen(100*ms, 101*ms, "")
		b.does(600*ms, h, history.Release, history.OK)
	}
}

// namesOver is a look at a time that names a holder which nobody heard of since it was granted the lock for a second, after what came
// before.
func namesOver(at int64, before func(*builder)) func(*builder) {
	return func(b *builder) {
		before(b)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.seen(at, at+ms, h.owner)
	}
}

// goneAndNamed is a look that finds nobody in the middle of a lease, and one behind it that names its holder.
func goneAndNamed(more func(*builder)) func(*builder) {
	return func(b *builder) {
		b.setup.Promise.Bound = 5e9
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.seen(1200*ms, 1201*ms, "")
		b.seen(1500*ms, 1501*ms, h.owner)
		more(b)
	}
}

// namesStranger are a look that names a holder, and one that names somebody who never asked for the lock.
func namesStranger(more func(*builder)) func(*builder) {
	return func(b *builder) {
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.seen(20*ms, 21*ms, h.owner)
		b.seen(200*ms, 201*ms, "client-2/none")
		more(b)
	}
}

func hitServer(from, to int64) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1"}
		b.fault(from, to, 1, "pause", "server-1")
	}
}

// openNest is a reentrant lock of which client-1 cannot know how often it has it.
func openNest(b *builder) {
	b.kind(history.Reentrant)
	b.op(-500*ms, "client-1", history.Invoke, history.Acquire, "k")
	b.op(-400*ms, "client-1", history.Info, history.Acquire, "k")
}

// lateHold is a second request of the holder of a reentrant lock, of unknown outcome.
func lateHold(b *builder) {
	b.kind(history.Reentrant)
	b.op(20*ms, "client-1", history.Invoke, history.Acquire, "k")
	b.op(30*ms, "client-1", history.Info, history.Acquire, "k")
}

var lookedAtFew = map[string]func(*builder){
	"holds-apart-server":          aparts(3, "", "pause", "server-1"),
	"violated-apart-one":          aparts(1, "", "pause", "server-1"), // which says what is true whatever happens to it
	"holds-apart-cut":             aparts(3, "", "partition", "server-1", "client-3"),
	"holds-apart-own-cut":         aparts(3, "", "partition", "client-3", "server-1"),
	"violated-apart-cut-else":     aparts(3, "", "partition", "server-1", "client-2"),
	"violated-apart-own-pause":    aparts(3, "", "pause", "client-3"),
	"holds-apart-killed":          aparts(3, "", "kill", "server-1"),
	"violated-apart-survived":     aparts(3, history.Restart, "kill", "server-1"), // the dead answer nobody
	"holds-apart-paused":          aparts(3, history.Restart, "pause", "server-1"),
	"holds-apart-unlisted":        aparts(0, "", "partition", "server-1", "client-2"),
	"holds-apart-unlisted-cut":    aparts(0, "", "partition", "client-2", "server-1"),
	"violated-apart-unlisted":     aparts(0, "", "pause", "client-2"),
	"violated-named-over":         namesOver(1200*ms, nothing),
	"holds-named-over-bound":      namesOver(1200*ms, func(b *builder) { b.setup.Promise.Bound = 5e8 }),
	"violated-named-over-bound":   namesOver(1600*ms, func(b *builder) { b.setup.Promise.Bound = 5e8 }),
	"holds-named-over-few":        namesOver(1200*ms, ofFew),
	"holds-named-over-session":    namesOver(1200*ms, func(b *builder) { b.setup.Promise.Session = true }),
	"holds-named-over-hit":        namesOver(1200*ms, hitServer(100*ms, 300*ms)),
	"holds-named-over-nested":     namesOver(1200*ms, openNest),
	"violated-gone-and-named":     goneAndNamed(nothing),
	"holds-gone-and-named-few":    goneAndNamed(ofFew),
	"holds-gone-and-named-hit":    goneAndNamed(hitServer(1300*ms, 1400*ms)),
	"holds-gone-and-named-nest":   goneAndNamed(lateHold),
	"violated-names-stranger":     namesStranger(nothing),
	"violated-names-stranger-few": namesStranger(ofFew),
	"violated-free-named":         func(b *builder) { namesStranger(nothing)(b); b.seen(300*ms, 301*ms, "") },
	"holds-superseded-few":        func(b *builder) { lookBehind(b, 1); ofFew(b) },
	"holds-maybe-own-twice":       namedAround("client-2", "client-2"),
	"violated-maybe-crossed": func(b *builder) { // who was granted it first of others was sent before, and answered after, its own grant
		b.setup.Promise.Token = false
		b.op(0, "client-2", history.Invoke, history.Acquire, "k").Owner = "client-2/maybe"
		b.process["client-2"] = 0
		b.seen(50*ms, 51*ms, "client-2/maybe")
		o := b.grantOf(100*ms, 400*ms, "client-1", 0)
		b.sent(o, 150*ms)
		b.does(450*ms, o, history.Release, history.OK)
		h := b.grantOf(190*ms, 300*ms, "client-2", 0)
		b.sent(h, 200*ms)
		b.does(350*ms, h, history.Release, history.OK)
		b.seen(500*ms, 501*ms, "client-2/maybe")
	},
	"holds-elsewhere-superseded": func(b *builder) { // it names who holds another key: that is false, whoever was granted this one since
		b.setup.Promise.DriftFactor, b.setup.Keys = 0.01, []string{"k", "l"}
		h := b.grant(0, 10*ms, "client-1", "l", 1)
		o := b.grantOf(100*ms, 110*ms, "client-2", 2)
		b.seen(120*ms, 121*ms, o.owner)
		b.does(150*ms, o, history.Release, history.OK)
		b.seen(200*ms, 201*ms, h.owner)
	},
}

// unknownBetween is a holder that is found gone and then named, and an acquire of a client, between, of unknown outcome.
func unknownBetween(node string) func(*builder) {
	return goneAndNamed(func(b *builder) {
		b.process[node] = 0
		b.op(900*ms, node, history.Invoke, history.Acquire, "k")
		b.op(950*ms, node, history.Info, history.Acquire, "k")
	})
}

var lookedAtUnknown = map[string]func(*builder){
	"holds-gone-and-named-unknown":    unknownBetween("client-1"), // it may have been granted it once more
	"violated-gone-and-named-unknown": unknownBetween("client-2"),
	"holds-gone-and-named-inner": func(b *builder) { // one of its two holds may have been given back, or none
		b.kind(history.Reentrant)
		b.setup.Promise.Bound = 5e9
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.again(20*ms, h, 2, 1)
		b.does(30*ms, h, history.Release, history.Info)
		b.seen(1200*ms, 1201*ms, "")
		b.seen(1500*ms, 1501*ms, h.owner)
	},
	"holds-maybe-asked-twice": func(b *builder) { // as the same one
		freeNamed(b, "client-2/maybe")
		b.asksAs(210*ms, "k")
		b.asksAs(400*ms, "k")
	},
	"holds-nobody-twice": func(b *builder) { // nobody is no owner, though one asked without a name
		b.op(0, "client-2", history.Invoke, history.Acquire, "k")
		b.op(10*ms, "client-2", history.Info, history.Acquire, "k")
		b.seen(50*ms, 51*ms, "")
		b.session1(100*ms, "client-1", 1)
		b.seen(300*ms, 301*ms, "")
	},
}

// foundElse is a look that names who holds another key, in the middle of a lease that is renewed behind it.
func foundElse(key string) func(*builder) {
	return func(b *builder) {
		b.setup.Keys = []string{"k", "l"}
		h := b.grantOf(0, 10*ms, "client-1", 1)
		o := b.grant(50*ms, 60*ms, "client-2", key, 2)
		b.seen(100*ms, 101*ms, o.owner)
		b.does(200*ms, h, history.Extend, history.OK)
	}
}

// deniedThen is a holder that is told that it does not hold the lock, and then ok, after what came before.
func deniedThen(before func(*builder)) func(*builder) {
	return func(b *builder) {
		before(b)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.does(1500*ms, h, history.Extend, history.Fail)
		b.does(1700*ms, h, history.Release, history.OK)
	}
}

var claimsLooked = map[string]func(*builder){
	"holds-found-elsewhere": foundElse("l"), // the look is false, and shows nothing
	"violated-denied-told":  deniedThen(nothing),
	"holds-denied-few":      deniedThen(ofFew), // a few of its servers may have said so
	"holds-denied-nested":   deniedThen(lateHoldFirst),
	"holds-denied-hit":      deniedThen(hitServer(1550*ms, 1600*ms)),
	"holds-denied-hit-then": deniedThen(hitServer(1700*ms+ms/4, 1700*ms+ms/2)), // as it asks
	"violated-denied-own-hit": deniedThen(func(b *builder) {
		b.setup.Servers = []string{"server-1"}
		b.fault(1550*ms, 1600*ms, 1, "pause", "client-1")
	}),
	"holds-session-denied-server-stall": func(b *builder) {
		deniedIn("client-2", 300*ms, history.OK)(b)
		b.stall(4400*ms, "server-1", 700*ms)
	},
	"holds-maybe-few": func(b *builder) { // who gave up is left at a few of many servers
		ofFew(b)
		foundWhile("k")(b)
	},
}

// lateHoldFirst is a reentrant lock of which one more hold may come late.
func lateHoldFirst(b *builder) {
	b.kind(history.Reentrant)
	b.op(-100*ms, "client-1", history.Invoke, history.Acquire, "k")
	b.op(-50*ms, "client-1", history.Info, history.Acquire, "k").Owner = "client-1/1"
}
