package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of holds that change meanwhile, of the other threads of a holder, and of answers that come late, each with the near
// neighbour that must stay as it is.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"honest-claims": turnedClaims, "false-loss": moreRefused, "reentrancy": threads, "mutual-exclusion": nestedWrites,
		"lock-info": lateHides, "honest-refusal": refusedOver, "release-by-owner": lateReleased,
	} {
		maps.Copy(scenes[property], more)
	}
}

// turnedBehind is a holder that changes its mode, whose lease is over as another is granted the lock in a mode, and that is told ok
// to its release.
func turnedBehind(mode, turns, other history.Mode) func(*builder) {
	return func(b *builder) {
		b.kind(history.ReadWrite)
		b.setup.Promise.Changes = true
		h := b.as(0, 10*ms, "client-1", mode, 1)
		turned(100*ms, turns, history.OK)(b, h)
		o := b.as(1500*ms, 1510*ms, "client-2", other, 2)
		b.does(1600*ms, o, history.Release, history.OK)
		b.does(1900*ms, h, history.Release, history.OK)
	}
}

// gave lets a holder give back so many permits, with an outcome.
func (b *builder) gave(at int64, h *held, n int32, outcome history.Type) {
	b.does(at, h, history.Release, outcome)
	b.ops[len(b.ops)-2].Permits = n
	b.process[h.node] = 0
}

// partBehind is a holder of two permits that gives one back, whose lease is over as another is granted so many; no lease is owed for
// certain, as its server was killed.
func partBehind(n int32) func(*builder) {
	return func(b *builder) {
		b.kind(history.Semaphore)
		h := b.permits(0, 10*ms, "client-1", 2, 1)
		b.gave(100*ms, h, 1, history.OK)
		b.fault(1200*ms, 1300*ms, 1, "kill", "server-1")
		o := b.permits(1500*ms, 1510*ms, "client-2", n, 2)
		b.does(1600*ms, o, history.Release, history.OK)
		b.does(1900*ms, h, history.Release, history.OK)
	}
}

// givesInParts is a holder of permits that gives back some, and then more.
func givesInParts(n, first int32, outcome history.Type, then ...int32) func(*builder) {
	return func(b *builder) {
		b.kind(history.Semaphore)
		b.setup.Permits = 3
		h := b.permits(0, 10*ms, "client-1", n, 1)
		b.gave(100*ms, h, first, outcome)
		for i, more := range then {
			b.gave(int64(i+2)*100*ms, h, more, history.OK)
		}
	}
}

// asksTooMuch is a holder of three permits that gives back two, with an outcome, and is then refused two more; it renews.
func asksTooMuch(outcome history.Type) func(*builder) {
	return func(b *builder) {
		b.kind(history.Semaphore)
		b.setup.Permits = 3
		h := b.permits(0, 10*ms, "client-1", 3, 1)
		b.does(50*ms, h, history.Extend, history.OK)
		b.gave(100*ms, h, 2, outcome)
		b.gave(200*ms, h, 2, history.Fail)
		b.gave(300*ms, h, 1, history.OK)
	}
}

var turnedClaims = map[string]func(*builder){
	"violated-reader-again-behind-writer": turnedBehind(exclusive, shared, exclusive),
	"holds-reader-again-behind-reader":    turnedBehind(exclusive, shared, shared),
	"violated-turned-behind-writer":       turnedBehind(shared, exclusive, exclusive),
	"violated-turned-behind-reader":       turnedBehind(shared, exclusive, shared),
	"violated-part-behind":                partBehind(2),
	"holds-part-behind":                   partBehind(1), // which leaves it room
	"violated-parts-too-many":             givesInParts(2, 1, history.OK, 2),
	"holds-parts":                         givesInParts(3, 1, history.OK, 1, 1),
	"holds-parts-unknown":                 givesInParts(2, 1, history.Info, 2),
	"holds-parts-refused":                 asksTooMuch(history.Info),
	"violated-part-denied": func(b *builder) {
		givesInParts(3, 1, history.Fail, 1)(b)
	},
}

var moreRefused = map[string]func(*builder){
	"holds-more-refused":    asksTooMuch(history.Info), // one of three may be left to it
	"violated-part-refused": givesInParts(3, 2, history.Fail),
}

// otherThread takes a lock and has another thread of its client ask for it, with an outcome.
func otherThread(by history.Reentry, ask func(b *builder, h *held)) func(*builder) {
	return func(b *builder) {
		nests["holds"](b)
		b.setup.Promise.Reentry = by
		h := b.grantOf(3*sec, 3010*ms, "client-1", 9)
		b.ops[len(b.ops)-1].Depth = 1
		first := b.process["client-1"]
		b.process["client-1"] = 77
		ask(b, h)
		b.process["client-1"] = first
		b.again(3200*ms, h, 3, 9)
		b.back(3300*ms, h, 2)
		b.back(3400*ms, h, 1)
		b.back(3500*ms, h, 0)
	}
}

