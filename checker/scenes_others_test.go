package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of what the clock, the links and the requests of another client excuse, and of what is told twice and
// differently, each with the near neighbour that must stay as it is.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"mutual-exclusion": clocksBeside, "permits": permitsBesideClock, "rw-exclusion": modesBesideClock,
		"recovery": deathsBesideClock,
		"fairness": overtakenBesideClock, "starvation": starvedBesideClock, "wait-limit": limitsBesideOthers,
		"free-lock":     freeBesideClock,
		"honest-claims": deniedSessions, "no-lost-update/unfenced": staleOpen, "deadlock-freedom": unknownRows,
		"availability": muteLinks, "lock-info": looksAtSessions, "honest-refusal": refusedBehind,
	} {
		maps.Copy(scenes[property], more)
	}
	maps.Copy(scenes["honest-claims"], claimsBesideLooks)
	maps.Copy(scenes["recovery"], deathsOfSessions)
}

// besideClock is a second grant, of a lock that tells no deadline, while the clock of a node is wrong; third is how a
// request of client-3 ends between the two, "" where it makes none.
func besideClock(node string, third history.Type) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1"}
		b.fault(-sec, 5*sec, 1, "clock", node)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		switch third {
		case history.OK:
			o := b.grantOf(50*ms, 100*ms, "client-3", 2)
			b.does(120*ms, o, history.Release, history.OK)
		case history.Fail:
			b.refuse(50*ms, 100*ms, "client-3", history.Acquire, 0)
		case history.Info:
			b.op(50*ms, "client-3", history.Invoke, history.Acquire, "k")
			b.op(100*ms, "client-3", history.Info, history.Acquire, "k")
		}
		g := b.grantOf(20*ms, 300*ms, "client-2", 3)
		b.does(400*ms, g, history.Release, history.OK)
		b.does(1200*ms, h, history.Release, history.Fail)
		untoldOnes(b)
	}
}

var clocksBeside = map[string]func(*builder){
	"violated-third-clock":         besideClock("client-3", ""),
	"violated-third-clock-refused": besideClock("client-3", history.Fail),
	"holds-third-clock-granted":    besideClock("client-3", history.OK), // it may have thought that the first lease was over
	"holds-third-clock-unknown":    besideClock("client-3", history.Info),
	"holds-own-clock":              besideClock("client-1", ""),
	"holds-next-clock":             besideClock("client-2", ""),
	"holds-server-clock":           besideClock("server-1", ""),
	"violated-resumed":             besideSuspended(500*ms, false),
	"violated-renewed-since":       besideSuspended(500*ms, true),
	"holds-suspended":              besideSuspended(150*ms, false),
}

// besideSuspended is a second grant at a time, beside a holder that was told at 0.1 s that it may have lost the lock,
// and at 0.2 s, by a note or by the answer to a renewal, that it has it still.
func besideSuspended(second int64, renews bool) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1"}
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.note(100*ms, h, history.Suspended)
		if renews {
			b.does(200*ms, h, history.Extend, history.OK)
		} else {
			b.note(200*ms, h, history.Resumed)
		}
		g := b.grantOf(20*ms, second, "client-2", 2)
		b.does(second+10*ms, g, history.Release, history.OK)
		b.does(900*ms, h, history.Release, history.Fail)
		untoldOnes(b)
	}
}

// permitsAtClock are three grants of two permits while the clock of a node is wrong.
func permitsAtClock(node string) func(*builder) {
	return func(b *builder) {
		b.kind(history.Semaphore)
		b.setup.Servers, b.setup.Clients = []string{"server-1"}, append(b.setup.Clients, "client-4")
		b.fault(-sec, 5*sec, 1, "clock", node)
		for i, name := range []string{"client-1", "client-2", "client-3"} {
			at := int64(i) * 100 * ms
			h := b.permits(at, at+10*ms, name, 1, int64(i+1))
			b.look(at+500*ms, h)
			b.does(1200*ms+at, h, history.Release, history.Fail)
		}
		b.unsent()
		b.setup.Promise.Validity = history.Untold
	}
}

var permitsBesideClock = map[string]func(*builder){"violated-third-clock": permitsAtClock("client-4")}

