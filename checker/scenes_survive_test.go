package checker

import (
	"fmt"
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of what a fault of a few servers excuses, of owners that nobody knows, of parts that are given back and of
// changes that are never answered, each with the near neighbour that must stay as it is.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"lease-exclusion": survivals, "false-loss": lossesSurvived, "honest-claims": claimsSurvived, "lock-info": phantoms,
		"fenced-writes": usedTwice, "fencing-monotonic": tokensRenewed, "deadlock-freedom": changesStuck,
	} {
		maps.Copy(scenes[property], more)
	}
}

// survives is a run with three servers, whose lock tells no deadline and survives so much.
func (b *builder) survives(what history.Survival) {
	b.setup.Servers = []string{"server-1", "server-2", "server-3"}
	b.setup.Promise.Survives, b.setup.Promise.Validity = what, history.Untold
}

// secondAt is granted the lock at a time behind a fault of some servers, while another's lease of 1 s goes on.
func secondAt(b *builder, what history.Survival, t int64, kind string, servers ...string) {
	b.survives(what)
	b.grantOf(0, 10*ms, "client-1", 1)
	for i, server := range servers {
		b.fault(100*ms, 5*sec, i+1, kind, server)
	}
	b.grantOf(50*ms, t, "client-2", 2)
	b.endless()
}

// cutAway is secondAt behind a cut of a server, and a fault of another.
func cutAway(b *builder, other string) {
	secondAt(b, history.Absence, 400*ms, "pause")
	b.partition(100*ms, 900*ms, 1, []string{"server-3"}, []string{"server-1", "server-2", "client-1", "client-2"})
	if other != "" {
		b.fault(100*ms, 900*ms, 2, "pause", other)
	}
}

// oneByOne is a holder that renews while each server is killed and comes back, one after the other, so long.
func oneByOne(b *builder, long int64) {
	b.survives(history.Restart)
	h := b.grantOf(0, 10*ms, "client-1", 1)
	for i := range int64(9) {
		b.fault(100*ms+i*400*ms, 100*ms+i*400*ms+long, int(i)+1, "kill", fmt.Sprintf("server-%d", i%3+1))
		b.does(i*400*ms+300*ms, h, history.Extend, history.OK)
	}
	b.grantOf(50*ms, 3700*ms, "client-2", 2)
	b.endless()
}

// inSession is secondAt of a session that its client keeps alive unseen.
func inSession(b *builder, t int64) {
	b.setup.Promise.Session, b.setup.Promise.Renews = true, true
	secondAt(b, history.Restart, t, "kill", "server-3")
}

// cutOwn is secondAt where the holder is cut off from some servers.
func cutOwn(b *builder, servers ...string) {
	b.setup.Promise.Session = true
	secondAt(b, history.Restart, 400*ms, "kill")
	b.partition(100*ms, 900*ms, 1, []string{"client-1"}, servers)
}

// partBack gives two of three permits back at 0.1 s, and lets another have so many.
func partBack(b *builder, n int32) *held {
	b.kind(history.Semaphore)
	b.setup.Permits = 3
	h := b.permits(0, 10*ms, "client-1", 3, 1)
	b.gives(100*ms, h, 2)
	b.permits(50*ms, 120*ms, "client-2", n, 2)
	return h
}

// gives gives some permits of h back.
func (b *builder) gives(t int64, h *held, n int32) {
	b.does(t, h, history.Release, history.OK)
	b.ops[len(b.ops)-2].Permits = n
}

