package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of looks that tell the rest of a lease, each with the near neighbour that must stay as it is.
func init() { maps.Copy(scenes["validity-bound"], restsOfLeases) }

// restTold is a look at a time that names client-1, which was granted the lock for a second, and tells the rest of its lease. More may
// come before it.
func restTold(at, rest int64, more func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1"}
		h := b.grantOf(0, 10*ms, "client-1", 1)
		if more != nil {
			more(b, h)
		}
		b.seen(at, at+ms, h.owner)
		b.ops[len(b.ops)-1].Lease = rest
		b.does(at+300*ms, h, history.Release, history.OK)
	}
}

// extends renews at 200 ms, with an outcome.
func extends(outcome history.Type) func(*builder, *held) {
	return func(b *builder, h *held) { b.does(200*ms, h, history.Extend, outcome) }
}

// restOfSeconds is a lock of a lease of three seconds whose server tells whole ones; a look in its first second tells one more than so many.
func restOfSeconds(more int64) func(*builder) {
	return func(b *builder) {
		b.setup.Lease = 3e9
		restTold(100*ms, sec+more, nil)(b)
	}
}

var restsOfLeases = map[string]func(*builder){
	"violated-rest":          restTold(100*ms, 500*ms, nil),
	"holds-rest":             restTold(100*ms, 909*ms, nil),
	"violated-rest-cut":      restTold(500*ms, 150*ms, nil),
	"violated-rest-extended": restTold(300*ms, 700*ms, extends(history.OK)), // told ok, and not longer than before
	"holds-rest-extended":    restTold(300*ms, 900*ms, extends(history.OK)),
	"holds-rest-unanswered":  restTold(300*ms, 500*ms, extends(history.Info)), // whatever it did
	"holds-rest-seconds":     restOfSeconds(sec),                              // of 1.9 s
	"violated-rest-seconds":  restOfSeconds(0),
	"holds-rest-of-the-next": func(b *builder) { // it has given back its lock, and the look may be of before
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.does(100*ms, h, history.Release, history.OK)
		b.seen(50*ms, 102*ms, h.owner)
		b.ops[len(b.ops)-1].Lease = 300 * ms
	},
	"holds-rest-clock": restTold(100*ms, 500*ms, func(b *builder, _ *held) { b.fault(20*ms, 900*ms, 1, "clock", "server-1") }),
	"holds-rest-quorum": restTold(100*ms, 500*ms, func(b *builder, _ *held) {
		b.setup.Promise.DriftFactor = 0.00001
	}),
}