// modesAtClock is a writer that is granted the lock beside an idle reader, while the clock of a node is wrong.
func modesAtClock(node string) func(*builder) {
	return func(b *builder) {
		b.setup.Clients = append(b.setup.Clients, "client-4")
		b.setup.Servers = []string{"server-1"}
		b.fault(-sec, 5*sec, 1, "clock", node)
		besideWriter(b, 300*ms)
		untoldOnes(b)
	}
}

var modesBesideClock = map[string]func(*builder){
	"violated-third-clock": modesAtClock("client-4"),
	"holds-server-clock":   modesAtClock("server-1"),
}

// deadAtClock is a dead holder's key that is granted again within its lease, while the clock of a node is wrong.
func deadAtClock(node string, told bool) func(*builder) {
	return func(b *builder) {
		orphaned(b)
		b.fault(50*ms, 5*sec, 2, "clock", node)
		b.grantOf(50*ms, 500*ms, "client-2", 2)
		if !told {
			untoldOnes(b)
		}
	}
}

var deathsBesideClock = map[string]func(*builder){
	"violated-third-clock":        deadAtClock("client-3", true),
	"violated-third-clock-untold": deadAtClock("client-3", false),
	"holds-next-clock-na":         deadAtClock("client-2", true),
	"holds-server-clock-na":       deadAtClock("server-1", true),
}

// deadSession is a dead holder of a lock without a lease whose key is kept for 30 s, while a fault hits the links of a
// client, which may have asked for the key before.
func deadSession(node string, asked bool) func(*builder) {
	return func(b *builder) {
		unleased(b)
		orphaned(b)
		b.fault(50*ms, 50*sec, 2, "reset", node)
		if asked {
			b.op(60*ms, node, history.Invoke, history.Acquire, "k")
			b.op(90*ms, node, history.Info, history.Acquire, "k")
		}
		b.grantOf(100*ms, 30*sec, "client-2", 2)
	}
}

var deathsOfSessions = map[string]func(*builder){
	"violated-session-beside-hit": deadSession("client-3", false),
	"holds-session-hit-asked-na":  deadSession("client-3", true),
	"holds-session-waiter-hit-na": deadSession("client-2", false),
}

// atClock adds a wrong clock to what comes before.
func atClock(scene func(*builder), node string) func(*builder) {
	return func(b *builder) {
		scene(b)
		b.setup.Servers, b.setup.Clients = []string{"server-1"}, append(b.setup.Clients, "client-4")
		b.fault(50*ms, 20*sec, 1, "clock", node)
	}
}

var (
	overtakenBesideClock = map[string]func(*builder){
		"violated-third-clock": atClock(func(b *builder) { passesBy(b, "", 100*ms, true) }, "client-4"),
		"holds-own-clock-na":   atClock(func(b *builder) { passesBy(b, "", 100*ms, true) }, "client-2"),
	}
	starvedBesideClock = map[string]func(*builder){
		"violated-third-clock": atClock(starves, "client-4"),
		"unknown-own-clock":    atClock(starves, "client-2"),
	}
	limitsBesideOthers = map[string]func(*builder){
		"violated-third-clock":  atClock(waitsOn, "client-4"),
		"unknown-own-clock":     atClock(waitsOn, "client-1"),
		"violated-healed":       waitsBehind(60 * sec), // it goes on for long after what a fault has left behind
		"unknown-healed-lately": waitsBehind(4200 * ms),
		"unknown-killed":        killedWaiting(3400 * ms), // its limit was not over for long
		"violated-killed-late":  killedWaiting(60 * sec),
	}
	freeBesideClock = map[string]func(*builder){
		"violated-third-clock": atClock(slowAlone, "client-4"),
		"unknown-own-clock":    atClock(slowAlone, "client-1"),
	}
)

// waitsBehind is an acquire with a limit of 0.3 s that comes back at a time, and a server that stops shortly as it
// begins.
func waitsBehind(to int64) func(*builder) {
	return func(b *builder) {
		turns(b.kind(history.Tried))
		b.setup.Servers = []string{"server-1"}
		b.fault(2900*ms, 3050*ms, 1, "pause", "server-1")
		b.op(3*sec, "client-1", history.Invoke, history.Acquire, "k").Limit = 300 * ms
		b.op(to, "client-1", history.Fail, history.Acquire, "k")
	}
}