// twoKeys takes two keys and is refused the first one again.
func twoKeys(b *builder) {
	nests["holds"](b)
	b.setup.Keys = []string{"k", "l"}
	h := b.grantOf(3*sec, 3010*ms, "client-1", 9)
	o := b.grant(3100*ms, 3110*ms, "client-1", "l", 10)
	b.refuse(3200*ms, 3210*ms, "client-1", history.Acquire, 0)
	b.does(3300*ms, o, history.Release, history.OK)
	b.does(3400*ms, h, history.Release, history.OK)
}

// deepBehind is granted a lock once its lease is over, and told that it holds it twice; what it had was said before to be lost, or not.
func deepBehind(answer history.Type) func(*builder) {
	return func(b *builder) {
		nests["holds"](b)
		h := b.grantOf(3*sec, 3010*ms, "client-3", 9)
		b.does(5*sec, h, history.Extend, answer)
		b.note(5100*ms, h, history.Lost)
		g := b.grantOf(6*sec, 6010*ms, "client-3", 10)
		b.ops[len(b.ops)-1].Depth = 2
		b.back(6100*ms, g, 1)
		b.back(6200*ms, g, 0)
	}
}

var threads = map[string]func(*builder){
	"violated-thread-refused": func(b *builder) {
		otherThread(history.ByProcess, func(b *builder, h *held) {
			b.again(3050*ms, h, 2, 9)
			b.refuse(3100*ms, 3110*ms, "client-1", history.Acquire, 0)
		})(b)
	},
	"holds-thread-refused": func(b *builder) { // of a lock that one thread holds
		nests["holds"](b)
		b.setup.Promise.Reentry = history.ByThread
		h := b.grantOf(3*sec, 3010*ms, "client-1", 9)
		first := b.process["client-1"]
		b.process["client-1"] = 77
		b.refuse(3100*ms, 3110*ms, "client-1", history.Acquire, 0)
		b.process["client-1"] = first
		b.does(3400*ms, h, history.Release, history.OK)
	},
	"holds-thread-unknown": func(b *builder) { // it may have taken it once more
		otherThread(history.ByProcess, func(b *builder, _ *held) {
			b.op(3100*ms, "client-1", history.Invoke, history.Acquire, "k")
			b.op(3110*ms, "client-1", history.Info, history.Acquire, "k")
		})(b)
	},
	"holds-threads-crossed":        func(b *builder) { crossedThreads(b, 1, 2) },
	"violated-threads-crossed":     func(b *builder) { crossedThreads(b, 2, 2) }, // in either order one of them was told wrongly
	"holds-first-crossed":          func(b *builder) { firstCrossed(b, 1, "", 1) },
	"holds-first-crossed-owners":   func(b *builder) { firstCrossed(b, 1, "client-1/again", 1) },
	"violated-first-crossed-count": func(b *builder) { firstCrossed(b, 1, "", 2) },
	"violated-first-crossed-deep":  func(b *builder) { firstCrossed(b, 2, "client-1/again", 1) }, // nobody had the first of its holds
	"violated-both-first": func(b *builder) { // whichever was first, the other was the second
		nests["holds"](b)
		b.setup.Promise.Reentry = history.ByProcess
		firstsAtOnce(b, 1, 1, "client-1/again")
	},
	"holds-both-first": func(b *builder) { // one gave it back before the other was granted it
		nests["holds"](b)
		b.setup.Promise.Reentry = history.ByProcess
		h := b.grantOf(3*sec, 3010*ms, "client-1", 9)
		first := b.process["client-1"]
		b.process["client-1"] = 77
		b.op(3005*ms, "client-1", history.Invoke, history.Acquire, "k")
		b.process["client-1"] = first
		b.back(3020*ms, h, 0)
		b.process["client-1"] = 77
		b.claim(b.op(3030*ms, "client-1", history.OK, history.Acquire, "k"), &held{node: "client-1", key: "k", owner: "client-1/again", token: 10}, 3025*ms)
	},
	"violated-two-keys":    twoKeys,
	"violated-deep-denied": deepBehind(history.Fail),
	"holds-deep-renewed":   deepBehind(history.Info), // it may have kept it
}

// firstCrossed is a client of which two threads take a key that it does not have, at once. Who was served second is
// answered first; the other is told a depth, and may call the hold by another name. Then one gives back its hold, and
// is told how many are left.
func firstCrossed(b *builder, depth int32, owner string, left int32) {
	nests["holds"](b)
	b.setup.Promise.Reentry = history.ByProcess
	h := firstsAtOnce(b, 2, depth, owner)
	b.back(3100*ms, h, left)
	b.back(3200*ms, h, left-1)
}

