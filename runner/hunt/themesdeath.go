package hunt

import (
	"slices"

	"github.com/dlmtest/dlmtest/scenarios"
)

// death kills holders in each use of the lock, and who waits for it meanwhile: what they held, and their places, end with their
// leases. Half of them come back. Two of three trials are of what several can hold.
func death(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	uses, use := s.Workloads, d.visit/3
	if shared := s.shared(); d.visit%3 < 2 && len(shared) > 0 {
		uses, use = shared, d.visit-(d.visit+1)/3
	}
	t.Workload = uses[use%len(uses)]
	t.Keys, t.Clients, t.Renew = 1, 3+d.IntN(min(s.Clients-2, 3)), s.Extends && !d.one(3)
	t.Work, t.Wait, t.Duration = leases(d.log(0.5, 2.5)), leases(d.log(3, 8)), leases(d.log(5, 7))
	dies := []string{"before-write", "acquired", "writing", "releasing"}
	for n, target := range []string{"holder", "a-waiter", "holder"} {
		f := scenarios.Fault{Fault: "kill", Target: target, On: dies[(d.visit+n)%len(dies)], At: leases(0.01 + 2.5*float64(n)),
			For: span(leases(d.log(1.1, 4)))}
		if target == "a-waiter" {
			f.On = "acquired"
		}
		if (d.visit+n)%2 == 1 { // it is soon back
			f.Back, f.For = true, span(leases(d.log(0.05, 1)))
		}
		t.Faults = append(slices.Clone(t.Faults), f)
	}
	return t
}

// shared are the uses of the lock in which several holds of a key count.
func (s Space) shared() []string {
	return slices.DeleteFunc(slices.Clone(s.Workloads), func(w string) bool { return !slices.Contains(sharing, w) })
}

// sharing are the uses in which several holds of a key count.
var sharing = []string{"read-write", "semaphore", "reentrant"}

// wrongClock bends the clocks of a client that holds a lock, waits for it or is about to ask, by more than a lease.
func wrongClock(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	t.Keys, t.Renew = 1, s.Extends && d.one(2)
	t.Work, t.Wait, t.Duration = leases(d.log(0.3, 1.5)), leases(d.log(2, 6)), leases(d.log(4, 6))
	f := scenarios.Fault{Fault: "clock", Target: "holder", On: next(d, []string{"acquired", "waiting", "before-write", "renewing", "releasing"}),
		At: leases(d.log(0.05, 1)), For: span(leases(d.log(0.5, 3))), Clock: scenarios.Clock{Step: leases(d.log(1, 6)), Back: d.visit%2 == 1}}
	if d.one(3) {
		f.Target = "a-waiter"
	}
	t.Faults = []scenarios.Fault{f}
	return t
}