var survivals = map[string]func(*builder){
	"violated-minority-killed": func(b *builder) { secondAt(b, history.Restart, 400*ms, "kill", "server-3") },
	"holds-minority-forgets":   func(b *builder) { secondAt(b, history.Absence, 400*ms, "kill", "server-3") },
	"holds-majority-killed":    func(b *builder) { secondAt(b, history.Restart, 400*ms, "kill", "server-2", "server-3") },
	"holds-minority-clock":     func(b *builder) { secondAt(b, history.Restart, 400*ms, "clock", "server-3") },
	"holds-minority-due":       func(b *builder) { secondAt(b, history.Restart, 1200*ms, "kill", "server-3") },
	"violated-minority-cut":    func(b *builder) { cutAway(b, "") },
	"holds-majority-cut":       func(b *builder) { cutAway(b, "server-2") },
	"violated-one-by-one":      func(b *builder) { oneByOne(b, 350*ms) },
	"holds-two-at-once":        func(b *builder) { oneByOne(b, 450*ms) },
	"violated-session-moves":   func(b *builder) { inSession(b, 300*ms) },
	"holds-session-moves":      func(b *builder) { inSession(b, 700*ms) }, // what its server had heard of it last is lost
	"violated-cut-from-few":    func(b *builder) { cutOwn(b, "server-3") },
	"holds-cut-from-most":      func(b *builder) { cutOwn(b, "server-2", "server-3") },
	"violated-resource-killed": func(b *builder) { secondAt(b, "", 400*ms, "kill", "resource") },
	"holds-server-killed":      func(b *builder) { secondAt(b, "", 400*ms, "kill", "server-3") },
	"violated-quorum-pauses": func(b *builder) {
		b.setup.Promise.DriftFactor = 0.01
		secondAt(b, history.Absence, 400*ms, "pause", "server-3")
	},
	"holds-quorum-forgets": func(b *builder) {
		b.setup.Promise.DriftFactor = 0.01
		secondAt(b, history.Absence, 400*ms, "kill", "server-3")
	},
	"violated-ended": func(b *builder) { // a server that ended by itself is one that was killed
		secondAt(b, history.Restart, 400*ms, "pause", "server-3")
		b.op(350*ms, "server-3", history.Note, history.ServerEnd, "").Error = "panic"
	},
	"violated-part": func(b *builder) { partBack(b, 3) },
	"holds-part":    func(b *builder) { partBack(b, 2) },
}

// refusedEarly is a renewal that is refused at half of its lease, behind a fault of one server of three.
func refusedEarly(b *builder, what history.Survival) {
	b.survives(what)
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.fault(100*ms, 900*ms, 1, "kill", "server-3")
	b.does(500*ms, h, history.Extend, history.Fail)
}

var lossesSurvived = map[string]func(*builder){
	"violated-minority-killed": func(b *builder) { refusedEarly(b, history.Restart) },
	"holds-minority-forgets":   func(b *builder) { refusedEarly(b, history.Absence) },
	"violated-refused-outright": func(b *builder) { // a renewal without an answer can only have made it longer
		h := losing(b)
		b.op(300*ms, "renewer", history.Invoke, history.Extend, "k").Owner = h.owner
		b.op(400*ms, "renewer", history.Info, history.Extend, "k").Owner = h.owner
		b.does(500*ms, h, history.Release, history.Fail)
	},
}

// deniedBehind is told that it holds nothing and then ok, behind a pause of one server of three.
func deniedBehind(b *builder, what history.Survival) {
	b.survives(what)
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.fault(100*ms, 3*sec, 1, "pause", "server-3")
	b.does(1500*ms, h, history.Extend, history.Fail)
	b.does(1700*ms, h, history.Release, history.OK)
}

var claimsSurvived = map[string]func(*builder){
	"violated-denied-survived": func(b *builder) { deniedBehind(b, history.Absence) },
	"holds-denied-shaken":      func(b *builder) { deniedBehind(b, "") },
	"violated-part-again":      func(b *builder) { h := partBack(b, 2); b.gives(200*ms, h, 1); b.gives(300*ms, h, 1) },
	"holds-part-rest":          func(b *builder) { h := partBack(b, 2); b.look(150*ms, h); b.gives(200*ms, h, 1) },
}

// lookWhile is a look that names nobody in the middle of a lease, behind a fault of one server of three.
func lookWhile(b *builder, kind string) {
	b.survives(history.Restart)
	b.grantOf(0, 10*ms, "client-1", 1)
	b.fault(100*ms, 3*sec, 1, kind, "server-3")
	b.seen(300*ms, 301*ms, "")
}

