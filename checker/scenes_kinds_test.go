package checker

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of kinds of lock that are no plain mutex.

func (b *builder) kind(k history.Kind) *builder {
	b.setup.Kind = k
	if k == history.Semaphore {
		b.setup.Permits = 2
	}
	return b
}

// as grants a read-write lock in a mode.
func (b *builder) as(from, t int64, node string, mode history.Mode, token int64) *held {
	h := b.grantOf(from, t, node, token)
	b.ops[len(b.ops)-1].Mode, b.ops[len(b.ops)-2].Mode = mode, mode
	return h
}

// permits grants some permits of a semaphore.
func (b *builder) permits(from, t int64, node string, n int32, token int64) *held {
	h := b.grantOf(from, t, node, token)
	b.ops[len(b.ops)-1].Permits, b.ops[len(b.ops)-2].Permits = n, n
	return h
}

// look reads, and the answer says what stands there.
func (b *builder) look(t int64, h *held) {
	b.read(t, h)
	b.ops[len(b.ops)-1].Unfenced = &history.Copy{Value: h.base[0]}
}

// turn changes the mode of h from t, one millisecond long.
func (b *builder) turn(t int64, h *held, mode history.Mode, outcome history.Type) {
	b.does(t, h, history.Change, outcome)
	b.ops[len(b.ops)-1].Mode, b.ops[len(b.ops)-2].Mode = mode, mode
	if outcome == history.OK {
		b.claim(&b.ops[len(b.ops)-1], h, t)
	}
}

// again takes what h holds once more, and is told the depth and token.
func (b *builder) again(t int64, h *held, depth int32, token int64) {
	b.op(t, h.node, history.Invoke, history.Acquire, h.key)
	ok := b.op(t+ms, h.node, history.OK, history.Acquire, h.key)
	b.claim(ok, h, t)
	ok.Depth, ok.Token = depth, token
}

// back gives one hold of h back, and is told how many remain.
func (b *builder) back(t int64, h *held, left int32) {
	b.does(t, h, history.Release, history.OK)
	b.ops[len(b.ops)-1].Depth = left
}

// refuse fails an attempt as held by another.
func (b *builder) refuse(from, t int64, node string, f history.F, limit int64) {
	b.op(from, node, history.Invoke, f, "k").Limit = limit
	b.op(t, node, history.Fail, f, "k").Busy = true
}

// looks at the server: it names an owner, or nobody.
func (b *builder) seen(sent, t int64, owner string) {
	op := b.op(t, "client-3", history.Note, history.Holder, "k")
	op.Sent, op.Owner = origin+sent, owner
}

func (b *builder) woken(t, n int64) {
	b.op(t, "client-1", history.Note, history.Woken, "").Length = n
}

const shared, exclusive = history.Shared, history.Exclusive

// readers are two who hold together, and a writer who waits for them.
func readers(b *builder) {
	b.kind(history.ReadWrite)
	h := b.as(0, 10*ms, "client-1", shared, 1)
	g := b.as(0, 12*ms, "client-2", shared, 2)
	b.look(20*ms, h)
	b.look(22*ms, g)
	b.look(50*ms, h)
	b.look(52*ms, g)
	b.does(60*ms, h, history.Release, history.OK)
	b.does(62*ms, g, history.Release, history.OK)
	w := b.as(30*ms, 70*ms, "client-3", exclusive, 3)
	b.read(72*ms, w)
	b.write(80*ms, w)
	b.does(90*ms, w, history.Release, history.OK)
}

// intruder is a writer beside a reader that looks before and after its write.
func intruder(b *builder) {
	b.kind(history.ReadWrite)
	h := b.as(0, 10*ms, "client-1", shared, 1)
	b.look(20*ms, h)
	w := b.as(15*ms, 30*ms, "client-2", exclusive, 2)
	b.read(32*ms, w)
	b.write(40*ms, w)
	b.look(50*ms, h)
	b.does(60*ms, h, history.Release, history.OK)
	b.does(62*ms, w, history.Release, history.OK)
}

