package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of what excuses a lock, and of what does not, though it looks alike: links that deliver nothing, other holders beside whom there
// was room, and a recording that was interrupted.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"honest-claims": toldOverDeadLinks, "availability": roomInFaults, "deadlock-freedom": leftWaitingFree,
		"fairness": leftWaitingInQueue, "recovery": leftWaitingForTheDead, "reentrancy": heardAfterAgain,
	} {
		maps.Copy(scenes[property], more)
	}
}

// overLinks is a fault of some links of a client to its servers.
func overLinks(n int, kind, node string, cut ...string) func(*builder, *held) {
	return func(b *builder, _ *held) { b.fault(200*ms, 5*sec, n, kind, node, cut...) }
}

// heldLinks is overLinks of a fault that holds all that goes over them, on each connection.
func heldLinks(kind, node string, cut ...string) func(*builder, *held) {
	return func(b *builder, h *held) { b.whole(func() { overLinks(1, kind, node, cut...)(b, h) }) }
}

var (
	bothSwallowed     = overLinks(1, "blackhole", "client-1", "server-1", "server-2")
	toldOverDeadLinks = map[string]func(*builder){
		"violated-nobody-swallowed-renews": toldOK(800*ms, history.Extend, plainLease, bothSwallowed),
		"violated-nobody-swallowed-frees":  toldOK(800*ms, history.Release, plainLease, bothSwallowed),
		"violated-nobody-reset-grants":     toldOK(sec, history.Acquire, plainLease, overLinks(1, "reset", "client-2", "server-1", "server-2")),
		"violated-nobody-one-reset-one-swallowed": toldOK(800*ms, history.Extend, plainLease,
			overLinks(1, "reset", "client-1", "server-1"), overLinks(2, "blackhole", "client-1", "server-2")),
		"violated-nobody-swallowed-and-away": toldOK(800*ms, history.Extend, plainLease,
			overLinks(1, "blackhole", "client-1", "server-1"), down(2, "pause", "server-2")),
		"holds-nobody-swallowed-yet":           toldOK(600*ms, history.Extend, plainLease, bothSwallowed), // it may have come late
		"holds-nobody-swallowed-any-more":      toldOK(5*sec, history.Acquire, plainLease, overLinks(1, "blackhole", "client-2", "server-1", "server-2")),
		"holds-nobody-swallowed-one-left":      toldOK(800*ms, history.Extend, plainLease, overLinks(1, "blackhole", "client-1", "server-1")),
		"holds-nobody-swallowed-other-client":  toldOK(800*ms, history.Extend, plainLease, overLinks(1, "blackhole", "client-2", "server-1", "server-2")),
		"holds-nobody-swallowed-untold":        toldOK(800*ms, history.Extend, plainLease, overLinks(1, "blackhole", "client-1")), // to whom, nobody knows
		"holds-nobody-swallowed-session":       toldOK(800*ms, history.Extend, ofWatchdog, bothSwallowed),
		"holds-nobody-slow-links":              toldOK(800*ms, history.Extend, plainLease, overLinks(1, "latency", "client-1", "server-1", "server-2")),
		"holds-nobody-narrow-links":            toldOK(800*ms, history.Extend, plainLease, overLinks(1, "bandwidth", "client-1", "server-1", "server-2")),
		"holds-nobody-link-cut":                toldOK(800*ms, history.Extend, plainLease, overLinks(1, "cut-link", "client-1", "server-1", "server-2")),
		"holds-nobody-answer-held-at-message":  toldOK(800*ms, history.Extend, plainLease, overLinks(1, "hold-answer", "client-1", "server-1", "server-2")),
		"holds-nobody-request-held-at-message": toldOK(800*ms, history.Release, plainLease, overLinks(1, "hold-request", "client-1", "server-1", "server-2")),
		"violated-nobody-requests-held":        toldOK(800*ms, history.Release, plainLease, heldLinks("hold-request", "client-1", "server-1", "server-2")),
		"violated-nobody-answers-held":         toldOK(800*ms, history.Extend, plainLease, heldLinks("hold-answer", "client-1", "server-1", "server-2")),
		"holds-nobody-requests-held-yet":       toldOK(600*ms, history.Extend, plainLease, heldLinks("hold-request", "client-1", "server-1", "server-2")),
		"holds-nobody-answers-held-one-left":   toldOK(800*ms, history.Extend, plainLease, heldLinks("hold-answer", "client-1", "server-1")),
		"holds-nobody-swallowed-meanwhile": func(b *builder) { // it was asked for before the links took everything, and answered while they did not yet
			b.setup.Servers = []string{"server-1", "server-2"}
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.op(190*ms, h.node, history.Invoke, history.Extend, "k").Owner = h.owner
			bothSwallowed(b, h)
			b.claim(b.op(800*ms, h.node, history.OK, history.Extend, "k"), h, 190*ms)
		},
	}
)

