package hunt

import (
	"slices"

	"github.com/dlmtest/dlmtest/scenarios"
)

// resets breaks connections as locks are asked for, renewed and given back, of who does so and of who waits meanwhile: all of a
// client's at once, or the one of a message. They work again before a session ends. Each trial has some of the breaks, in turn.
func resets(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	t.Keys, t.Clients, t.Renew, t.Wait = 1, 2+d.IntN(3), s.Extends && d.one(2), leases(d.log(4, 9))
	if d.one(2) {
		t.Wait = leases(d.log(0.3, 4))
	}
	t.Work, t.Think, t.Duration = leases(d.log(0.05, 1.5)), someOrNone(d, 0.005, 1), leases(1.2*broken+1)
	// Who has lost the lock with its connection, and is not told, is seen by a hold that goes on, and by who waits for it
	if (s.Renews || s.Endless) && d.visit%2 == 1 {
		t.Work, t.Wait = leases(d.log(1.3, 3)), leases(d.log(4, 9))
	}
	for n := range broken {
		f := breaks[(d.visit*broken+n)%len(breaks)]
		f.At, f.For = leases(0.05+1.2*float64(n)), span(leases(d.log(0.02, 0.4)))
		if f.On == "renewing" && !t.Renew { // it does not, or nobody sees when it does
			f.On = "acquired"
		}
		if f.Fault != oneMessage && d.one(3) {
			f.Count, f.Every = 2+d.IntN(3), leases(d.log(0.05, 0.3))
		}
		if f.Fault == oneMessage && f.On == "waiting" && d.one(2) {
			s.message(d, &f)
		}
		t.Faults = append(slices.Clone(t.Faults), f)
	}
	return t
}

// broken are the connections that one trial breaks.
const broken = 5

// breaks are where connections break.
var breaks = []scenarios.Fault{
	{Fault: "reset", Target: "a-waiter", On: "releasing"},
	{Fault: oneMessage, Target: "holder", On: "releasing", When: scenarios.When{Contains: "key-1"}},
	{Fault: oneMessage, Target: "holder", On: "waiting", When: scenarios.When{Contains: "key-1", After: true}},
	{Fault: "reset", Target: "holder", On: "renewing"},
	{Fault: "reset", Target: "clients", On: "releasing"},
	{Fault: "reset", Target: "holder", On: "waiting"},
	{Fault: oneMessage, Target: "holder", On: "releasing", When: scenarios.When{Contains: "key-1", After: true}},
	{Fault: "reset", Target: "a-waiter", On: "acquired"},
	{Fault: oneMessage, Target: "holder", On: "renewing", When: scenarios.When{Contains: "key-1"}},
	{Fault: oneMessage, Target: "holder", On: "waiting", When: scenarios.When{Contains: "key-1"}},
	{Fault: "reset", Target: "holder", On: "acquired"},
	{Fault: "reset", Target: "a-waiter", On: "writing"},
}