// unheeded is a reader that is told of its loss, and looks all the same at what the
// writer has written meanwhile.
func unheeded(b *builder) {
	b.kind(history.ReadWrite)
	h := b.as(0, 10*ms, "client-1", shared, 1)
	b.look(20*ms, h)
	w := b.as(15*ms, 1500*ms, "client-2", exclusive, 2)
	b.read(1510*ms, w)
	b.write(1600*ms, w)
	b.note(2*sec, h, history.Lost)
	b.look(2100*ms, h)
	b.write(2200*ms, w)
}

var readWrites = map[string]func(*builder){
	"violated-told": unheeded,
	"holds":         readers,
	"violated":      intruder,
	"holds-turned": func(b *builder) { // a reader that becomes the writer, and a reader again
		b.kind(history.ReadWrite)
		h := b.as(0, 10*ms, "client-1", shared, 1)
		b.look(12*ms, h)
		b.turn(20*ms, h, exclusive, history.OK)
		b.write(30*ms, h)
		b.turn(40*ms, h, shared, history.OK)
		g := b.as(15*ms, 45*ms, "client-2", shared, 2)
		b.look(50*ms, g)
		b.look(52*ms, h)
		b.does(60*ms, h, history.Release, history.OK)
	},
	"violated-turned": func(b *builder) { // it becomes the writer beside another reader
		b.kind(history.ReadWrite)
		h := b.as(0, 10*ms, "client-1", shared, 1)
		g := b.as(5*ms, 15*ms, "client-2", shared, 2)
		b.look(18*ms, g)
		b.turn(20*ms, h, exclusive, history.OK)
		b.write(30*ms, h)
		b.look(40*ms, g)
	},
	"holds-refused": func(b *builder) { // it was refused to become the writer, and reads on
		b.kind(history.ReadWrite)
		h := b.as(0, 10*ms, "client-1", shared, 1)
		g := b.as(5*ms, 15*ms, "client-2", shared, 2)
		b.turn(20*ms, h, exclusive, history.Fail)
		b.look(30*ms, h)
		b.look(32*ms, g)
		b.does(40*ms, h, history.Release, history.OK)
		b.does(42*ms, g, history.Release, history.OK)
		w := b.as(30*ms, 50*ms, "client-3", exclusive, 3)
		b.write(52*ms, w)
	},
	"unknown": func(b *builder) { // no writer
		b.kind(history.ReadWrite)
		b.look(20*ms, b.as(0, 10*ms, "client-1", shared, 1))
		b.look(30*ms, b.as(12*ms, 15*ms, "client-2", shared, 2))
	},
}

var looks = map[string]func(*builder){
	"violated-told": unheeded,
	"holds":         readers,
	"violated":      intruder,
	"holds-own": func(b *builder) { // what it wrote itself
		b.kind(history.ReadWrite)
		h := b.as(0, 10*ms, "client-1", exclusive, 1)
		b.look(12*ms, h)
		b.look(14*ms, h)
		b.write(20*ms, h)
		b.look(30*ms, h)
	},
	"holds-own-late": func(b *builder) { // what it wrote as the writer arrives as it reads
		b.kind(history.ReadWrite)
		h := b.as(0, 10*ms, "client-1", exclusive, 1)
		b.look(12*ms, h)
		b.write(15*ms, h)
		n := len(b.ops)
		b.ops[n-2].Time, b.ops[n-2].Mono = origin+40*ms, origin+40*ms+ahead // nobody hears of it before
		b.ops[n-1].Type, b.ops[n-1].Unfenced, b.ops[n-1].Fenced = history.Info, nil, nil
		delete(b.process, "client-1")
		b.turn(20*ms, h, shared, history.OK)
		b.look(30*ms, h)
		b.ops[len(b.ops)-1].Unfenced.Value = ""
		b.look(50*ms, h)
	},
	"violated-behind-own":       func(b *builder) { wrote(b, 18*ms, true) },
	"violated-behind-own-first": func(b *builder) { wrote(b, 12*ms, true) },
	"holds-behind-own":          func(b *builder) { wrote(b, 18*ms, false) }, // the copy refused what another wrote
	"unknown": func(b *builder) {
		b.kind(history.ReadWrite)
		b.look(20*ms, b.as(0, 10*ms, "client-1", shared, 1))
	},
}

