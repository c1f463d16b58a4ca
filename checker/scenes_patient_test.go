package checker

import (
	"fmt"
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of those who wait for what is free or their own, of those who gave up, and of answers that came late or at the very
// time of others, each with the near neighbour that must stay as it is.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"deadlock-freedom": permitsForAll, "reentrancy": waitsForItself, "fairness": passedOver, "false-loss": lossesBeforeAnswers,
		"lock-info": looksAtOnce, "availability": answersKeptBack,
	} {
		maps.Copy(scenes[property], more)
	}
}

// wantsBeside is a semaphore of three of which one client holds some for long, and two others want so many each.
func wantsBeside(held, want int32) func(*builder) {
	return func(b *builder) {
		b.kind(history.Semaphore)
		b.setup.Permits, b.setup.Promise.Permits = 3, true
		h := b.permits(0, 10*ms, "client-1", held, 1)
		for t := sec / 2; t < 15*sec; t += sec / 2 {
			b.does(t, h, history.Extend, history.OK)
		}
		b.does(15*sec, h, history.Release, history.OK)
		for n := 2; n <= 3; n++ {
			b.op(sec, fmt.Sprintf("client-%d", n), history.Invoke, history.Acquire, "k").Permits = want
			b.op(14*sec, fmt.Sprintf("client-%d", n), history.Fail, history.Acquire, "k").Permits = want
		}
		b.final(16 * sec)
	}
}

var permitsForAll = map[string]func(*builder){
	"violated-wants-two":  wantsBeside(1, 2), // two were free all the time
	"holds-wants-three":   wantsBeside(1, 3),
	"holds-wants-two-few": wantsBeside(2, 2),

	"violated-reader-ahead":     readerAmongReaders(true, 3),
	"holds-reader-ahead-behind": readerAmongReaders(true, 1), // the writer was first
	"holds-reader-no-order":     readerAmongReaders(false, 3),
}

// readerAmongReaders waits for 14 s beside a reader that renews; a writer that has asked after it is granted the lock with a token.
func readerAmongReaders(order bool, token int64) func(*builder) {
	return func(b *builder) {
		b.kind(history.ReadWrite)
		b.setup.Promise.Shared, b.setup.Promise.Order = true, order
		h := b.as(0, 10*ms, "client-1", history.Shared, 1)
		for t := sec / 2; t < 15*sec; t += sec / 2 {
			b.does(t, h, history.Extend, history.OK)
		}
		b.does(15*sec, h, history.Release, history.OK)
		g := b.as(sec, 14*sec, "client-2", history.Shared, 2)
		b.does(15100*ms, g, history.Release, history.OK)
		w := b.as(1100*ms, 16*sec, "client-3", history.Exclusive, token)
		b.does(16100*ms, w, history.Release, history.OK)
		b.final(17 * sec)
	}
}

// answeredAfter is a holder that renews, and whose inner acquire is answered after a time.
func answeredAfter(length int64, answer history.Type) func(*builder) {
	return func(b *builder) {
		b.kind(history.Reentrant)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.ops[len(b.ops)-1].Depth = 1
		b.refuse(15*ms, 50*ms, "client-2", history.Acquire, 0)
		b.again(20*ms, h, 2, 1)
		b.back(30*ms, h, 1)
		b.op(100*ms, "client-1", history.Invoke, history.Acquire, "k")
		process := b.process["client-1"]
		b.process["client-1"] = 90
		for t := sec / 2; t < 100*ms+length; t += sec / 2 {
			b.does(t, h, history.Extend, history.OK)
		}
		b.process["client-1"] = process
		ok := b.op(100*ms+length, "client-1", answer, history.Acquire, "k")
		if answer == history.OK {
			b.claim(ok, h, 100*ms+length-ms)
			ok.Depth = 2
		}
	}
}

