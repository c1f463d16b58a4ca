package checker

import (
	"maps"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of faults that were over before a hold was asked for, each with the near neighbour that they have a hand in.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"false-loss": lossesBehind, "validity-bound": restsBehind, "recovery": deathsBehind, "deadlock-freedom": waitsBehindIdle, "rw-exclusion": readersBehind,
		"honest-refusal": refusedByVotes, "lease-exclusion": grantedBesideCutOff,
	} {
		maps.Copy(scenes[property], more)
	}
}

// givenBackAfter is a holder that gives its lock back at a time, and is told that it holds nothing, after what came before.
func givenBackAfter(t int64, promise func(*history.Promise), before func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1"}
		promise(&b.setup.Promise)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		before(b, h)
		b.does(t, h, history.Release, history.Fail)
	}
}

// bounded is a promise whose faults are felt for seconds.
func bounded(promise func(*history.Promise)) func(*history.Promise) {
	return func(p *history.Promise) { promise(p); p.Bound = 3 * time.Second }
}

func ofQuorum(p *history.Promise)  { p.DriftFactor, p.Survives = 0.01, history.Restart }
func consensus(p *history.Promise) { p.Session, p.Survives = true, history.Restart }

func fiveServers(b *builder, _ *held) {
	b.setup.Servers = []string{"server-1", "server-2", "server-3", "server-4", "server-5"}
}

// cutFromAll cuts a client off from each of five servers, as each of these tells it.
func cutFromAll(from, to int64, client string) func(*builder, *held) {
	return func(b *builder, h *held) {
		fiveServers(b, h)
		for n, server := range b.setup.Servers {
			b.fault(from, to, n+1, "partition", server, client)
		}
	}
}

var (
	minorityCut = then(threeServers, struck(-9*sec, 9*sec, "partition", "client-1", "server-2"))
	majorityCut = then(threeServers, struck(100*ms, 9*sec, "partition", "client-1", "server-2", "server-3"))
)

var lossesBehind = map[string]func(*builder){
	"violated-over-servers-pause": lossAfter(200*ms, true, bounded(plainLease), struck(-300*ms, -295*ms, "pause", "server-1")),
	"violated-over-restart":       lossAfter(200*ms, true, bounded(plainLease), struck(-300*ms, -100*ms, "kill", "server-1")),
	"violated-over-disk-stall":    givenBackAfter(200*ms, bounded(plainLease), struck(-300*ms, -100*ms, "disk-stall", "server-1")),
	"holds-over-clock-set":        lossAfter(200*ms, true, bounded(plainLease), struck(-300*ms, -20*ms, "clock", "server-1")),
	"violated-over-clock":         lossAfter(200*ms, true, bounded(plainLease), struck(-900*ms, -600*ms, "clock", "server-1")),
	"holds-restart-meanwhile":     lossAfter(200*ms, true, bounded(plainLease), struck(20*ms, 100*ms, "kill", "server-1")),
	"holds-over-copies-disagree":  lossAfter(200*ms, true, bounded(plainLease), then(threeServers, struck(-300*ms, -100*ms, "kill", "server-1"))),
	"holds-asked-twice":           givenBackAfter(200*ms, bounded(plainLease), struck(200*ms, 201*ms, "reset", "client-1")),
	"violated-over-cut-of-one":    lossAfter(200*ms, true, bounded(ofQuorum), then(fiveServers, struck(-300*ms, -200*ms, "partition", "server-5", "server-1"))),
	"violated-idle-client-cut":    lossAfter(200*ms, true, bounded(ofQuorum), cutFromAll(-sec, 9*sec, "client-3")),
	"holds-own-client-cut":        lossAfter(200*ms, true, bounded(ofQuorum), cutFromAll(50*ms, 9*sec, "client-1")),
	"violated-minority-cut-lost":  lossAfter(40*ms, false, bounded(consensus), minorityCut),
	"violated-minority-cut":       givenBackAfter(40*ms, bounded(consensus), minorityCut),
	"holds-majority-cut":          givenBackAfter(940*ms, bounded(consensus), majorityCut),
	"violated-over-short-pause":   lossAfter(500*ms, false, bounded(ofSession), struck(-100*ms, -95*ms, "pause", "client-1")),
	"holds-over-long-pause":       lossAfter(500*ms, false, bounded(ofSession), struck(-800*ms, -95*ms, "pause", "client-1")),
	"violated-over-long-ago":      lossAfter(500*ms, false, bounded(ofSession), struck(-2800*ms, -2*sec, "pause", "client-1")),
	"violated-over-connection":    givenBackAfter(200*ms, bounded(ofConnection), struck(-300*ms, -200*ms, "pause", "server-1")),
}

