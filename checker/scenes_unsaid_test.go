package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// A loss of which a lock that tells of losses tells its holder nothing.
func init() {
	maps.Copy(scenes["honest-claims"], unsaidLosses)
}

// unsaidLoss is a holder with a session of a second that is paused until 2 s, another that is granted the key at 1.5 s, and
// what the first is told at 5 s, and its release at a time, which is refused.
func unsaidLoss(released int64, told ...history.F) func(*builder) {
	return func(b *builder) {
		b.setup.Promise.Session, b.setup.Promise.Renews, b.setup.Servers = true, true, []string{"server-1", "server-2", "server-3"}
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.fault(200*ms, 2*sec, 1, "pause", "client-1")
		b.does(2200*ms, b.grantOf(20*ms, 1500*ms, "client-2", 2), history.Release, history.OK)
		for _, f := range told {
			b.note(5*sec, h, f)
		}
		b.does(released, h, history.Release, history.Fail)
	}
}

var unsaidLosses = map[string]func(*builder){
	"violated-unsaid-loss":     unsaidLoss(10 * sec),
	"holds-unsaid-not-long":    unsaidLoss(6900 * ms), // its client ran for two leases and 3 s, less a little
	"holds-unsaid-no-events":   func(b *builder) { unsaidLoss(10 * sec)(b); b.setup.Promise.Session = false },
	"holds-unsaid-no-renewals": func(b *builder) { unsaidLoss(10 * sec)(b); b.setup.Promise.Renews = false }, // its lease ended, not its session
	"holds-unsaid-told":        unsaidLoss(10*sec, history.Lost),
	"holds-unsaid-warned":      unsaidLoss(10*sec, history.Suspended), // nobody told it that its lock is safe
	"holds-unsaid-cut": func(b *builder) {
		unsaidLoss(10 * sec)(b)
		b.partition(1900*ms, 6*sec, 2, []string{"client-1"}, b.setup.Servers)
	},
	"violated-unsaid-healed": func(b *builder) {
		unsaidLoss(17 * sec)(b) // TCP may try again for as long as the cut lasted
		b.partition(1900*ms, 6*sec, 2, []string{"client-1"}, b.setup.Servers)
	},
	"holds-unsaid-server-away": func(b *builder) { // which may be the one that it asks
		unsaidLoss(10 * sec)(b)
		b.fault(5*sec, 6*sec, 2, "pause", "server-1")
	},
	"violated-unsaid-other-away": func(b *builder) {
		unsaidLoss(10 * sec)(b)
		b.fault(5*sec, 6*sec, 2, "pause", "client-2")
	},
	"holds-unsaid-stalled": func(b *builder) { unsaidLoss(10 * sec)(b); b.stall(6*sec, "client-1", 300*ms) },
	"holds-unsaid-forgets": func(b *builder) { // its session lives on, and knows of no lock
		unsaidLoss(10 * sec)(b)
		for i, server := range b.setup.Servers {
			b.fault(600*ms, 700*ms, i+2, "crash", server)
		}
	},
	"violated-unsaid-either":      eitherLost(9*sec, ""),
	"holds-unsaid-either-first":   eitherLost(9*sec, "first"),
	"holds-unsaid-either-second":  eitherLost(9*sec, "second"),
	"holds-unsaid-either-shortly": eitherLost(6400*ms, ""), // the second gave it back before the first can have had to know
}

// eitherLost is two holders with sessions of a second, whose requests were sent together, the first of which was then paused until 2 s;
// the second holds on until a time, the first until 10 s, and one of them is told of a loss at 5 s.
func eitherLost(until int64, told string) func(*builder) {
	return func(b *builder) {
		b.setup.Promise.Session, b.setup.Promise.Renews, b.setup.Servers = true, true, []string{"server-1", "server-2", "server-3"}
		b.setup.Promise.Validity, b.setup.Promise.Token = history.Untold, false
		holds := map[string]*held{"first": b.grantOf(0, 30*ms, "client-1", 0), "second": b.grantOf(10*ms, 1500*ms, "client-2", 0)}
		b.fault(200*ms, 2*sec, 1, "pause", "client-1")
		for name, h := range holds {
			b.sent(h, 15*ms)
			if name == told {
				b.note(5*sec, h, history.Lost)
			}
		}
		b.does(until, holds["second"], history.Release, history.OK)
		b.does(10*sec, holds["first"], history.Release, history.Fail)
	}
}