// wrote is a writer that has looked, writes, becomes a reader and looks again, and another writer that is let in
// beside it at a time.
func wrote(b *builder, at int64, accepted bool) {
	b.kind(history.ReadWrite)
	h := b.as(0, 10*ms, "client-1", exclusive, 1)
	b.look(11*ms, h)
	b.write(15*ms, h)
	w := b.as(5*ms, at, "client-2", exclusive, 2)
	b.write(20*ms, w)
	if !accepted {
		apply, ok := &b.ops[len(b.ops)-2], &b.ops[len(b.ops)-1]
		apply.Unfenced.Accepted, ok.Unfenced.Accepted = false, false
		b.resource("k")[0].Value = apply.Unfenced.Previous
	}
	b.turn(25*ms, h, shared, history.OK)
	b.look(30*ms, h)
	b.does(50*ms, h, history.Release, history.OK)
}

// crowd is three clients at two permits; the third is let in when told.
func crowd(b *builder, third int64) {
	b.kind(history.Semaphore)
	h := b.permits(0, 10*ms, "client-1", 1, 1)
	g := b.permits(0, 12*ms, "client-2", 1, 2)
	b.look(20*ms, h)
	b.look(22*ms, g)
	e := b.permits(15*ms, third, "client-3", 1, 3)
	b.look(third+ms, e)
	b.look(60*ms, h)
	b.look(62*ms, g)
	b.does(70*ms, h, history.Release, history.OK)
	b.does(72*ms, g, history.Release, history.OK)
	b.look(130*ms, e)
	b.does(140*ms, e, history.Release, history.OK)
}

var semaphores = map[string]func(*builder){
	"violated-told": func(b *builder) { // it is told of its loss, and looks all the same
		b.kind(history.Semaphore)
		h := b.permits(0, 10*ms, "client-1", 1, 1)
		g := b.permits(5*ms, 12*ms, "client-2", 1, 2)
		b.look(20*ms, h)
		e := b.permits(15*ms, 1500*ms, "client-3", 1, 3)
		b.note(2*sec, h, history.Lost)
		b.look(2100*ms, h)
		b.look(2110*ms, g)
		b.look(2120*ms, e)
	},
	"holds":    func(b *builder) { crowd(b, 80*ms) },
	"violated": func(b *builder) { crowd(b, 30*ms) },
	"violated-two": func(b *builder) { // one permit was left, and it was granted two
		b.kind(history.Semaphore)
		h := b.permits(0, 10*ms, "client-1", 1, 1)
		g := b.permits(5*ms, 12*ms, "client-2", 2, 2)
		b.look(20*ms, h)
		b.permits(15*ms, sec, "client-3", 1, 3)
		b.look(22*ms, g)
	},
	"unknown": func(b *builder) {
		b.kind(history.Semaphore)
		b.look(20*ms, b.permits(0, 10*ms, "client-1", 1, 1))
		b.permits(15*ms, sec, "client-3", 1, 3)
	},
}

// nest takes the lock three times and gives it back, and another gets it when told.
func nest(b *builder, other int64, depth int32, token int64) {
	b.kind(history.Reentrant)
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.ops[len(b.ops)-1].Depth = 1
	b.again(20*ms, h, depth, token)
	b.back(30*ms, h, 1)
	b.read(40*ms, h)
	g := b.grantOf(15*ms, other, "client-2", 2)
	b.ops[len(b.ops)-1].Depth = 1
	b.write(60*ms, h)
	b.back(70*ms, h, 0)
	b.does(120*ms, g, history.Release, history.OK)
}

