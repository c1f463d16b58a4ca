package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of holds within holds behind a release of unknown outcome: how many it may have left is known all the same.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"reentrancy": countsLeft, "false-loss": deniedLeft, "honest-claims": outermost, "deadlock-freedom": givenBackTwice,
	} {
		maps.Copy(scenes[property], more)
	}
}

// oneLeft is a lock that its holder takes a number of times, and gives back with an answer that is lost, and with another one.
func oneLeft(times int32, answer history.Type, since ...func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		b.kind(history.Reentrant)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.ops[len(b.ops)-1].Depth = 1
		for n := int32(1); n < times; n++ {
			b.again(int64(n)*20*ms, h, n+1, 1)
		}
		b.does(100*ms, h, history.Release, history.Info)
		b.does(200*ms, h, history.Release, answer)
		for _, happens := range since {
			happens(b, h)
		}
		b.final(9 * sec)
	}
}

// leftOnce has the last answer tell that one hold is left, and the next release refused.
func leftOnce(b *builder, h *held) {
	b.ops[len(b.ops)-1].Depth = 1
	b.does(300*ms, h, history.Release, history.Fail)
}

var countsLeft = map[string]func(*builder){
	"violated-another-by-thread":   toldAnothers(history.ByThread, "client-2"),
	"violated-another-by-process":  toldAnothers(history.ByProcess, "client-2"),
	"unknown-own-by-process":       toldAnothers(history.ByProcess, "client-1"),
	"violated-lost-then-free":      oneLeft(3, history.OK),
	"unknown-lost-then-free":       oneLeft(2, history.OK), // both may have been done
	"holds-lost-comes-late":        lostComesLate(history.Info, 2),
	"violated-lost-comes-twice":    lostComesLate(history.Info, 3),
	"violated-not-lost":            lostComesLate(history.OK, 2),
	"unknown-cleaned-up":           cleanedUp(history.Info),
	"violated-not-cleaned-up":      cleanedUp(history.OK),
	"unknown-crossed-lapsed":       crossedBehind(0, true),
	"unknown-crossed-lapsed-alone": crossedBehind(0, false),
	"violated-crossed-held":        crossedBehind(2500*ms, false), // it has the lock still, with another token
}

// cleanedUp is a client whose first acquire ends in a way, whose next is told that it is its second hold, and whose release is told to be the last: what
// became of its first acquire may have been taken back by its library since.
func cleanedUp(first history.Type) func(*builder) {
	return func(b *builder) {
		b.kind(history.Reentrant)
		b.setup.Promise.Reentry = history.ByProcess
		h := &held{node: "client-1", key: "k", owner: "client-1/1", token: 1}
		b.op(0, "client-1", history.Invoke, history.Acquire, "k")
		if ended := b.op(100*ms, "client-1", first, history.Acquire, "k"); first == history.OK {
			b.claim(ended, h, 90*ms)
			ended.Depth = 1
		} else {
			ended.Owner = h.owner
		}
		b.again(200*ms, h, 2, 1)
		b.back(300*ms, h, 0)
		g := b.grantOf(250*ms, 350*ms, "client-2", 2)
		b.ops[len(b.ops)-1].Depth = 1
		b.back(400*ms, g, 0)
		b.final(9 * sec)
	}
}

// crossedBehind is a client whose hold, of a time, was never given back, before two of its threads are granted the lock and are answered the other way
// round; another may have had it meanwhile.
func crossedBehind(held int64, another bool) func(*builder) {
	return func(b *builder) {
		b.kind(history.Reentrant)
		b.setup.Promise.Reentry = history.ByProcess
		b.grantOf(held, held+10*ms, "client-1", 1)
		b.ops[len(b.ops)-1].Depth = 1
		if another {
			b.session1(1200*ms, "client-2", 2)
		}
		h := firstsAtOnce(b, 2, 1, "")
		b.back(3100*ms, h, 1)
		b.back(3200*ms, h, 0)
		b.final(9 * sec)
	}
}