// restFound is a look that finds half of what its holder claims, after what came before.
func restFound(before func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		b.setup.Servers, b.setup.Promise.Bound = []string{"server-1"}, 3*time.Second
		h := b.grantOf(0, 10*ms, "client-1", 1)
		before(b, h)
		b.seen(19*ms, 20*ms, h.owner)
		b.ops[len(b.ops)-1].Lease = 500*ms + 1
		b.does(600*ms, h, history.Release, history.OK)
	}
}

var restsBehind = map[string]func(*builder){
	"violated-rest-over": restFound(struck(-300*ms, -295*ms, "pause", "server-1")),
	"holds-rest-felt":    restFound(struck(12*ms, 15*ms, "kill", "server-1")),
}

// diesEarly is a holder that dies, and another that is granted its key a quarter of a lease after that; nothing is told of deadlines.
func diesEarly(before func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		b.setup.Servers, b.setup.Promise.Bound = []string{"server-1"}, 3*time.Second
		h := b.grantOf(0, 10*ms, "client-1", 1)
		before(b, h)
		b.fault(20*ms, 9*sec, 7, "kill", "client-1")
		o := b.grantOf(100*ms, 250*ms, "client-2", 2)
		b.does(300*ms, o, history.Release, history.OK)
		untoldOnes(b)
	}
}

// secondDeath is a holder that dies, another that is granted its key and dies, and a third that waits until a time.
func secondDeath(third int64) func(*builder) {
	return func(b *builder) {
		consensus(&b.setup.Promise)
		b.setup.Promise.Bound = 500 * time.Millisecond
		threeServers(b, nil)
		b.grantOf(0, 10*ms, "client-1", 1)
		b.fault(20*ms, 9*sec, 1, "kill", "client-1")
		b.grantOf(30*ms, 1100*ms, "client-2", 2)
		b.fault(1110*ms, 9*sec, 2, "kill", "client-2")
		o := b.grantOf(40*ms, third, "client-3", 3)
		b.does(third+50*ms, o, history.Release, history.OK)
		b.final(10 * sec)
	}
}

var deathsBehind = map[string]func(*builder){
	"violated-early-over": diesEarly(struck(-300*ms, -295*ms, "pause", "server-1")),
	"holds-early-felt-na": diesEarly(struck(12*ms, 15*ms, "kill", "server-1")),
	"violated-second":     secondDeath(5 * sec),
	"holds-second":        secondDeath(2500 * ms),
}

// idleDies waits for a free key for so long as another client dies, which has asked for it last so long before.
func idleDies(long int64, asked bool) func(*builder) {
	return func(b *builder) {
		ofQuorum(&b.setup.Promise)
		b.setup.Promise.Bound = 500 * time.Millisecond
		fiveServers(b, nil)
		b.session1(0, "client-1", 1)
		if asked {
			b.refuse(900*ms, 990*ms, "client-3", history.Acquire, 0)
		}
		b.fault(sec, 20*sec, 1, "kill", "client-3")
		o := b.grantOf(1100*ms, 1100*ms+long, "client-2", 2)
		b.does(1200*ms+long, o, history.Release, history.OK)
		b.final(30 * sec)
	}
}

var waitsBehindIdle = map[string]func(*builder){
	"violated-idle-dies":   idleDies(8*sec, false),
	"violated-votes-over":  idleDies(8*sec, true),
	"holds-votes-may-last": idleDies(5500*ms, true),
}

// besideReader is a writer that acts beside a reader that has read and gives its lock back later, after what came before.
func besideReader(before func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		b.kind(history.ReadWrite)
		bounded(ofConnection)(&b.setup.Promise)
		b.setup.Promise.Shared = true
		b.setup.Servers = []string{"server-1"}
		h := b.as(0, 10*ms, "client-1", history.Shared, 1)
		before(b, h)
		b.read(20*ms, h)
		w := b.as(30*ms, 40*ms, "client-2", history.Exclusive, 2)
		b.write(50*ms, w)
		b.does(70*ms, w, history.Release, history.OK)
		b.does(80*ms, h, history.Release, history.OK)
	}
}

