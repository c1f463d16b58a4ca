package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of what excused too much, or was not asked at all, each with the near neighbour that must stay as it is.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"validity-bound": claimsUnsent, "false-loss": lossesExcused, "deadlock-freedom": stuckExcused, "loss-noticed": stopsShort,
		"recovery": deathsUntold, "honest-claims": claimsDenied, "mutual-exclusion": usesBehind, "lock-info": namesUnknown,
		"permits": askedPermits, "rw-exclusion": askedModes,
	} {
		maps.Copy(scenes[property], more)
	}
}

// unsentClaim is a renewal of which nobody says when it was sent, and that claims so much.
func unsentClaim(claims int64) func(*builder) {
	return func(b *builder) {
		turns(b)
		for i := range b.ops {
			if op := &b.ops[i]; op.F == history.Extend && op.Type == history.OK {
				op.Sent, op.Deadline = 0, op.Mono+claims
				return
			}
		}
	}
}

var claimsUnsent = map[string]func(*builder){
	"violated-unsent": unsentClaim(3 * sec),
	"holds-unsent":    unsentClaim(sec), // it may be too long by what its request took
}

// idle makes faults that were seen into such as met nothing to hit.
func (b *builder) idle() {
	for i := range b.ops {
		if f := b.ops[i].Fault; f != nil && f.Phase == history.Observed {
			f.Phase = history.Skipped
		}
	}
}

// lostBehind is a loss that is told at half of a lease, behind a fault of the server.
func lostBehind(b *builder) {
	b.setup.Servers = []string{"server-1"}
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.fault(100*ms, 400*ms, 1, "disk-stall", "server-1")
	b.note(500*ms, h, history.Lost)
}

// unansweredAt asks for a renewal that is never answered; the holder is told of its loss at half a second.
func unansweredAt(b *builder, t int64) {
	h := losing(b)
	b.op(t, "renewer", history.Invoke, history.Extend, "k").Owner = h.owner
	b.note(500*ms, h, history.Lost)
	b.op(900*ms, "renewer", history.Info, history.Extend, "k").Owner = h.owner
}

var lossesExcused = map[string]func(*builder){
	"violated-idle-fault":       func(b *builder) { lostBehind(b); b.idle() },
	"holds-seen-fault":          lostBehind,
	"violated-unanswered-later": func(b *builder) { unansweredAt(b, 550*ms) }, // what is asked for after a loss excuses none
	"holds-unanswered-before":   func(b *builder) { unansweredAt(b, 450*ms) },
}

// stuckBehind is a key that nobody gets while a server is at fault.
func stuckBehind(b *builder) {
	turns(b)
	b.setup.Servers = []string{"server-1"}
	b.fault(4*sec, 13*sec, 1, "disk-stall", "server-1")
	b.refused(5*sec, 12*sec)
	b.final(20 * sec)
}

// onceAll is leaked, and somebody who had so many of the permits before.
func onceAll(b *builder, n int) {
	leaked(b, n, 3)
	h := b.permits(-3*sec, -3*sec+5*ms, "client-2", 3, 9)
	b.does(-2*sec, h, history.Release, history.OK)
	b.final(40 * sec)
}

var stuckExcused = map[string]func(*builder){
	"violated-idle-fault": func(b *builder) { stuckBehind(b); b.idle() },
	"holds-seen-fault":    stuckBehind,
	"violated-once-all":   func(b *builder) { onceAll(b, 2) }, // who asked for all waits no more
	"holds-once-all":      func(b *builder) { onceAll(b, 0) },
}

// stopsBefore is a holder that is stopped as its claim ends, and that is told of that at a time.
func stopsBefore(b *builder, told int64) {
	renewals(b, 1100*ms) // and one that is told in time
	h := b.grantOf(10*sec, 10*sec+10*ms, "client-1", 3)
	b.does(10*sec+300*ms, h, history.Extend, history.OK)
	b.fault(10*sec+900*ms, 10*sec+1400*ms, 2, "pause", "client-1")
	b.note(10*sec+told, h, history.Lost)
}

