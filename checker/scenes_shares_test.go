package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of what was judged of a mutex with leases alone, each with the near neighbour that must
// stay as it is.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"rw-exclusion": readWritesIdle, "permits": permitsIdle, "lease-exclusion": sharesUntold, "false-loss": lossesUnleased,
		"honest-claims": claimsOfShares, "deadlock-freedom": keptForEver,
	} {
		maps.Copy(scenes[property], more)
	}
}

// manyPermits is a semaphore of two, of which as many clients are granted a permit and do nothing with it.
func manyPermits(b *builder, clients int) {
	b.kind(history.Semaphore)
	for i, node := range []string{"client-1", "client-2", "client-3"}[:clients] {
		h := b.permits(int64(i)*10*ms, int64(i)*10*ms+20*ms, node, 1, int64(i+1))
		b.does(300*ms+int64(i)*10*ms, h, history.Release, history.OK)
	}
}

// besideWriter is a reader that is let in beside a writer, so long after it; neither does anything.
func besideWriter(b *builder, after int64) {
	b.kind(history.ReadWrite)
	h := b.as(0, 10*ms, "client-1", exclusive, 1)
	o := b.as(after, after+5*ms, "client-2", shared, 2)
	b.does(after+100*ms, o, history.Release, history.OK)
	b.does(after+200*ms, h, history.Release, history.OK)
}

func unleased(b *builder) { b.setup.Promise.Leased, b.setup.Promise.Session = false, true }

var readWritesIdle = map[string]func(*builder){
	"violated-idle-unleased": func(b *builder) { unleased(b); besideWriter(b, 300*ms) },
	"holds-idle-cut": func(b *builder) { // its session may have ended unseen
		unleased(b)
		b.fault(50*ms, 80*ms, 1, "cut-link", "client-1")
		besideWriter(b, 300*ms)
	},
	"violated-stranger": func(b *builder) {
		besideWriter(b, 1200*ms)
		b.write(1700*ms, &held{node: "client-9", key: "k", owner: "client-3/none", token: 7})
	},
}

var permitsIdle = map[string]func(*builder){
	"violated-idle-unleased": func(b *builder) { unleased(b); manyPermits(b, 3) },
	"unknown-idle-two":       func(b *builder) { unleased(b); manyPermits(b, 2) }, // as many as there are
}

var sharesUntold = map[string]func(*builder){
	"violated-untold-permits": func(b *builder) { manyPermits(b, 3); untoldOnes(b) },
	"holds-untold-permits":    func(b *builder) { manyPermits(b, 2); untoldOnes(b) },
	"violated-untold-writer":  func(b *builder) { besideWriter(b, 300*ms); untoldOnes(b) },
	"holds-untold-writer":     func(b *builder) { besideWriter(b, 1200*ms); untoldOnes(b) }, // after its lease
}

var lossesUnleased = map[string]func(*builder){
	"violated-unleased":  func(b *builder) { unleased(b); revoked(b) },
	"holds-unleased-cut": func(b *builder) { unleased(b); revoked(b); b.fault(200*ms, 300*ms, 1, "cut-link", "client-1") },
	"violated-permit": func(b *builder) {
		b.kind(history.Semaphore)
		b.does(300*ms, b.permits(0, 10*ms, "client-1", 1, 1), history.Release, history.Fail)
	},
	"holds-permit-late": func(b *builder) { // its lease is over
		b.kind(history.Semaphore)
		b.does(1300*ms, b.permits(0, 10*ms, "client-1", 1, 1), history.Extend, history.Fail)
	},
}

// behindUpgrade is a reader whose lease is over, and that gives its lock back at a time; another reader beside it asks to be the writer.
func behindUpgrade(b *builder, at, release int64, outcome history.Type) {
	b.kind(history.ReadWrite)
	h := b.as(0, 10*ms, "client-1", history.Shared, 1)
	o := b.as(990*ms, sec, "client-2", history.Shared, 2)
	b.turn(at, o, history.Exclusive, outcome)
	b.does(release, h, history.Release, history.OK)
}

// crowdedLate is a holder whose renewal was asked for and told ok at these times; two others are granted all permits at another.
func crowdedLate(others, asked, told int64) func(*builder) {
	return func(b *builder) {
		b.kind(history.Semaphore)
		h := b.permits(0, 10*ms, "client-1", 1, 1)
		b.op(asked, h.node, history.Invoke, history.Extend, h.key).Owner = h.owner
		b.claim(b.op(told, h.node, history.OK, history.Extend, h.key), h, asked)
		b.permits(others-20*ms, others-10*ms, "client-2", 1, 2)
		b.permits(others-ms, others, "client-3", 1, 3)
	}
}