var readersBehind = map[string]func(*builder){
	"violated-over-pause": besideReader(struck(-300*ms, -295*ms, "pause", "server-1")),
	"holds-pause-felt":    besideReader(struck(12*ms, 15*ms, "kill", "server-1")),
}

// refusedAgain asks for a key that is free, of a lock of independent servers, and is refused at 0.9 s, and another is beside it. One of them is at 1.4 s;
// who asked first is refused at 1.55 s, too.
func refusedAgain(node string, before func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		b.kind(history.Tried)
		ofQuorum(&b.setup.Promise)
		b.setup.Promise.Bound, b.setup.Promise.Tries = 500*time.Millisecond, true
		fiveServers(b, nil)
		b.session1(0, "client-1", 1)
		before(b, nil)
		b.refuse(900*ms, 910*ms, "client-2", history.Try, 0)
		b.refuse(905*ms, 915*ms, "client-3", history.Try, 0)
		b.refuse(1400*ms, 1410*ms, node, history.Try, 0)
		b.refuse(1550*ms, 1560*ms, "client-2", history.Try, 0)
	}
}

var refusedByVotes = map[string]func(*builder){
	"violated-own-votes":   refusedAgain("client-2", func(*builder, *held) {}),
	"holds-others-votes":   refusedAgain("client-3", func(*builder, *held) {}),
	"holds-own-votes-late": refusedAgain("client-2", struck(1200*ms, 1500*ms, "pause", "server-1")),
}

// heldCutOff is a holder that is cut off, or whose answers alone are dropped, and whose own side tells it of that at 0.6 s; another is granted its lock at a time.
func heldCutOff(note history.F, fault string, next int64) func(*builder) {
	return func(b *builder) {
		ofSession(&b.setup.Promise)
		b.setup.Servers = []string{"server-1"}
		h := b.grantOf(0, 2*ms, "client-1", 1)
		if fault == "" {
			b.partition(5*ms, 3*sec, 1, []string{"client-1"}, b.setup.Servers)
		} else { // told of the client alone
			hits := func() { b.fault(5*ms, 3*sec, 1, strings.TrimSuffix(fault, " whole"), "client-1", "server-1") }
			if strings.HasSuffix(fault, " whole") {
				b.whole(hits)
			} else {
				hits()
			}
		}
		b.note(600*ms, h, note)
		o := b.grantOf(50*ms, next, "client-2", 2)
		b.does(next+50*ms, o, history.Release, history.OK)
		if note != history.Lost {
			b.note(2*sec, h, history.Lost)
		}
	}
}

// Whoever reaches no server cannot have given anything back, whatever its own side told it.
var grantedBesideCutOff = map[string]func(*builder){
	"violated-suspended-cut-off":   heldCutOff(history.Suspended, "", 700*ms),
	"violated-lost-cut-off":        heldCutOff(history.Lost, "", 700*ms),
	"holds-suspended-in-time":      heldCutOff(history.Suspended, "", 1010*ms),
	"holds-lost-one-way":           heldCutOff(history.Lost, "partition", 700*ms), // it may have ended its session
	"violated-suspended-swallowed": heldCutOff(history.Suspended, "blackhole", 700*ms),
	"violated-lost-swallowed":      heldCutOff(history.Lost, "blackhole", 700*ms),
	"violated-suspended-held":      heldCutOff(history.Suspended, "hold-request whole", 700*ms),
	"holds-suspended-held-message": heldCutOff(history.Suspended, "hold-request", 700*ms),
	"holds-suspended-held-answers": heldCutOff(history.Suspended, "hold-answer whole", 700*ms), // the servers hear of it
	"holds-suspended-swallowed":    heldCutOff(history.Suspended, "blackhole", 1010*ms),
	"holds-lost-reset":             heldCutOff(history.Lost, "reset", 700*ms),        // the servers see that a connection breaks
	"holds-lost-held-up":           heldCutOff(history.Lost, "hold-request", 700*ms), // perhaps one message of many
}
