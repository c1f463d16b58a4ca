package hunt

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/scenarios"
)

// The themes of servers.

// serverAway takes servers away while a lock is held, and for as long as all have to notice.
func serverAway(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	t.Keys, t.Renew, t.Work = 1, s.Extends && !d.one(5), leases(d.log(0.5, 2.5))
	// One that was killed refuses, one that is paused or cut off says nothing: then the key is often free for nearly all of the time.
	how := next(d, []string{"kill", "pause", "kill", "partition", "pause", "disk-stall"})
	if how != "kill" && d.one(2) {
		t.Work = someOrNone(d, 0.02, 0.3)
	}
	long := s.longest(t)
	length := d.log(0.3, long)
	if !d.one(3) {
		length = d.log(long/1.3, long)
	}
	t.Wait, t.Duration = leases(d.log(max(2, length), max(8, 1.5*length))), leases(max(d.log(2, 4), length+0.5)) // who is owed the key goes on asking
	t.Faults = []scenarios.Fault{{Fault: how, For: span(leases(length)),
		Target: pick(d, onServers), On: pick(d, []string{"acquired", "acquired", "before-write", "renewing", "waiting", "releasing"})}}
	if !d.one(5) { // without a majority no lock of several servers does anything
		t.Faults[0].Target = pick(d, fewServers)
	}
	return t
}

// badLeader takes the leader away from servers, clients or its disk, for longer than an election and a lease. Of a disk that stalls
// it does not know, so that is tried most; one that is killed is a server that is away.
func badLeader(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	t.Renew, t.Wait, t.Keys = s.Extends, leases(d.log(0.5, 8)), pick(d, []int{1, 1, 2, 3})
	t.Work, t.Think, t.Duration = leases(d.log(0.3, 4)), someOrNone(d, 0.01, 0.2), leases(d.log(3, 6))
	long := s.longest(t)
	f := scenarios.Fault{Fault: next(d, []string{"disk-stall", "partition", "disk-stall", "pause", "partition"}), Target: "leader",
		On: pick(d, []string{"at", "acquired", "before-write", "renewing"}), At: leases(d.log(0.05, 1)), For: span(leases(d.log(1.5, long)))}
	if t.Clients = max(t.Clients, 3); f.Fault == "pause" { // a short one too: the others have just chosen another
		f.For = span(leases(d.log(0.7, 3)))
	}
	if f.Fault == "partition" {
		f.From, f.Direction = pick(d, []string{"", "", "servers"}), pick(d, []string{"", "", "in", "out"})
		if !d.one(3) {
			f.For = span(leases(d.log(long/1.3, long)))
		}
		if t.Duration = leases(max(d.log(3, 6), f.For.Max.Leases+1.5)); d.one(2) { // somebody asks for a free key until it was owed
			t.Work = someOrNone(d, 0.02, 0.3)
		}
	}
	if slices.Contains(history.FaultsThat(func(k history.FaultKind) bool { return k.Disk }), f.Fault) {
		// Many sessions are at stake, and others ask again and again: a write is under way.
		t.Clients = s.Clients
		t.Keys, t.Wait, f.For = max(2, s.Clients/2+d.IntN(s.Clients/3)), leases(d.log(0.3, 1)), span(leases(d.log(1.5, 3)))
	}
	t.Faults = []scenarios.Fault{f}
	return t
}

// mostAway takes most servers away from the one that holds a lock, or from all, for longer than a lease: it renews with those that are left,
// and works on until the others are back. Every other time it is one that asks, again and again, while others have most servers in reach and
// hold the lock in turn, or all that ask find most servers dead. A lock of several servers must not count what few of them say.
func mostAway(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	gone := d.log(1.2, 2.5)
	t.Keys, t.Clients, t.Renew = 1, 2+d.IntN(min(s.Clients-1, 3)), s.Extends && !d.one(6)
	t.Work, t.Wait, t.Duration = leases(gone+d.log(0.5, 2)), leases(d.log(4, 10)), leases(d.log(3, 6))
	asks := d.visit%2 == 1
	d.visit /= 2
	f := scenarios.Fault{Fault: next(d, []string{"partition", "pause", "hold-request", "kill", "blackhole", "hold-answer"}), For: span(leases(gone)),
		Target: "holder", On: pick(d, []string{"acquired", "acquired", "renewing", "before-write"}), At: leases(d.log(0.01, 0.5))}
	if asks {
		t.Work, t.Think, t.Wait = leases(d.log(0.3, 1.5)), someOrNone(d, 0.01, 0.2), leases(d.log(0.5, 4))
		f.Fault, f.Target, f.On = next(d, []string{"kill", "partition", "kill", "blackhole"}), "client-1", "waiting"
		f.For = span(leases(d.log(0.7, 4)))
	}
	switch {
	case f.Fault == "partition":
		f.From = "majority"
	case slices.Contains(nemesis.OnLinks, f.Fault):
		f.To = "majority"
	default:
		f.Target = "majority"
	}
	t.Faults = []scenarios.Fault{f}
	return t
}

// longest is how many leases a fault of servers lasts at most: beyond a lease and the bound, so that whoever
// has to be granted the key by then was owed it.
func (s Space) longest(t scenarios.Scenario) float64 {
	return min(max(3, 1.5*(1+s.Bound.Seconds()/t.Lease.Of(0).Seconds())), 10)
}