var stopsShort = map[string]func(*builder){
	"violated-stopped-once": func(b *builder) { stopsBefore(b, 8*sec) }, // it has run again for long
	"holds-stopped":         func(b *builder) { stopsBefore(b, 1500*ms) },
}

var deathsUntold = map[string]func(*builder){
	"violated-untold": func(b *builder) { orphaned(b); b.grantOf(50*ms, 500*ms, "client-2", 2); untoldOnes(b) },
	"holds-untold":    func(b *builder) { orphaned(b); b.grantOf(50*ms, 1200*ms, "client-2", 2); untoldOnes(b) },
}

// behindOther is told ok to its release, after another was granted the lock behind its lease and has given it back.
func behindOther(b *builder, mode, other history.Mode) {
	b.kind(history.ReadWrite)
	h := b.as(0, 10*ms, "client-1", mode, 1)
	o := b.as(500*ms, 1500*ms, "client-2", other, 2)
	b.does(1600*ms, o, history.Release, history.OK)
	b.does(1700*ms, h, history.Release, history.OK)
}

// behindPermits is the same of a permit of two.
func behindPermits(b *builder, other int32) {
	b.kind(history.Semaphore)
	h := b.permits(0, 10*ms, "client-1", 1, 1)
	o := b.permits(500*ms, 1500*ms, "client-2", other, 2)
	b.does(1600*ms, o, history.Release, history.OK)
	b.does(1700*ms, h, history.Release, history.OK)
}

// deniedFirst is told ok to its release after a renewal came to an end.
func deniedFirst(b *builder, first history.Type) {
	b.setup.Servers = []string{"server-1"}
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.does(1200*ms, h, history.Extend, first)
	b.op(1290*ms, "releaser", history.Invoke, history.Release, "k").Owner = h.owner
	b.op(1300*ms, "releaser", history.OK, history.Release, "k").Owner = h.owner
}

// strangeLater is ok to who was never granted the key, so long after an acquire of its client of unknown outcome.
func strangeLater(b *builder, later int64) {
	turns(b)
	b.setup.Servers = []string{"server-1"}
	b.op(2400*ms, "client-9", history.Invoke, history.Acquire, "k")
	b.op(2450*ms, "client-9", history.Info, history.Acquire, "k")
	b.does(2450*ms+later, &held{node: "client-9", key: "k", owner: "client-9/none"}, history.Release, history.OK)
}

var claimsDenied = map[string]func(*builder){
	"violated-writer-behind":    func(b *builder) { behindOther(b, exclusive, shared) },
	"violated-reader-behind":    func(b *builder) { behindOther(b, shared, exclusive) },
	"holds-readers":             func(b *builder) { behindOther(b, shared, shared) },
	"violated-permit-behind":    func(b *builder) { behindPermits(b, 2) },
	"holds-permit-room":         func(b *builder) { behindPermits(b, 1) },
	"violated-denied":           func(b *builder) { deniedFirst(b, history.Fail) },
	"holds-denied-unknown":      func(b *builder) { deniedFirst(b, history.Info) },
	"violated-stranger-later":   func(b *builder) { strangeLater(b, 60*sec) },
	"holds-stranger-just-after": func(b *builder) { strangeLater(b, 50*ms) },
}

// writesAt is a holder that gives the key back at 0.3 s and writes at a time.
func writesAt(b *builder, t int64) {
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.read(100*ms, h)
	b.write(t, h)
	b.does(300*ms, h, history.Release, history.OK)
	g := b.grantOf(20*ms, 310*ms, "client-2", 2)
	b.does(500*ms, g, history.Release, history.OK)
}

// charges is an effect of an owner.
func (b *builder) charges(t int64, h *held, owner string) {
	b.setup.Use = history.Use{Name: history.Payment}
	for i, typ := range []history.Type{history.Invoke, history.OK} {
		op := b.op(t+int64(i)*ms, h.node, typ, history.Effect, "k")
		op.Owner, op.Token, op.Value = owner, h.token, "charge 1"
	}
}