// lostComesLate is a lock that its holder gives back with an answer, and takes and gives back again as if that had never arrived; then it takes it up to
// a number of times, and its next release is told to be the last.
func lostComesLate(answer history.Type, most int32) func(*builder) {
	return func(b *builder) {
		b.kind(history.Reentrant)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.ops[len(b.ops)-1].Depth = 1
		if answer == history.Info {
			b.does(100*ms, h, history.Release, answer)
		} else {
			b.again(90*ms, h, 2, 1)
			b.back(100*ms, h, 1)
		}
		for n := range int64(2) {
			b.again((200+n*100)*ms, h, 2, 1)
			b.again((220+n*100)*ms, h, 3, 1)
			b.back((230+n*100)*ms, h, 2)
			b.back((250+n*100)*ms, h, 1)
		}
		for depth := int32(2); depth <= most; depth++ {
			b.again((400+20*int64(depth))*ms, h, depth, 1)
		}
		b.back(500*ms, h, 0)
		g := b.grantOf(450*ms, 520*ms, "client-2", 2)
		b.ops[len(b.ops)-1].Depth = 1
		b.back(540*ms, g, 0)
		b.final(9 * sec)
	}
}

// toldAnothers is a lock that tells a second client of the first one's hold as its own.
func toldAnothers(by history.Reentry, node string) func(*builder) {
	return func(b *builder) {
		b.kind(history.Reentrant)
		b.setup.Promise.Reentry = by
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.ops[len(b.ops)-1].Depth = 1
		again := *h
		again.node = node
		b.again(100*ms, &again, 2, 1)
		b.back(200*ms, &again, 1)
		b.back(300*ms, h, 0)
	}
}

// whileAllAreDead has a holder ask while the only server is dead, and be told ok.
func whileAllAreDead(asks func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		b.kind(history.Reentrant)
		b.setup.Servers = []string{"server-1"}
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.ops[len(b.ops)-1].Depth = 1
		b.fault(100*ms, 3*sec, 1, "kill", "server-1")
		asks(b, h)
	}
}

// takenTwice is a lock without a lease that its holder took twice and gave back, and that another waits for, while a client that asks for nothing
// stands still.
func takenTwice(answers ...int32) func(*builder) {
	return func(b *builder) {
		b.kind(history.Reentrant)
		b.setup.Promise.Leased, b.setup.Promise.Session, b.setup.Servers = false, true, []string{"server-1"}
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.ops[len(b.ops)-1].Depth = 1
		b.again(20*ms, h, 2, 1)
		for i, depth := range answers {
			b.back(int64(i+1)*100*ms, h, depth)
		}
		b.fault(sec, 5*sec, 1, "pause", "client-3")
		b.op(2*sec, "client-2", history.Invoke, history.Acquire, "k")
		b.op(30*sec, "client-2", history.Fail, history.Acquire, "k")
	}
}

var outermost = map[string]func(*builder){
	"holds-inner-all-dead":   whileAllAreDead(func(b *builder, h *held) { b.again(500*ms, h, 2, 1); b.back(600*ms, h, 1) }), // its library counts by itself
	"violated-last-all-dead": whileAllAreDead(func(b *builder, h *held) { b.back(600*ms, h, 0) }),
	"violated-first-all-dead": whileAllAreDead(func(b *builder, _ *held) {
		b.grantOf(1500*ms, 1510*ms, "client-2", 2)
		b.ops[len(b.ops)-1].Depth = 1
	}),
}

var givenBackTwice = map[string]func(*builder){
	"violated-twice-beside-idle": takenTwice(1, 0),
	"unknown-once-beside-idle":   takenTwice(1), // it has the lock still
}

var deniedLeft = map[string]func(*builder){
	"violated-lost-then-left":   oneLeft(3, history.OK, leftOnce),
	"holds-lost-then-left-na":   oneLeft(2, history.OK, leftOnce), // the lost one came after the other
	"violated-lost-then-denied": oneLeft(3, history.Fail),
}