var claimsOfShares = map[string]func(*builder){
	"violated-permit-again": func(b *builder) {
		manyPermits(b, 2)
		b.does(400*ms, &held{node: "client-1", key: "k", owner: "client-1/1"}, history.Release, history.OK)
	},
	"violated-permit-gone": func(b *builder) { // a look found nobody
		b.kind(history.Semaphore)
		h := b.permits(0, 10*ms, "client-1", 1, 1)
		b.seen(200*ms, 201*ms, "")
		b.does(300*ms, h, history.Extend, history.OK)
	},
	"holds-permit-crowded": func(b *builder) { // all were let in before, and who came last gives a permit back until it is answered
		b.kind(history.Semaphore)
		b.permits(0, 10*ms, "client-1", 2, 1)
		o, h := b.permits(20*ms, 30*ms, "client-3", 2, 2), b.permits(40*ms, 50*ms, "client-1", 1, 3)
		b.does(100*ms, h, history.Release, history.Info)
		gaveOne(200*ms, history.Info)(b, o)
		b.does(300*ms, h, history.Release, history.OK)
	},
	"violated-permit-crowded": func(b *builder) { // others were granted all of them after that
		b.kind(history.Semaphore)
		h := b.permits(0, 10*ms, "client-1", 1, 1)
		b.does(100*ms, h, history.Release, history.Info)
		b.permits(200*ms, 210*ms, "client-2", 1, 2)
		b.permits(220*ms, 230*ms, "client-3", 1, 3)
		b.does(300*ms, h, history.Release, history.OK)
	},
	"violated-permit-crowded-then": func(b *builder) { // by two, and who came after those took no permit of its
		b.kind(history.Semaphore)
		h := b.permits(0, 10*ms, "client-1", 1, 1)
		b.does(100*ms, h, history.Release, history.Info)
		o := b.permits(200*ms, 210*ms, "client-2", 1, 2)
		b.permits(220*ms, 230*ms, "client-3", 1, 3)
		b.does(240*ms, o, history.Release, history.OK)
		b.permits(250*ms, 260*ms, "client-2", 1, 4)
		b.does(300*ms, h, history.Release, history.OK)
	},
	"violated-permit-late":     crowdedLate(1200*ms, 900*ms, 1500*ms),
	"holds-permit-in-time":     crowdedLate(1200*ms, 900*ms, 1100*ms), // two too many, which is not what it was told
	"holds-permit-lease-over":  crowdedLate(1300*ms, 200*ms, 1500*ms), // its lease was over before they came
	"holds-permit-room-behind": func(b *builder) { crowdedLate(1200*ms, 900*ms, 1500*ms)(b); b.setup.Permits = 3 },
	"holds-permit-late-at-kill": func(b *builder) {
		b.fault(950*ms, 960*ms, 1, "kill", "server-1")
		crowdedLate(1200*ms, 900*ms, 1500*ms)(b)
	},
	"violated-reader-behind-upgrade": func(b *builder) { behindUpgrade(b, 1500*ms, 1600*ms, history.OK) }, // another is the writer by then
	"holds-reader-before-upgrade":    func(b *builder) { behindUpgrade(b, 1500*ms, 1400*ms, history.OK) },
	"holds-reader-behind-refusal":    func(b *builder) { behindUpgrade(b, 1500*ms, 1600*ms, history.Fail) },
	"holds-reader-behind-unknown":    func(b *builder) { behindUpgrade(b, 1500*ms, 1600*ms, history.Info) },
	"holds-permit-beside": func(b *builder) { // a look that names another holder of a permit
		b.kind(history.Semaphore)
		h, o := b.permits(0, 10*ms, "client-1", 1, 1), b.permits(0, 20*ms, "client-2", 1, 2)
		b.seen(200*ms, 201*ms, o.owner)
		b.does(300*ms, h, history.Extend, history.OK)
	},
}

// silent is a holder that neither renews nor gives back, and is heard of again, while others are kept waiting.
func silent(b *builder, until int64) {
	turns(b)
	b.grantOf(4*sec, 4010*ms, "client-1", 8)
	b.refused(5*sec, until)
	b.op(until+sec, "client-1", history.Invoke, history.Acquire, "l")
	b.op(until+sec+ms, "client-1", history.Fail, history.Acquire, "l")
	b.final(until + 4*sec)
}

// refusedEach is a free key of which somebody is refused again and again, so long apart.
func refusedEach(b *builder, apart int64, busy bool) {
	turns(b)
	for at := 4 * sec; at < 14*sec; at += apart {
		b.op(at, "client-2", history.Invoke, history.Try, "k")
		b.op(at+ms, "client-2", history.Fail, history.Try, "k").Busy = busy
	}
	b.final(18 * sec)
}

var keptForEver = map[string]func(*builder){
	"violated-silent":        func(b *builder) { silent(b, 12*sec) },
	"violated-silent-untold": func(b *builder) { silent(b, 12*sec); untoldOnes(b) },
	"holds-silent-short":     func(b *builder) { silent(b, 9*sec) },
	"holds-silent-session": func(b *builder) { // it holds on as long as it lives
		unleased(b)
		silent(b, 12*sec)
		b.setup.Promise.Renews = true
	},
	"violated-refused-each": func(b *builder) { refusedEach(b, 2*sec, true) },
	"holds-refused-seldom":  func(b *builder) { refusedEach(b, 3*sec, true) },
	"holds-refused-else":    func(b *builder) { refusedEach(b, 2*sec, false) }, // not as held by another
	"violated-unknown-row": func(b *builder) { // of 3 s each, of which a lease may explain one
		turns(b)
		for i := range int64(8) {
			b.op(4*sec+i*3*sec, "client-2", history.Invoke, history.Acquire, "k")
			b.op(7*sec+i*3*sec-ms, "client-2", history.Info, history.Acquire, "k")
		}
		b.final(40 * sec)
	},
	"holds-unknown-row-cut": func(b *builder) {
		turns(b)
		for i := range int64(8) {
			b.op(4*sec+i*3*sec, "client-2", history.Invoke, history.Acquire, "k")
			b.op(7*sec+i*3*sec-ms, "client-2", history.Info, history.Acquire, "k")
			b.fault(5*sec+i*3*sec, 6*sec+i*3*sec, int(i)+1, "reset", "client-2")
		}
		b.final(40 * sec)
	},
}