// oneOfTwo is a client with two keys, one of which it is told to have lost, before another gets the first.
func oneOfTwo(b *builder, lost string) {
	b.setup.Promise.Leased, b.setup.Keys = false, []string{"k", "l"}
	b.grant(0, 10*ms, "client-1", "k", 1)
	b.grant(20*ms, 30*ms, "client-1", "l", 1)
	b.op(200*ms, "client-1", history.Note, history.Lost, lost)
	g := b.grantOf(250*ms, 400*ms, "client-2", 2)
	b.grantOf(410*ms, 520*ms, "client-3", 3)
	b.does(500*ms, g, history.Release, history.OK)
	b.op(600*ms, "client-1", history.Note, history.Stop, "")
}

// drifts is a lock that allows for clocks that run fast, and grants the key again at a time.
func drifts(b *builder, t int64) {
	turns(b)
	b.setup.Servers = []string{"server-1", "server-2", "server-3"}
	b.setup.Promise.DriftFactor, b.setup.Promise.DriftFixed = 0.01, 2e6
	h := b.grantOf(10*sec, 10*sec+3*ms, "client-1", 8)
	b.claimMore("client-1", 10*sec+3*ms, -12*ms)
	g := b.grantOf(10*sec+100*ms, 10*sec+t, "client-2", 9)
	b.does(11700*ms, g, history.Release, history.OK)
	b.does(11800*ms, h, history.Release, history.Fail)
}

var usesBehind = map[string]func(*builder){
	"violated-given-back":      func(b *builder) { writesAt(b, 400*ms) },
	"holds-not-yet-given-back": func(b *builder) { writesAt(b, 200*ms) },
	"violated-strange-effect": func(b *builder) {
		turns(b)
		b.charges(2960*ms, &held{node: "client-9", key: "k", token: 9}, "client-9/none")
	},
	"holds-effect": func(b *builder) {
		turns(b)
		h := b.grantOf(3*sec, 3010*ms, "client-1", 9)
		b.charges(3050*ms, h, h.owner)
	},
	"violated-other-key-lost": func(b *builder) { oneOfTwo(b, "l") },
	"holds-all-lost":          func(b *builder) { oneOfTwo(b, "") },
	"violated-drift":          func(b *builder) { drifts(b, 800*ms) },
	"holds-drift":             func(b *builder) { drifts(b, 992*ms) }, // no lease is promised by then
}

// named is a look in the middle of a lease that names somebody; another one named the holder.
func namedThen(b *builder, owner string) {
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.seen(50*ms, 51*ms, h.owner)
	b.seen(200*ms, 201*ms, owner)
	b.does(300*ms, h, history.Release, history.OK)
}

var namesUnknown = map[string]func(*builder){
	"violated-nobody-known": func(b *builder) { namedThen(b, "client-9/none") },
	"holds-named-again":     func(b *builder) { namedThen(b, "client-1/1") },
}

// The answers of these grants do not repeat what was asked for.
var askedPermits = map[string]func(*builder){
	"violated-asked": func(b *builder) {
		b.kind(history.Semaphore)
		h := b.permits(0, 10*ms, "client-1", 1, 1)
		g := b.permits(5*ms, 20*ms, "client-2", 2, 2)
		b.ops[len(b.ops)-1].Permits = 0
		e := b.permits(15*ms, sec, "client-3", 1, 3)
		b.look(100*ms, h)
		b.look(110*ms, g)
		b.look(120*ms, h)
		b.does(1100*ms, e, history.Release, history.OK)
	},
}

var askedModes = map[string]func(*builder){
	"holds-asked": func(b *builder) {
		readers(b)
		for i := range b.ops {
			if op := &b.ops[i]; op.F == history.Acquire && op.Type == history.OK && op.Mode == shared {
				op.Mode = ""
			}
		}
	},
}