var nests = map[string]func(*builder){
	"violated-waited": func(b *builder) { // until its own lease ended
		b.kind(history.Reentrant)
		b.grantOf(0, 10*ms, "client-1", 1)
		b.grantOf(20*ms, 1100*ms, "client-1", 2)
		b.grantOf(15*ms, 3*sec, "client-2", 3)
	},
	"violated-in-vain": func(b *builder) {
		b.kind(history.Reentrant)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.op(20*ms, "client-1", history.Invoke, history.Acquire, "k")
		b.op(900*ms, "client-1", history.Fail, history.Acquire, "k")
		b.does(910*ms, h, history.Release, history.OK)
		b.grantOf(15*ms, 950*ms, "client-2", 2)
	},
	"unknown-untold": func(b *builder) { // its lease may have ended while it was stopped: nobody tells
		b.kind(history.Reentrant)
		b.setup.Promise.Validity = history.Untold
		b.fault(100*ms, 2*sec, 1, "pause", "client-1")
		b.grantOf(0, 10*ms, "client-1", 1)
		b.ops[len(b.ops)-1].Deadline = 0
		b.refuse(2100*ms, 2110*ms, "client-1", history.Acquire, 0)
		b.grantOf(15*ms, 1500*ms, "client-2", 2)
		b.ops[len(b.ops)-1].Deadline = 0
	},
	"holds":          func(b *builder) { nest(b, 80*ms, 2, 1) },
	"violated-early": func(b *builder) { nest(b, 50*ms, 2, 1) },
	"violated-depth": func(b *builder) { nest(b, 80*ms, 3, 1) },
	"violated-first-again": func(b *builder) { // it is told of a hold within a hold that it is the first
		b.kind(history.Reentrant)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.ops[len(b.ops)-1].Depth = 1
		b.again(20*ms, h, 1, 1)
		b.back(70*ms, h, 0)
		b.grantOf(15*ms, 80*ms, "client-2", 2)
	},
	"violated-token": func(b *builder) { nest(b, 80*ms, 2, 9) },
	"violated-refused": func(b *builder) { // it waits for itself
		b.kind(history.Reentrant)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.refuse(20*ms, 50*ms, "client-1", history.Acquire, 0)
		b.does(60*ms, h, history.Release, history.OK)
		b.grantOf(15*ms, 80*ms, "client-2", 2)
	},
	"unknown": func(b *builder) {
		b.kind(history.Reentrant)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.does(60*ms, h, history.Release, history.OK)
		b.grantOf(15*ms, 80*ms, "client-2", 2)
	},
}

var leaders = map[string]func(*builder){
	"holds": func(b *builder) { turns(b.kind(history.Leader)) },
	"violated": func(b *builder) {
		b.kind(history.Leader)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.read(12*ms, h)
		b.write(20*ms, h)
		g := b.grantOf(15*ms, 2*sec, "client-2", 2)
		b.read(2*sec+10*ms, g)
		b.write(2*sec+20*ms, g)
		b.write(2*sec+30*ms, h)
		b.write(2*sec+40*ms, g)
	},
	"unknown": func(b *builder) {
		b.kind(history.Leader)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.read(12*ms, h)
		b.write(20*ms, h)
	},
}

// renewals are answered once; the holder is told when told, 0: never.
func renewals(b *builder, told int64) {
	b.kind(history.Watchdog)
	b.setup.SelfFence, b.setup.Expect.Faults = "check-session", 1
	b.fault(500*ms, 3*sec, 1, "partition", "client-1")
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.read(12*ms, h)
	b.does(300*ms, h, history.Extend, history.OK)
	if told > 0 {
		b.note(told, h, history.Lost)
	} else {
		b.write(2*sec, h)
	}
	g := b.grantOf(15*ms, 1800*ms, "client-2", 2)
	b.does(2500*ms, g, history.Release, history.OK)
}

// warned is a holder that hears of its trouble in time, by notes at their times, and works on.
func warned(b *builder, at map[history.F]int64) {
	b.kind(history.Watchdog)
	b.setup.Expect.Faults = 1
	b.fault(500*ms, 3*sec, 1, "partition", "client-1")
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.read(12*ms, h)
	b.does(300*ms, h, history.Extend, history.OK)
	for f, t := range at {
		b.note(t, h, f)
	}
	b.write(2*sec, h)
	g := b.grantOf(15*ms, 1800*ms, "client-2", 2)
	b.does(2500*ms, g, history.Release, history.OK)
}

// renewedUnseen is a holder whose session renews by itself and tells nobody, which is cut off from so many of three servers from 2 s on,
// for longer than its lease or not, and is told of a loss at a time, or never.
func renewedUnseen(b *builder, servers int, until, told int64) {
	b.kind(history.Watchdog)
	b.setup.Expect.Faults = 1
	b.setup.Servers, b.setup.Promise.Renews = []string{"server-1", "server-2", "server-3"}, true
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.fault(2*sec, until, 1, "partition", "client-1", b.setup.Servers[:servers]...)
	if told > 0 {
		b.note(told, h, history.Lost)
	}
	b.write(3500*ms, h)
}