// leftWaiting is a client that waits for a key from 4.05 s on and is never answered, in a recording that is interrupted at the end of what others
// do, while each half second another process of that client, or of another one, uses a key of its own, until a time.
func leftWaiting(b *builder, by string, until int64) {
	turns(b)
	b.setup.Keys = []string{"k", "z"}
	b.op(4050*ms, "client-2", history.Invoke, history.Acquire, "k")
	b.elsewhere(4200*ms, until, by)
}

// elsewhere lets another process of a client use another key each half second.
func (b *builder) elsewhere(from, until int64, node string) {
	waits := b.process[node]
	delete(b.process, node)
	for t := from; t < until; t += 500 * ms {
		h := b.grant(t, t+10*ms, node, "z", t/ms)
		b.does(t+50*ms, h, history.Release, history.OK)
	}
	b.process[node] = waits
}

var leftWaitingFree = map[string]func(*builder){
	"violated-left-waiting-heard":  func(b *builder) { leftWaiting(b, "client-2", 14*sec) },
	"unknown-left-waiting-unheard": func(b *builder) { leftWaiting(b, "client-1", 14*sec) }, // it may have died, and nobody has said so
	"unknown-left-waiting-short":   func(b *builder) { leftWaiting(b, "client-2", 9*sec) },
	"holds-left-waiting-granted": func(b *builder) { // until it was, others had the key
		leftWaiting(b, "client-2", 14*sec)
		for t := 4 * sec; t < 14*sec; t += 500 * ms {
			b.session1(t+200*ms, "client-3", 100+t/ms)
		}
		b.final(18 * sec)
	},
	"unknown-left-waiting-acted": func(b *builder) { // as an owner that nobody knows: it may have been granted the key
		leftWaiting(b, "client-2", 14*sec)
		delete(b.process, "client-2")
		b.does(14500*ms, &held{node: "client-2", key: "k", owner: "client-2/none"}, history.Release, history.OK)
	},
	"holds-left-waiting-writer": func(b *builder) { // nobody knows for how long it waited, so it may come before the reader until the end
		b.setup.Keys = []string{"k", "z"}
		b.kind(history.ReadWrite)
		h := b.as(0, 10*ms, "client-1", shared, 1)
		b.renews(300*ms, 12*sec, h)
		b.does(12*sec, h, history.Release, history.OK)
		b.op(50*ms, "client-2", history.Invoke, history.Acquire, "k").Mode = exclusive
		waits := b.process["client-2"]
		delete(b.process, "client-2")
		b.op(2*sec, "client-2", history.Invoke, history.Acquire, "z").Mode = exclusive
		b.op(2010*ms, "client-2", history.Fail, history.Acquire, "z")
		b.process["client-2"] = waits
		b.op(100*ms, "client-3", history.Invoke, history.Acquire, "k").Mode = shared
		b.op(11*sec, "client-3", history.Fail, history.Acquire, "k")
		b.final(18 * sec)
	},
}

// heardAfter is a holder that took its lock once more, and was told so, before it went on by another process, which renews; end says how.
func heardAfter(end func(*builder)) func(*builder) {
	return func(b *builder) {
		b.kind(history.Reentrant)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.ops[len(b.ops)-1].Depth = 1
		b.again(100*ms, h, 2, 1)
		b.process["client-1"] = 90
		b.renews(400*ms, 6*sec, h)
		end(b)
	}
}

// Nobody else wanted the key, so nothing is tested; and nobody is accused.
var heardAfterAgain = map[string]func(*builder){
	"unknown-again-heard":   heardAfter(func(*builder) {}),
	"unknown-again-stopped": heardAfter(func(b *builder) { b.op(6*sec, "client-1", history.Note, history.Stop, "") }),
}

// passedBy lets others, that ask later, be granted the key while client-2 waits in an ordered queue.
func passedBy(by string) func(*builder) {
	return func(b *builder) {
		leftWaiting(b, by, 14*sec)
		b.setup.Promise.Order, b.setup.Servers = true, []string{"server-1"}
		for t := 4 * sec; t < 14*sec; t += 500 * ms {
			b.session1(t+200*ms, "client-3", 100+t/ms)
		}
	}
}

var leftWaitingInQueue = map[string]func(*builder){
	"violated-left-waiting-heard":   passedBy("client-2"),
	"holds-left-waiting-unheard-na": passedBy("client-1"),
}

// neverGiven is a holder that dies while client-2 waits for its key, which nobody is granted any more.
func neverGiven(by string, until int64) func(*builder) {
	return func(b *builder) {
		leftWaiting(b, by, until)
		b.grantOf(4*sec, 4010*ms, "client-1", 8)
		b.fault(4100*ms, 4200*ms, 1, "kill", "client-1")
	}
}

var leftWaitingForTheDead = map[string]func(*builder){
	"violated-left-waiting-heard":   neverGiven("client-2", 14*sec),
	"holds-left-waiting-unheard-na": neverGiven("client-3", 14*sec),
	"holds-left-waiting-short-na":   neverGiven("client-2", 5*sec),
}

