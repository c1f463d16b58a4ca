package hunt

import "github.com/dlmtest/dlmtest/scenarios"

// lateRenewal holds up renewals, or their answers, of holders that wait for them.
func lateRenewal(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	t.Keys, t.Renew, t.Patience = 1, true, pick(d, []string{scenarios.Patient, scenarios.Patient, scenarios.Impatient})
	t.Work, t.Wait, t.Duration = leases(d.log(1, 3)), leases(d.log(2, 8)), leases(d.log(3, 6))
	t.Faults = []scenarios.Fault{{Fault: next(d, []string{"hold-answer", "hold-request", "blackhole", "reset", "stall-worker"}),
		Target: "holder", On: "renewing", For: span(leases(d.log(0.2, 2)))}}
	return t
}

// lateRelease has clients that go on without the answer to a release and soon ask again, while the request is still on its way.
func lateRelease(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	t.Keys, t.Clients, t.Renew, t.ReleaseWait = 1, 2+d.IntN(2), s.Extends && d.one(2), leases(d.log(0.03, 0.3))
	t.Work, t.Think, t.Wait, t.Duration = leases(d.log(0.05, 1)), someOrNone(d, 0.005, 0.2), leases(d.log(1, 4)), leases(d.log(3, 5))
	f := scenarios.Fault{Fault: next(d, []string{"hold-request", "partition", "pause", "hold-request", "partition", "hold-answer", "blackhole"}),
		Target: "holder", On: "releasing", At: leases(d.log(0.05, 1)), Count: 3, Every: leases(d.log(0.05, 0.5)), For: span(leases(d.log(0.3, 1.5)))}
	switch {
	case f.Fault == "pause": // who releases runs on
		f.Target = pick(d, fewServers)
	case f.Fault == "partition": // a server that was asked passes it on late; a short cut, for packets are sent again ever more seldom
		f.Target, f.From, f.For, f.Count = pick(d, []string{"a-follower", "a-server"}), "servers", span(leases(d.log(0.1, 0.5))), 6
		t.Work, t.Duration = leases(d.log(0.3, 0.8)), leases(d.log(5, 8))
	case d.visit%2 == 0: // the next request takes another connection
		f.When = scenarios.When{Contains: "key-1"}
	}
	t.Faults = []scenarios.Fault{f}
	return t
}