// lost is a look that names nobody at a time, within a lease of the grant of a session, as one of three servers is killed.
func (b *builder) lost(t int64) {
	b.setup.Promise.Session, b.setup.Promise.Renews = true, true
	lookWhile(b, "kill")
	b.seen(t, t+ms, "")
	b.ops = append(b.ops[:len(b.ops)-2], b.ops[len(b.ops)-1]) // in place of its own
	b.endless()
}

// freeNamed is a look at 0.3 s, when the key is free; it names an owner.
func freeNamed(b *builder, owner string) {
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.seen(50*ms, 51*ms, h.owner)
	b.does(200*ms, h, history.Release, history.OK)
	b.seen(300*ms, 301*ms, owner)
}

// asksUntil is an acquire from 0.25 s on that comes to an end at a time.
func (b *builder) asksUntil(t int64, end history.Type) {
	b.op(250*ms, "client-2", history.Invoke, history.Acquire, "k")
	b.op(t, "client-2", end, history.Acquire, "k")
}

// leftBy has client-2 hold the key for a moment, before a look at the free key that names an owner.
func leftBy(b *builder, owner string) {
	h := b.grantOf(0, 10*ms, "client-2", 2)
	b.seen(50*ms, 51*ms, h.owner) // as its clients call themselves
	b.does(100*ms, h, history.Release, history.OK)
	b.seen(300*ms, 301*ms, owner)
}

var phantoms = map[string]func(*builder){
	"violated-one-killed":      func(b *builder) { lookWhile(b, "kill") },
	"holds-one-paused-na":      func(b *builder) { lookWhile(b, "pause") }, // it may answer when it runs again
	"violated-session-moves":   func(b *builder) { b.lost(300 * ms) },
	"holds-session-moves":      func(b *builder) { b.lost(800 * ms) },
	"violated-phantom":         func(b *builder) { freeNamed(b, "client-9/none") },
	"holds-phantom-unknown":    func(b *builder) { freeNamed(b, "client-9/none"); b.asksUntil(280*ms, history.Info) },
	"holds-phantom-asks":       func(b *builder) { freeNamed(b, "client-9/none"); b.asksUntil(350*ms, history.Fail) },
	"violated-phantom-refused": func(b *builder) { freeNamed(b, "client-9/none"); b.asksUntil(280*ms, history.Fail) },
	"holds-phantom-retried":    func(b *builder) { freeNamed(b, "client-2/2"); b.grantOf(250*ms, 400*ms, "client-2", 3) },
	"holds-phantom-left":       func(b *builder) { leftBy(b, "client-2/0") },
	"violated-phantom-left":    func(b *builder) { leftBy(b, "client-3/0") },
	"violated-phantom-later":   func(b *builder) { freeNamed(b, "client-2/2"); b.grantOf(350*ms, 400*ms, "client-2", 2) },
	"holds-phantom-asked":      func(b *builder) { freeNamed(b, "client-2/2"); b.grantOf(290*ms, 400*ms, "client-2", 2) },
	"violated-phantom-key": func(b *builder) {
		b.setup.Keys = []string{"k", "l"}
		freeNamed(b, "client-2/2")
		b.grant(210*ms, 220*ms, "client-2", "l", 2)
	},
	"violated-phantom-key-left": func(b *builder) { // its name is known, so it is none that an acquire of the first key had left
		b.setup.Keys = []string{"k", "l"}
		freeNamed(b, "client-1/2")
		b.grant(210*ms, 220*ms, "client-1", "l", 2)
	},
}

// renewedWith is a renewal that tells a token, and a grant behind it.
func renewedWith(b *builder, token, next int64) {
	turns(b)
	h := b.grantOf(2900*ms, 3*sec, "client-1", 8)
	b.does(3100*ms, h, history.Extend, history.OK)
	b.ops[len(b.ops)-1].Token = token
	b.does(3200*ms, h, history.Release, history.OK)
	b.grantOf(3300*ms, 3400*ms, "client-2", next)
}