// firstsAtOnce are the two requests of firstCrossed and what each was told, in the order of the answers.
func firstsAtOnce(b *builder, one, other int32, owner string) *held {
	b.process["client-1"] = 0
	b.op(3*sec, "client-1", history.Invoke, history.Acquire, "k")
	first := b.process["client-1"]
	b.process["client-1"] = 77
	h := b.grantOf(3001*ms, 3010*ms, "client-1", 9)
	b.ops[len(b.ops)-1].Depth = one
	b.process["client-1"] = first
	again := *h
	if owner != "" {
		again.owner = owner
	}
	ok := b.op(3020*ms, "client-1", history.OK, history.Acquire, "k")
	b.claim(ok, &again, 3*sec)
	ok.Depth = other
	return h
}

// crossedThreads is a client of which one thread gives back what it has while another takes it, and what both are told: the release is
// answered first.
func crossedThreads(b *builder, given, taken int32) {
	nests["holds"](b)
	b.setup.Promise.Reentry = history.ByProcess
	h := b.grantOf(3*sec, 3010*ms, "client-1", 9)
	first := b.process["client-1"]
	b.process["client-1"] = 77
	b.op(3100*ms, "client-1", history.Invoke, history.Acquire, "k")
	b.process["client-1"] = first
	b.op(3110*ms, "client-1", history.Invoke, history.Release, "k").Owner = h.owner
	done := b.op(3120*ms, "client-1", history.OK, history.Release, "k")
	done.Owner, done.Depth = h.owner, given
	b.process["client-1"] = 77
	b.claim(b.op(3130*ms, "client-1", history.OK, history.Acquire, "k"), h, 3100*ms)
	b.ops[len(b.ops)-1].Depth = taken
	b.back(3200*ms, h, 0)
}

// writesBehind is a write behind the last release of a reentrant lock, which says how often it is held still.
func writesBehind(left int32, before func(*builder)) func(*builder) {
	return func(b *builder) {
		nests["holds"](b)
		before(b)
		h := b.grantOf(3*sec, 3010*ms, "client-1", 9)
		b.ops[len(b.ops)-1].Depth = 1
		b.back(3100*ms, h, left)
		b.write(3200*ms, h)
	}
}

var nestedWrites = map[string]func(*builder){
	"violated-nested-given-back": writesBehind(0, func(*builder) {}),
	"holds-nested-one-more": writesBehind(0, func(b *builder) { // its first request may have come late
		b.op(2900*ms, "client-1", history.Invoke, history.Acquire, "k")
		b.op(2950*ms, "client-1", history.Info, history.Acquire, "k")
		b.process["client-1"] = 0
	}),
}

// answeredLate is client-2, which hears of its grant when its lease is over and client-1 has the key, which renews it.
func answeredLate(b *builder) (late, now *held) {
	late = b.grantOf(0, 2500*ms, "client-2", 1)
	b.sent(late, 5*ms)
	b.claimMore("client-2", 2500*ms, -1495*ms)
	now = b.grantOf(1800*ms, 2*sec, "client-1", 2)
	b.does(2300*ms, now, history.Extend, history.OK)
	return late, now
}

var lateHides = map[string]func(*builder){
	"violated-behind-late": func(b *builder) { answeredLate(b); b.seen(2700*ms, 2701*ms, "") },
	"holds-behind-late":    func(b *builder) { _, now := answeredLate(b); b.seen(2700*ms, 2701*ms, now.owner) },
}

var lateReleased = map[string]func(*builder){
	"violated-late": func(b *builder) { // its own grant was over before the key was granted to who lost it
		late, _ := answeredLate(b)
		b.does(2600*ms, late, history.Release, history.OK)
		b.grantOf(2610*ms, 2650*ms, "client-3", 3)
	},
}

// refusedThen is a try that is refused at 5 s; who had the key is told at 10 s how its release went, and may have renewed it.
func refusedThen(renews bool, answer history.Type) func(*builder) {
	return func(b *builder) {
		b.kind(history.Tried)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		if renews {
			b.renews(300*ms, 5*sec, h)
		}
		b.refuse(5*sec, 5001*ms, "client-2", history.Try, 0)
		b.does(10*sec, h, history.Release, answer)
	}
}

var refusedOver = map[string]func(*builder){
	"violated-over":  refusedThen(false, history.Fail),
	"holds-renewed":  refusedThen(true, history.Fail),
	"holds-kept-too": refusedThen(false, history.OK), // the service says that it held it still
}