// killedWaiting is an acquire with a limit of 0.3 s that has no answer when its client is killed, and a run that goes on.
func killedWaiting(at int64) func(*builder) {
	return func(b *builder) {
		turns(b.kind(history.Tried))
		b.op(3*sec, "client-1", history.Invoke, history.Acquire, "k").Limit = 300 * ms
		b.fault(at, at+sec, 1, "kill", "client-1")
		g := b.grantOf(100*sec, 101*sec, "client-2", 9)
		b.does(102*sec, g, history.Release, history.OK)
	}
}

// deniedIn is a session that tells its client at 4.5 s that it does not hold the lock, and then ok, behind a fault of a
// node that is over at a time.
func deniedIn(node string, over int64, answer history.Type) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1"}
		unleased(b)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.fault(50*ms, over, 1, "pause", node)
		b.does(4500*ms, h, history.Extend, history.Fail)
		b.does(5*sec, h, history.Release, answer)
		b.session1(6*sec, "client-2", 2)
	}
}

var deniedSessions = map[string]func(*builder){
	"violated-session-denied":        deniedIn("client-1", 2900*ms, history.OK), // whatever ended it, it was lost
	"violated-session-denied-beside": deniedIn("client-2", 4800*ms, history.OK),
	"holds-session-denied-felt":      deniedIn("client-1", 3600*ms, history.OK), // it may not have heard of its session yet
	"holds-session-denied-server":    deniedIn("server-1", 4800*ms, history.OK),
	"holds-session-denied-twice":     deniedIn("client-1", 2900*ms, history.Fail),
	"holds-session-denied-stall": func(b *builder) {
		deniedIn("client-2", 300*ms, history.OK)(b)
		b.stall(4400*ms, "client-1", 700*ms)
	},
	"violated-denied-behind-fault": func(b *builder) { // of a lease that the service keeps by its time
		b.setup.Servers = []string{"server-1"}
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.fault(50*ms, 300*ms, 1, "pause", "server-1")
		b.does(4*sec, h, history.Extend, history.Fail)
		b.does(5*sec, h, history.Release, history.OK)
	},
}

// bothWrite are two grants of a lock without tokens whose requests went on at once, and both are written on; the second
// is granted at a time.
func bothWrite(b *builder, second int64) {
	b.setup.Promise.Token, b.setup.Expect = false, history.Expect{StaleWrites: 1}
	h, g := b.grantOf(0, 300*ms, "client-1", 0), b.grantOf(0, second, "client-2", 0)
	b.sent(h, 0)
	b.sent(g, 0)
	b.read(320*ms, h)
	b.write(330*ms, h)
	b.read(second+30*ms, g)
	b.write(second+40*ms, g)
	b.does(400*ms, h, history.Release, history.OK)
	b.does(second+50*ms, g, history.Release, history.OK)
}

var staleOpen = map[string]func(*builder){
	"holds-stale-open":   func(b *builder) { bothWrite(b, 310*ms) }, // one of the two is stale, whichever it is
	"unknown-stale-none": func(b *builder) { bothWrite(b, 405*ms) }, // the first was done by then
}

// rowAsks are requests of client-3 for 3 s each, of unknown outcome, one after the other for a minute.
func rowAsks(b *builder, mode history.Mode) {
	for i := range int64(20) {
		op := b.op(4*sec+i*3*sec, "client-3", history.Invoke, history.Acquire, "k")
		if op.Mode = mode; b.setup.Kind == history.Semaphore {
			op.Permits = 1
		}
		b.op(7*sec+i*3*sec-ms, "client-3", history.Info, history.Acquire, "k")
	}
	b.final(70 * sec)
}

// rowBesideHit is such a row, while a fault is at a node for so long.
func rowBesideHit(node string, until int64) func(*builder) {
	return func(b *builder) {
		turns(b)
		b.setup.Servers = []string{"server-1"}
		b.fault(3*sec, until, 1, "pause", node)
		rowAsks(b, "")
	}
}

// rowBeside is such a row beside a holder who leaves room for it, or none.
func rowBeside(b *builder, kind history.Kind, mode, asked history.Mode) {
	b.setup.Servers = []string{"server-1"}
	b.kind(kind)
	h := b.as(0, 10*ms, "client-1", mode, 1)
	b.renews(300*ms, 69*sec, h)
	b.does(69*sec+500*ms, h, history.Release, history.OK)
	rowAsks(b, asked)
}