var waitsForItself = map[string]func(*builder){
	"violated-answered-late": answeredAfter(1500*ms, history.OK),
	"violated-unanswered":    answeredAfter(6*sec, history.Info),
	"holds-answered-late":    answeredAfter(900*ms, history.OK),
	"holds-at-once": func(b *builder) { // another grant, in the very instant in which it was asked for
		answeredAfter(ms, history.OK)(b)
		b.back(200*ms, &held{node: "client-1", key: "k", owner: "client-1/1"}, 1)
		b.back(300*ms, &held{node: "client-1", key: "k", owner: "client-1/1"}, 0)
		b.grantOf(400*ms, 400*ms, "client-1", 2)
	},
}

// gaveUpAt is a waiter that gives up at a time, and is overtaken 1.5 s after it came.
func gaveUpAt(t int64) func(*builder) {
	return func(b *builder) {
		lined(b)
		b.refused(4*sec, t)
		b.session1(5500*ms, "client-1", 9)
	}
}

var passedOver = map[string]func(*builder){
	"violated-gave-up-soon": gaveUpAt(6200 * ms),
	"holds-gave-up-then":    gaveUpAt(5900 * ms),
}

// answeredOnceTold is a holder that is told of its loss while a renewal has no answer, which comes later.
func answeredOnceTold(asked int64) func(*builder) {
	return func(b *builder) {
		h := losing(b)
		b.op(asked, "client-1", history.Invoke, history.Extend, "k").Owner = h.owner
		b.note(1200*ms, h, history.Lost)
		ok := b.op(1400*ms, "client-1", history.OK, history.Extend, "k")
		b.claim(ok, h, asked)
	}
}

var lossesBeforeAnswers = map[string]func(*builder){
	"holds-answered-once-told":    answeredOnceTold(700 * ms),
	"violated-answered-once-told": answeredOnceTold(1190 * ms), // nobody has waited for that yet
}

var looksAtOnce = map[string]func(*builder){
	"holds-granted-at-once": func(b *builder) { // the next grant was asked for behind the look, at the same time
		h := b.grantOf(100*ms, 200*ms, "client-1", 1)
		b.seen(200*ms, 200*ms, h.owner)
		b.op(200*ms, "client-1", history.Invoke, history.Release, "k").Owner = h.owner
		b.op(200*ms, "client-1", history.OK, history.Release, "k").Owner = h.owner
		b.grantOf(200*ms, 200*ms, "client-2", 2)
	},
	"violated-looked-at-once": func(b *builder) { b.grantOf(100*ms, 200*ms, "client-3", 1); b.seen(200*ms, 201*ms, "") }, // by who was granted it
	"violated-granted-before": func(b *builder) {
		h := b.grantOf(100*ms, 200*ms, "client-1", 1)
		b.op(200*ms, "client-1", history.Invoke, history.Release, "k").Owner = h.owner
		b.op(200*ms, "client-1", history.OK, history.Release, "k").Owner = h.owner
		b.grantOf(200*ms, 200*ms, "client-2", 2)
		b.seen(201*ms, 202*ms, h.owner)
	},
}

// answerHeld is a stopped holder behind which a client, whose answers a fault keeps back, is granted the key, and gives up at the end of it.
func answerHeld(kind string, asks int64) func(*builder) {
	return func(b *builder) {
		b.ops, b.process["client-1"] = b.ops[:0], 0
		b.setup.Servers = []string{"server-1"}
		b.setup.Promise.Bound = 5e8
		b.grantOf(0, 10*ms, "client-1", 1)
		b.fault(50*ms, 2900*ms, 1, "pause", "client-1")
		b.fault(60*ms, 2800*ms, 2, kind, "client-3")
		b.op(asks, "client-3", history.Invoke, history.Acquire, "k")
		b.grantOf(150*ms, 2700*ms, "client-2", 3)
		b.op(2690*ms, "client-3", history.Info, history.Acquire, "k")
		b.final(6 * sec)
	}
}

var answersKeptBack = map[string]func(*builder){
	"holds-answer-held":       answerHeld("hold-answer", 55*ms),
	"violated-answer-stopped": answerHeld("pause", 100*ms), // it cannot have asked
}
