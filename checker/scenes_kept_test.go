package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of how long what nobody gives back may be kept: whom a refusal may have met.
func init() { maps.Copy(scenes["honest-refusal"], refusedKept) }

// diesHolding is a session that is granted a lock at 5 s, after what came before, and whose client is killed at 6 s; another is
// refused the lock at a time.
func diesHolding(refused int64, more func(*builder)) func(*builder) {
	return func(b *builder) {
		b.kind(history.Tried)
		unleased(b)
		b.setup.Servers = []string{"server-1"}
		b.grantOf(5*sec, 5010*ms, "client-3", 1)
		b.fault(6*sec, 6500*ms, 1, "kill", "client-3")
		b.refuse(refused, refused+ms, "client-1", history.Try, 0)
		more(b)
	}
}

// faultToo is a fault of a node besides.
func faultToo(from, to int64, kind, node string) func(*builder) {
	return func(b *builder) { b.fault(from, to, 2, kind, node) }
}

// unseenKill takes out that the kill was seen.
func unseenKill(b *builder) {
	for i := range b.ops {
		if f := b.ops[i].Fault; f != nil && f.Phase == history.Observed {
			f.Phase = history.Again
		}
	}
}

// unknownHeld is a try of client-3 at 0.2 s of unknown outcome, and a refusal at 5 s, right behind a fault of a node, or of its links
// to others.
func unknownHeld(kind, node string, cut ...string) func(*builder) {
	return func(b *builder) {
		b.kind(history.Tried)
		b.setup.Servers = []string{"server-1"}
		b.fault(100*ms, 5*sec, 1, kind, node, cut...)
		b.op(200*ms, "client-3", history.Invoke, history.Try, "k")
		b.op(300*ms, "client-3", history.Info, history.Try, "k")
		b.refuse(5050*ms, 5051*ms, "client-2", history.Try, 0)
	}
}

// refusedBound is a refusal at a time, after a holder that gives back at 50 ms or never, of a lock with a bound of half a second.
func refusedBound(gives bool, at int64, more func(*builder)) func(*builder) {
	return func(b *builder) {
		b.kind(history.Tried)
		b.setup.Promise.Bound = 5e8
		h := b.grantOf(0, 10*ms, "client-1", 1)
		if gives {
			b.does(50*ms, h, history.Release, history.OK)
		}
		b.refuse(at, at+ms, "client-2", history.Try, 0)
		more(b)
	}
}

func nothing(*builder) {}

func ofFew(b *builder) { b.setup.Promise.DriftFactor = 0.01 }

var refusedKept = map[string]func(*builder){
	"violated-dead":             diesHolding(8*sec, nothing),
	"holds-dead-just":           diesHolding(6900*ms, nothing),
	"holds-dead-server-hit":     diesHolding(8*sec, faultToo(6100*ms, 7500*ms, "pause", "server-1")),
	"violated-dead-server-hit":  diesHolding(11*sec, faultToo(6100*ms, 7500*ms, "pause", "server-1")),
	"violated-dead-server-then": diesHolding(10*sec, faultToo(9*sec, 9500*ms, "pause", "server-1")), // it was over before
	"violated-dead-server-was":  diesHolding(8*sec, faultToo(sec, 2*sec, "pause", "server-1")),
	"holds-dead-own-hit":        diesHolding(30*sec, faultToo(6100*ms, 6200*ms, "reset", "client-3")),
	"holds-dead-own-hit-before": diesHolding(30*sec, faultToo(5500*ms, 5600*ms, "reset", "client-3")),
	"violated-dead-own-was":     diesHolding(8*sec, faultToo(sec, 2*sec, "reset", "client-3")),
	"violated-dead-own-then":    diesHolding(30*sec, faultToo(20*sec, 21*sec, "reset", "client-3")),
	"unknown-dead-unseen":       diesHolding(30*sec, unseenKill),
	"holds-dead-unlisted":       diesHolding(30*sec, func(b *builder) { b.setup.Servers = nil }),
	"holds-dead-endless":        diesHolding(30*sec, func(b *builder) { b.setup.Promise.Session = false }), // nothing ends what it had
	"violated-dead-unanswered": diesHolding(8*sec, func(b *builder) {
		b.op(5500*ms, "client-3", history.Invoke, history.Try, "k")
		b.process["client-3"] = 0
	}),
	"holds-unanswered": diesHolding(8*sec, func(b *builder) { b.op(5500*ms, "client-2", history.Invoke, history.Try, "k") }),

	"holds-unknown-server-hit":  unknownHeld("pause", "server-1"),
	"holds-unknown-cut":         unknownHeld("partition", "server-1", "client-3"),
	"violated-unknown-dead":     unknownHeld("kill", "client-3"), // the dead send nothing
	"violated-unknown-cut-else": unknownHeld("partition", "server-1", "client-1"),

	"holds-few-remember":    refusedBound(true, 400*ms, ofFew),
	"violated-few-remember": refusedBound(true, 600*ms, ofFew),
	"violated-all-remember": refusedBound(true, 400*ms, nothing),
	"holds-bound":           refusedBound(false, 1300*ms, nothing),
	"violated-bound":        refusedBound(false, 1600*ms, nothing),
	"holds-endless":         refusedBound(false, 60*sec, func(b *builder) { b.setup.Promise.Leased = false }),
	"holds-renewing":        refusedBound(false, 60*sec, func(b *builder) { b.setup.Promise.Renews = true }),
}