// holdsOn is a holder of a part of a key, or of all of it, that renews it from 4 s to 15 s, and client-2, which waits for it from 4.1 s to 14.5 s, while one
// server of three is cut off from all.
func holdsOn(kind history.Kind, permits int, holds, asks func(*history.Op), more ...func(*builder)) func(*builder) {
	return func(b *builder) {
		b.kind(kind)
		b.setup.Permits, b.setup.Servers = permits, []string{"server-1", "server-2", "server-3"}
		b.fault(4050*ms, 14*sec, 1, "partition", "server-3", "server-1", "server-2", "client-1", "client-2", "client-3")
		h := b.grantOf(4*sec, 4010*ms, "client-1", 8)
		holds(&b.ops[len(b.ops)-1])
		holds(&b.ops[len(b.ops)-2])
		b.renews(4300*ms, 15*sec, h)
		b.does(15*sec, h, history.Release, history.OK)
		waitsFrom(4100*ms, 14500*ms, "client-2", asks)(b)
		for _, add := range more {
			add(b)
		}
	}
}

// waitsFrom is a client that waits for a part of the key, or for all of it, and gives up.
func waitsFrom(from, to int64, node string, asks func(*history.Op)) func(*builder) {
	return func(b *builder) {
		asks(b.op(from, node, history.Invoke, history.Acquire, "k"))
		asks(b.op(to, node, history.Fail, history.Acquire, "k"))
	}
}

// asksAgain is a client that waits for 200 ms, gives up, and waits again 100 ms later.
func asksAgain(node string, asks func(*history.Op)) func(*builder) {
	return func(b *builder) {
		for t := 4060 * ms; t < 14500*ms; t += 300 * ms {
			waitsFrom(t, t+200*ms, node, asks)(b)
		}
	}
}

// toldLate is a client that asks for one permit as its answers are held up, and is told of it when they are no more.
func toldLate(b *builder) {
	b.fault(4020*ms, 14*sec, 2, "hold-answer", "client-3", "server-1", "server-2", "server-3")
	b.permits(4080*ms, 14*sec, "client-3", 1, 9)
}

func permitsOf(n int32) func(*history.Op)        { return func(op *history.Op) { op.Permits = n } }
func inMode(mode history.Mode) func(*history.Op) { return func(op *history.Op) { op.Mode = mode } }

func besidePermits(permits int, holds, asks int32, more ...func(*builder)) func(*builder) {
	return holdsOn(history.Semaphore, permits, permitsOf(holds), permitsOf(asks), more...)
}

func besideMode(holds, asks history.Mode, more ...func(*builder)) func(*builder) {
	return holdsOn(history.ReadWrite, 0, inMode(holds), inMode(asks), more...)
}

var roomInFaults = map[string]func(*builder){
	"violated-permits-free":          besidePermits(3, 1, 1),
	"violated-permits-just-free":     besidePermits(3, 2, 1),
	"holds-permits-all-held":         besidePermits(3, 3, 1),
	"holds-permits-too-few":          besidePermits(3, 1, 3),
	"holds-permits-more-wanted":      besidePermits(3, 1, 1, waitsFrom(4060*ms, 14400*ms, "client-3", permitsOf(3))), // which may be the first of the queue
	"violated-permits-less-wanted":   besidePermits(3, 1, 1, waitsFrom(4060*ms, 14400*ms, "client-3", permitsOf(2))),
	"violated-permits-more-refused":  besidePermits(3, 1, 1, waitsFrom(4060*ms, 6*sec, "client-3", permitsOf(3))),
	"holds-permits-more-again":       besidePermits(3, 1, 1, asksAgain("client-3", permitsOf(3))),
	"holds-permits-told-late":        besidePermits(2, 1, 1, toldLate), // it may have had the last one all the time
	"violated-permits-told-late":     besidePermits(3, 1, 1, toldLate),
	"violated-reader-beside-reader":  besideMode(shared, shared),
	"holds-reader-beside-writer":     besideMode(exclusive, shared),
	"holds-writer-beside-reader":     besideMode(shared, exclusive),
	"holds-reader-behind-writer":     besideMode(shared, shared, waitsFrom(4060*ms, 14400*ms, "client-3", inMode(exclusive))),
	"violated-reader-writer-refused": besideMode(shared, shared, waitsFrom(4060*ms, 6*sec, "client-3", inMode(exclusive))),
	"holds-reader-writer-again":      besideMode(shared, shared, asksAgain("client-3", inMode(exclusive))),
	"holds-permits-granted": besidePermits(3, 1, 1, func(b *builder) { // the fault does not stop all grants
		for i := range int64(13) {
			at := 4200*ms + i*800*ms
			b.does(at+100*ms, b.permits(at, at+10*ms, "client-3", 1, 20+i), history.Release, history.OK)
		}
	}),
}