var watchdogs = map[string]func(*builder){
	"holds-unseen":         func(b *builder) { renewedUnseen(b, 3, 4*sec, 3200*ms) },
	"violated-unseen":      func(b *builder) { renewedUnseen(b, 3, 4*sec, 0) },
	"violated-unseen-late": func(b *builder) { renewedUnseen(b, 3, 4*sec, 3300*ms) },
	"unknown-unseen":       func(b *builder) { renewedUnseen(b, 1, 4*sec, 0) },   // a majority renews it
	"unknown-unseen-short": func(b *builder) { renewedUnseen(b, 3, 3400*ms, 0) }, // who is away for less than a lease may have renewed it
	"unknown-unseen-resumed": func(b *builder) { // what was renewed as it came back nobody records either
		renewedUnseen(b, 3, 2500*ms, 0)
		h := b.grantOf(10*sec, 10*sec+10*ms, "client-2", 2)
		b.note(10*sec+500*ms, h, history.Suspended)
		b.note(10*sec+600*ms, h, history.Resumed)
		b.write(13*sec, h)
	},
	"holds-unheeded": func(b *builder) { warned(b, map[history.F]int64{history.Lost: 1200 * ms}) },
	"holds-suspended": func(b *builder) {
		warned(b, map[history.F]int64{history.Suspended: 1200 * ms, history.Lost: 1500 * ms})
	},
	"violated-suspended": func(b *builder) {
		warned(b, map[history.F]int64{history.Suspended: 1400 * ms, history.Lost: 1500 * ms})
	},
	"holds":         func(b *builder) { renewals(b, 1200*ms) },
	"violated":      func(b *builder) { renewals(b, 0) },
	"violated-late": func(b *builder) { renewals(b, 1500*ms) },
	"unknown": func(b *builder) {
		b.kind(history.Watchdog)
		b.grantOf(0, 10*ms, "client-1", 1)
	},
	"holds-na": func(b *builder) { // nothing failed
		b.kind(history.Watchdog)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.does(300*ms, h, history.Extend, history.OK)
		b.does(900*ms, h, history.Release, history.OK)
	},
}

// refusalAt is a try that is refused while, or after, another holds the lock.
func refusalAt(b *builder, from int64, limit int64) {
	b.kind(history.Tried)
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.does(50*ms, h, history.Release, history.OK)
	b.refuse(from, from+5*ms, "client-2", history.Try, limit)
}

var refusals = map[string]func(*builder){
	"holds-mute": func(b *builder) { refusalAt(b, 60*ms, 0); b.setup.Promise.Mute = true }, // nobody said that it was given back
	"holds":      func(b *builder) { refusalAt(b, 48*ms, 0) },
	"holds-edge": func(b *builder) { refusalAt(b, 51*ms, 0) }, // the release was answered as it was asked
	"violated":   func(b *builder) { refusalAt(b, 60*ms, 0) },
	"holds-beside": func(b *builder) { // who else is refused may have stood in the way
		refusalAt(b, 60*ms, 0)
		b.refuse(62*ms, 70*ms, "client-3", history.Try, 0)
	},
	"holds-open": func(b *builder) { // an acquire whose outcome is unknown may hold it
		b.kind(history.Tried)
		b.op(0, "client-1", history.Invoke, history.Acquire, "k")
		b.op(20*ms, "client-1", history.Info, history.Acquire, "k")
		b.refuse(60*ms, 65*ms, "client-2", history.Try, 0)
	},
	"holds-own-votes": func(b *builder) { // its own grant, given back, lingers on some of the servers; what was refused it took back itself
		b.setup.Promise.DriftFactor, b.setup.Promise.Bound = 0.01, 500e6
		b.kind(history.Tried)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.does(100*ms, h, history.Release, history.OK)
		b.refuse(200*ms, 205*ms, "client-1", history.Try, 0)
	},
	"unknown": func(b *builder) { b.kind(history.Tried); b.grantOf(0, 10*ms, "client-1", 1) },
}

// waited is an attempt that was answered after a time.
func waited(b *builder, took, limit int64) {
	b.kind(history.Tried)
	b.setup.Promise.Bound = 500e6
	b.grantOf(0, 10*ms, "client-1", 1)
	f := history.Try
	if limit > 0 {
		f = history.Acquire
	}
	b.refuse(20*ms, 20*ms+took, "client-2", f, limit)
}