var unknownRows = map[string]func(*builder){
	"violated-row-other-hit": rowBesideHit("client-1", 61*sec),
	"violated-row-own-hit":   rowBesideHit("client-3", 5*sec), // its fault is over for long
	"holds-row-hit":          rowBesideHit("client-3", 61*sec),
	"holds-row-server-hit":   rowBesideHit("server-1", 61*sec),
	"violated-row-permit":    func(b *builder) { rowBeside(b, history.Semaphore, "", "") },
	"violated-row-readers":   func(b *builder) { rowBeside(b, history.ReadWrite, shared, shared) },
	"holds-row-writer":       func(b *builder) { rowBeside(b, history.ReadWrite, exclusive, shared) },
}

// asksAlone is a client that alone waits for a key while its links are at fault, and is answered as that is over.
func asksAlone(kind string) func(*builder) {
	return func(b *builder) {
		turns(b)
		b.fault(4*sec, 12*sec, 1, kind, "client-3")
		h := b.grantOf(5*sec, 12*sec, "client-3", 9)
		b.does(12100*ms, h, history.Release, history.OK)
	}
}

var muteLinks = map[string]func(*builder){
	"holds-alone-held-answer-na": asksAlone("hold-answer"),
	"holds-alone-blackhole-na":   asksAlone("blackhole"),
	"violated-alone-latency":     asksAlone("latency"), // of slow links it is served
}

// looksAway is a look at a server that finds nobody, as the holder of a lock without a lease is cut off, or another
// client is.
func looksAway(node string) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1"}
		unleased(b)
		b.grantOf(0, 10*ms, "client-1", 1)
		b.fault(50*ms, 5*sec, 1, "blackhole", node, "server-1")
		b.seen(4*sec, 4001*ms, "")
	}
}

// looksBeside is a look of client-3, at one of three servers, that finds nobody behind a lease, while a client is cut
// off; then the holder is told ok.
func looksBeside(node string) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1", "server-2", "server-3"}
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.fault(50*ms, 3*sec, 1, "blackhole", node, "server-1", "server-2")
		b.seen(2500*ms, 2501*ms, "")
		b.does(4*sec, h, history.Extend, history.OK)
	}
}

// namesBefore is a look in the middle of a grant that names who had given the key back before it.
func namesBefore(b *builder) {
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.does(100*ms, h, history.Release, history.OK)
	g := b.grantOf(200*ms, 300*ms, "client-2", 2)
	b.seen(500*ms, 501*ms, h.owner)
	b.does(700*ms, g, history.Release, history.OK)
}

var claimsBesideLooks = map[string]func(*builder){
	"violated-look-beside-hit": looksBeside("client-1"),
	"holds-look-by-hit":        looksBeside("client-3"), // it may have met the one server that it reaches
	"holds-look-before":        namesBefore,             // what it says is false, and shows nothing of who holds the key
}

var looksAtSessions = map[string]func(*builder){
	"holds-session-away":    looksAway("client-1"), // its session may have ended, and it is not told
	"violated-session-here": looksAway("client-2"),
	"violated-names-before": namesBefore,
}

// lostAndRefused is a session that was told of its loss, and another client that is refused as by a holder at a time.
func lostAndRefused(at int64) func(*builder) {
	return func(b *builder) {
		b.kind(history.Tried)
		b.setup.Servers = []string{"server-1"}
		unleased(b)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.fault(50*ms, 3*sec, 1, "pause", "client-1")
		b.note(3100*ms, h, history.Lost)
		b.refuse(at, at+10*ms, "client-2", history.Try, 0)
	}
}

// heldTry is a try of unknown outcome, while a fault is at its client's links or at another's, and a refusal right
// behind that fault.
func heldTry(node string) func(*builder) {
	return func(b *builder) {
		b.kind(history.Tried)
		b.setup.Servers = []string{"server-1"}
		b.fault(100*ms, 5*sec, 1, "hold-request", node)
		b.op(200*ms, "client-3", history.Invoke, history.Try, "k")
		b.op(300*ms, "client-3", history.Info, history.Try, "k")
		b.session1(2*sec, "client-1", 1)
		b.refuse(5100*ms, 5110*ms, "client-2", history.Try, 0)
	}
}

var refusedBehind = map[string]func(*builder){
	"violated-behind-loss":    lostAndRefused(20 * sec),
	"holds-just-behind-loss":  lostAndRefused(3200 * ms),
	"holds-held-request":      heldTry("client-3"), // it may arrive as the fault ends
	"violated-held-elsewhere": heldTry("client-1"),
}
