package checker

import (
	"maps"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of a run that sets for how long a key may stay free while somebody waits.
func init() {
	maps.Copy(scenes["free-lock"], freesWithin)
}

// freedLate is a key that client-1 gives back until 101 ms, as told, and for which client-2 asks from 50 ms until a time; the
// limit of the run is a second. What else happens is told of client-1's hold.
func freedLate(given history.Type, until int64, end history.Type, more ...func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		b.setup.FreeWithin = time.Second
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.does(100*ms, h, history.Release, given)
		for _, does := range more {
			does(b, h)
		}
		if end == history.OK {
			g := b.grantOf(50*ms, until, "client-2", 2)
			b.does(until+10*ms, g, history.Release, history.OK)
			return
		}
		b.op(50*ms, "client-2", history.Invoke, history.Acquire, "k")
		b.op(until, "client-2", end, history.Acquire, "k")
	}
}

const freedBy = 101*ms + sec // the limit

func servedBy(b *builder, _ *held) { b.setup.Servers = []string{"server-1"} }

func faultOn(from, to int64, kind, target string) func(*builder, *held) {
	return func(b *builder, _ *held) { b.fault(from, to, 1, kind, target) }
}

var freesWithin = map[string]func(*builder){
	"holds-within":            freedLate(history.OK, freedBy, history.OK),
	"violated-within":         freedLate(history.OK, freedBy+1, history.OK),
	"violated-within-refused": freedLate(history.OK, freedBy+1, history.Fail),
	"unknown-within-error":    freedLate(history.OK, freedBy+1, history.Info), // it may have had it
	"violated-within-told":    freedLate(history.Fail, freedBy+1, history.OK), // told that it held nothing
	"unknown-within-released": freedLate(history.Info, sec, history.OK),       // it may hold it still
	"violated-within-lease":   freedLate(history.Info, 101*ms+sec+70*ms+sec+1, history.OK, behindLease),
	"unknown-within-pause":    freedLate(history.OK, 3*sec, history.OK, servedBy, faultOn(200*ms, 3*sec, "pause", "server-1")),
	"unknown-within-own":      freedLate(history.OK, 3*sec, history.OK, servedBy, faultOn(200*ms, 3*sec, "pause", "client-2")),
	"violated-within-another": freedLate(history.OK, 3*sec, history.OK, servedBy, faultOn(200*ms, 3*sec, "pause", "client-3")),
	"violated-within-over":    freedLate(history.OK, 3*sec, history.OK, servedBy, faultOn(-2*sec, -sec, "pause", "server-1")),
	"holds-within-long-ago":   freedLate(history.OK, freedBy, history.OK, servedBy, faultOn(-9*sec, -8*sec, "pause", "server-1")),
	"unknown-within-slow":     freedLate(history.OK, 3*sec, history.OK, servedBy, func(b *builder, _ *held) { b.slow(0, 3*sec, 1, "client-2", 32*ms) }),
	"unknown-within-stall":    freedLate(history.OK, 2*sec, history.OK, servedBy, func(b *builder, _ *held) { b.stall(500*ms, "server-1", 200*ms) }),
	"holds-within-quorum-na":  freedLate(history.OK, 9*sec, history.OK, func(b *builder, _ *held) { b.setup.Promise.DriftFactor = 0.01 }),
	"holds-within-mute-na":    freedLate(history.OK, 9*sec, history.OK, func(b *builder, _ *held) { b.setup.Promise.Mute = true }),
	"holds-within-ghost":      freedLate(history.OK, 2*sec, history.OK, ghostBeside),
	"violated-within-gave-up": freedLate(history.OK, freedBy+1, history.OK, func(b *builder, _ *held) { b.refuse(20*ms, 90*ms, "client-3", history.Acquire, 0) }),
	"holds-within-between":    freedLate(history.OK, 1900*ms, history.OK, func(b *builder, _ *held) { b.session1(800*ms, "client-3", 3) }), // overtaken, not left
	"violated-within-before":  freedLate(history.OK, 2*sec+2, history.OK, func(b *builder, _ *held) { b.session1(800*ms, "client-3", 3) }),
	"violated-within-two":     freedLate(history.OK, 2*sec, history.OK, waitsToo),
	"unknown-within-tries":    triesWithin,
	"unknown-within-nobody":   func(b *builder) { b.setup.FreeWithin = time.Second; b.session1(0, "client-1", 1) },
}

// behindLease makes nothing: a lease and the bound after a release of unknown outcome the key is free.
func behindLease(b *builder, _ *held) { b.setup.Promise.Bound = time.Duration(70 * ms) }

func ghostBeside(b *builder, _ *held) {
	b.op(20*ms, "client-3", history.Invoke, history.Acquire, "k")
	b.op(90*ms, "client-3", history.Info, history.Acquire, "k")
}

func waitsToo(b *builder, _ *held) {
	b.op(60*ms, "client-3", history.Invoke, history.Acquire, "k")
	b.op(2*sec-ms, "client-3", history.Fail, history.Acquire, "k")
}

// triesWithin is a key for which nobody waits: who tries is answered at once.
func triesWithin(b *builder) {
	b.setup.FreeWithin = time.Second
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.does(100*ms, h, history.Release, history.OK)
	b.refuse(200*ms, 1900*ms, "client-2", history.Try, 0)
	g := b.grantOf(1950*ms, 1960*ms, "client-3", 2)
	b.does(2*sec, g, history.Release, history.OK)
}