var limits = map[string]func(*builder){
	"violated-never": func(b *builder) {
		b.kind(history.Tried)
		b.grantOf(0, 10*ms, "client-1", 1)
		b.op(20*ms, "client-2", history.Invoke, history.Acquire, "k").Limit = 100 * ms
		b.refuse(5*sec, 5010*ms, "client-3", history.Try, 0)
	},
	"holds-cut": func(b *builder) { // the run ends before anything is late
		waited(b, 700*ms, 100*ms)
		b.op(700*ms, "client-3", history.Invoke, history.Try, "k")
	},
	"unknown-nolimit": func(b *builder) { waited(b, 900*ms, 100*ms); b.setup.Promise.NoLimit = true },
	"holds":           func(b *builder) { waited(b, 700*ms, 100*ms) },
	"holds-try":       func(b *builder) { waited(b, 700*ms, 0) },
	"violated":        func(b *builder) { waited(b, 900*ms, 100*ms) },
	"violated-try":    func(b *builder) { waited(b, 800*ms, 0) },
	"unknown":         func(b *builder) { b.kind(history.Tried); b.grant(0, 10*ms, "client-1", "k", 1) },
}

// info is a look at the servers beside one grant, which ends at 50 ms.
func info(b *builder, sent, t int64, owner string) {
	b.kind(history.Leader)
	h := b.grantOf(0, 10*ms, "client-1", 1)
	if owner == "it" {
		owner = h.owner
	}
	b.seen(sent, t, owner)
	b.does(50*ms, h, history.Release, history.OK)
}

var infos = map[string]func(*builder){
	"holds":         func(b *builder) { info(b, 20*ms, 22*ms, "it") },
	"holds-free":    func(b *builder) { info(b, 49*ms, 60*ms, "") },
	"holds-late":    func(b *builder) { info(b, 49*ms, 60*ms, "it") },
	"violated-gone": func(b *builder) { info(b, 60*ms, 70*ms, "it") },
	"violated-free": func(b *builder) { info(b, 20*ms, 30*ms, "") },
	"unknown":       func(b *builder) { info(b, 60*ms, 70*ms, "it"); b.ended("client-1") }, // of what a client did some is missing
	"violated-stalled": func(b *builder) { // which makes no look say what is not so
		info(b, 60*ms, 70*ms, "it")
		b.op(90*ms, "server", history.Note, history.Stall, "").Length = 200 * ms
	},
}

var hungry = map[string]func(*builder){
	"violated-never": func(b *builder) { // it waits still
		b.kind(history.ReadWrite)
		b.setup.Promise.Order = true
		b.op(20*ms, "client-3", history.Invoke, history.Acquire, "k").Mode = exclusive
		for i := range int64(6) {
			h := b.as(i*2*sec, i*2*sec+10*ms, "client-1", shared, 2*i+1)
			b.does(i*2*sec+800*ms, h, history.Release, history.OK)
		}
	},
	"violated-dies-late": func(b *builder) { // who was killed had waited until then
		overtaken(b)
		b.fault(13*sec, 15*sec, 1, "kill", "client-3")
	},
	"violated-fault-late": func(b *builder) { // it cost nobody's place before
		overtaken(b)
		b.fault(13*sec, 15*sec, 1, "pause", "client-3")
	},
	"violated-fault-first": func(b *builder) { // who lost its place has had a new one for long
		overtaken(b)
		b.fault(30*ms, sec, 1, "pause", "client-3")
	},
	"holds-asked-to-end": func(b *builder) { // before those that came later were let in
		overtaken(b)
		b.op(sec, "client-3", history.Note, history.Stop, "")
	},
	"holds": func(b *builder) { b.setup.Promise.Order = true; readers(b) },
	"violated": func(b *builder) {
		b.kind(history.ReadWrite)
		b.setup.Promise.Order = true
		b.as(20*ms, 14*sec, "client-3", exclusive, 99)
		for i := range int64(6) {
			h := b.as(i*2*sec, i*2*sec+10*ms, "client-1", shared, 2*i+1)
			b.does(i*2*sec+800*ms, h, history.Release, history.OK)
		}
	},
	"unknown": func(b *builder) {
		b.kind(history.ReadWrite)
		b.setup.Promise.Order = true
		b.as(0, 10*ms, "client-1", shared, 1)
	},
}

