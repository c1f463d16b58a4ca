package hunt

import (
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/scenarios"
)

// comesBack has clients die and start again under their names, as programs do that are deployed anew: what the new life knows is what it
// learns as it opens its session. By turns servers are away at that time, or what the old life has held or asked is not over.
func comesBack(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	t.Lease = fixed(s.Leases[max(len(s.Leases)-1-d.IntN(2), 0)]) // a program takes a while to start
	turn := d.visit
	if d.visit /= 2; turn%2 == 0 {
		return openedWithout(d, s, t)
	}
	return secondLife(d, s, t)
}

// openedWithout has clients open their sessions while servers are away, all of them or some: what they took for granted then, they
// still do when the servers are back, beside others who know better. Every other time it is most servers, out of reach of one client.
func openedWithout(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	if slices.Contains(s.Workloads, usual) && !d.one(3) {
		t.Workload = usual
	}
	t.Keys, t.Clients, t.Renew = 1, 2+d.IntN(3), s.Extends && d.one(2)
	t.Work, t.Think, t.Wait = leases(d.log(0.1, 1)), someOrNone(d, 0.01, 0.2), leases(d.log(4, 10))
	long := min(2*(1+s.Bound.Seconds()/t.Lease.Of(0).Seconds())+2, 10) // beyond what the dead have left behind, and what is owed then
	gone := scenarios.Fault{Fault: []string{"kill", "pause", "partition"}[d.visit/2%3], Target: pick(d, fewServers), At: leases(0.1),
		For: span(leases(d.log(long-0.5, long+0.5)))}
	if gone.Target == "reached" || d.one(2) {
		gone.Target = "minority"
	}
	opened := t.Clients
	if d.visit%2 == 1 {
		opened = 1
		gone.Fault, gone.Target = pick(d, []string{"partition", "blackhole", "reset"}), "client-1"
		if gone.To = "majority"; gone.Fault == "partition" {
			gone.From, gone.To = "majority", ""
		}
	} else if d.one(3) {
		opened = 1 + d.IntN(t.Clients-1)
	}
	t.Faults = []scenarios.Fault{gone}
	for n := range opened {
		t.Faults = append(t.Faults, scenarios.Fault{Fault: "kill", Back: true, Target: fmt.Sprintf("client-%d", n+1),
			After: scenarios.After{Fault: "fault-1", When: nemesis.WhenBegun}, At: leases(d.log(0.02, 0.5)), For: span(leases(d.log(0.02, 0.3)))})
	}
	t.Duration = leases(gone.For.Max.Leases + d.log(3, 5))
	return t
}

// secondLife has a client come back while the lease of its old life runs, asking for less time than that, or for more; every other time a
// request of the old life arrives when the new one is at work.
func secondLife(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	if shared := s.shared(); len(shared) > 0 && d.one(2) {
		t.Workload = pick(d, shared)
	} else if slices.Contains(s.Workloads, usual) {
		t.Workload = usual
	}
	t.Keys, t.Clients, t.Renew = 1, 2+d.IntN(2), s.Extends && d.one(2)
	t.Work, t.Think, t.Wait, t.Duration = leases(d.log(0.2, 1)), someOrNone(d, 0.01, 0.1), leases(d.log(0.1, 0.7)), leases(2*comebacks+1)
	if d.one(2) {
		t.Wait = leases(d.log(2, 6))
	}
	at := []string{"acquired", "releasing", "before-write", "waiting"}
	for n := range comebacks {
		dies := scenarios.Fault{Fault: "kill", Back: true, Target: "holder", On: at[(d.visit/2+n)%len(at)],
			For: span(leases(d.log(0.02, 0.4)))}
		if n > 0 { // the first is at once: whoever counts its holds is at the first one in both lives
			dies.At = leases(2 * float64(n))
		}
		if d.visit%2 == 1 {
			held := scenarios.Fault{Fault: "hold-request", Target: fmt.Sprintf("client-%d", n%t.Clients+1),
				On: []string{"releasing", "waiting", "releasing"}[n%3], At: dies.At, For: span(leases(d.log(0.3, 1.5)))}
			if d.one(2) {
				held.When = scenarios.When{Contains: "key-1"} // the new life is not held up
			}
			t.Faults = append(slices.Clone(t.Faults), held)
			dies.Target, dies.On, dies.At = held.Target, "", leases(d.log(0.01, 0.1))
			dies.After = scenarios.After{Fault: fmt.Sprintf("fault-%d", 2*n+1), When: nemesis.WhenBegun}
		}
		t.Faults = append(slices.Clone(t.Faults), dies)
	}
	return t
}

// comebacks are the deaths of one trial.
const comebacks = 3