var tokensRenewed = map[string]func(*builder){
	"violated-renewed-lower": func(b *builder) { renewedWith(b, 7, 10) },
	"violated-renewed-used":  func(b *builder) { renewedWith(b, 9, 9) },
	"holds-renewed-greater":  func(b *builder) { renewedWith(b, 9, 10) },
	"holds-renewed":          func(b *builder) { renewedWith(b, 8, 9) },
	"holds-untold":           func(b *builder) { renewedWith(b, 0, 9) },
}

// changesFor is a reader that asks to be the writer and is never answered; another reader gives the key back at a time.
func changesFor(b *builder, until int64) {
	b.kind(history.ReadWrite)
	b.setup.Servers, b.setup.Promise.Changes = []string{"server-1"}, true
	h, o := b.as(0, 10*ms, "client-1", shared, 1), b.as(0, 12*ms, "client-2", shared, 2)
	b.renews(300*ms, until, o)
	b.does(until, o, history.Release, history.OK)
	change := b.op(500*ms, "client-1", history.Invoke, history.Change, "k")
	change.Owner, change.Mode = h.owner, exclusive
	b.op(20*sec, "client-1", history.Note, history.Stop, "")
	b.final(40 * sec)
}

// downFor is a writer that asks to be a reader, and is told at a time that it cannot.
func downFor(b *builder, t int64) {
	b.kind(history.ReadWrite)
	b.setup.Servers, b.setup.Promise.Changes = []string{"server-1"}, true
	h := b.as(0, 10*ms, "client-1", exclusive, 1)
	b.op(500*ms, "client-1", history.Invoke, history.Change, "k").Owner = h.owner
	b.ops[len(b.ops)-1].Mode = shared
	b.op(t, "client-1", history.Fail, history.Change, "k").Mode = shared
	b.refused(100*ms, 900*ms)
	b.final(40 * sec)
}

// partKept is a semaphore of three of which one permit is kept for long, and two were given back; somebody waits for so many.
func partKept(b *builder, n int32) {
	b.kind(history.Semaphore)
	b.setup.Permits = 3
	h := b.permits(0, 10*ms, "client-1", 3, 1)
	b.gives(100*ms, h, 2)
	b.renews(300*ms, 20*sec, h)
	b.op(200*ms, "client-3", history.Invoke, history.Acquire, "k").Permits = n
	b.op(20*sec, "client-3", history.Fail, history.Acquire, "k")
	b.gives(21*sec, h, 1)
	b.final(30 * sec)
}

var changesStuck = map[string]func(*builder){
	"violated-change":      func(b *builder) { changesFor(b, 600*ms) },
	"holds-change-beside":  func(b *builder) { changesFor(b, 19*sec) },
	"violated-change-down": func(b *builder) { downFor(b, 20*sec) },
	"holds-change-down":    func(b *builder) { downFor(b, 600*ms) },
	"holds-change-hit":     func(b *builder) { changesFor(b, 600*ms); b.fault(700*ms, 19*sec, 1, "blackhole", "client-1") },
	"violated-part-leaked": func(b *builder) { partKept(b, 2) },
	"holds-part-wanted":    func(b *builder) { partKept(b, 3) },
}

// writesTwice is a holder of which the fenced copy accepts two writes, by a rule; a stale one was refused before.
func writesTwice(b *builder, rule string) {
	b.setup.Fencing = rule
	h, g := zombie(b)
	b.decide(3*sec, h, false)
	b.does(3100*ms, g, history.Release, history.OK)
	o := b.grantOf(3050*ms, 3200*ms, "client-3", 3)
	b.read(3300*ms, o)
	b.decide(3400*ms, o, true)
	b.decide(3500*ms, o, true)
}

var usedTwice = map[string]func(*builder){
	"violated-strict-twice": func(b *builder) { writesTwice(b, history.Strict) },
	"holds-twice":           func(b *builder) { writesTwice(b, history.AtLeast) },
}