// overtaken is a writer that waits and is never answered, while readers come and go.
func overtaken(b *builder) { overtakenBy(b, 6) }

// overtakenBy is the same, with so many readers, one each 2 s.
func overtakenBy(b *builder, readers int64) {
	b.kind(history.ReadWrite)
	b.setup.Promise.Order, b.setup.Servers = true, []string{"server"}
	b.op(20*ms, "client-3", history.Invoke, history.Acquire, "k").Mode = exclusive
	for i := range readers {
		h := b.as(i*2*sec, i*2*sec+10*ms, "client-1", shared, 2*i+1)
		b.does(i*2*sec+800*ms, h, history.Release, history.OK)
	}
}

// herdOf is releases beside waiters, and what the servers counted.
func herdOf(b *builder, waiters int, woken int64) {
	b.kind(history.Herd)
	b.setup.Promise.WakesOne = true
	b.woken(0, 100)
	for i := range waiters {
		b.op(int64(i+1)*ms, string(rune('a'+i)), history.Invoke, history.Acquire, "k")
	}
	for i := range int64(3) {
		h := b.grantOf(20*ms+i*20*ms, 30*ms+i*20*ms, "client-1", i+1)
		b.does(35*ms+i*20*ms, h, history.Release, history.OK)
	}
	for i := range waiters {
		b.op(200*ms+int64(i+1)*ms, string(rune('a'+i)), history.Fail, history.Acquire, "k")
	}
	b.woken(300*ms, 100+woken)
}

var herds = map[string]func(*builder){
	"holds":            func(b *builder) { herdOf(b, 8, 4) },
	"violated":         func(b *builder) { herdOf(b, 8, 24) },
	"unknown-gave-up":  func(b *builder) { herdOf(b, 20, 24) }, // each who gives up may wake the next
	"violated-gave-up": func(b *builder) { herdOf(b, 20, 60) },
	"unknown-unanswered": func(b *builder) { // a release of unknown outcome may wake somebody, too
		herdOf(b, 8, 24)
		for i := range int64(3) {
			h := b.grantOf(100*ms+i*20*ms, 110*ms+i*20*ms, "client-1", i+7)
			b.does(115*ms+i*20*ms, h, history.Release, history.Info)
		}
	},
	"holds-na": func(b *builder) { herdOf(b, 8, 24); b.setup.Promise.WakesOne = false },
	"unknown":  func(b *builder) { herdOf(b, 3, 9) },
}

// leaked uses a semaphore of which some permits have leaked: so many are not in use by those
// that hold the rest, and client-3 waits for a minute.
func leaked(b *builder, leaked, all int) {
	b.kind(history.Semaphore)
	b.setup.Permits, b.setup.Promise.Permits = all, true
	for i := range all {
		h := b.permits(int64(i)*ms, int64(i+10)*ms, fmt.Sprintf("holder-%d", i), 1, int64(i+1))
		if i < leaked {
			b.does(sec, h, history.Release, history.OK)
			continue
		}
		for t := sec / 2; t < 32*sec; t += sec / 2 {
			b.does(t, h, history.Extend, history.OK)
		}
		b.does(33*sec, h, history.Release, history.OK)
	}
	b.op(5*sec, "client-3", history.Invoke, history.Acquire, "k").Permits = 1
	b.op(31*sec, "client-3", history.Fail, history.Acquire, "k").Permits = 1
}

// readerBeside lets a reader wait for 40 s beside who holds the lock in a mode.
func readerBeside(b *builder, mode history.Mode) {
	b.kind(history.ReadWrite)
	b.setup.Promise.Shared = true
	h := b.as(0, 10*ms, "client-2", mode, 1)
	for t := sec / 2; t < 44*sec; t += sec / 2 {
		b.does(t, h, history.Extend, history.OK)
	}
	b.op(3*sec, "client-3", history.Invoke, history.Acquire, "k").Mode = history.Shared
	b.op(43*sec, "client-3", history.Fail, history.Acquire, "k").Mode = history.Shared
	b.does(45*sec, h, history.Release, history.OK)
}
