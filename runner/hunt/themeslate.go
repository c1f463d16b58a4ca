package hunt

import (
	"slices"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/scenarios"
)

// lateAcquire answers acquires late, when their clients may have asked again, and has them hold on to what they believe to have:
// one after the other, each by another part of a lease. In every other trial clients think for so long that who asks is often granted the
// key at once, as then it is the grant that comes late.
func lateAcquire(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	if slices.Contains(s.Workloads, usual) {
		t.Workload = s.mainly(d)
	}
	t.Keys, t.Clients, t.Renew, t.Think = 1, max(t.Clients, 3), false, someOrNone(d, 0.005, 0.1)
	t.Work, t.Wait, t.Duration = leases(d.log(0.6, 1.3)), leases(d.log(2, 6)), leases(1.5*lates+1)
	if d.visit/2%2 == 0 {
		t.Clients, t.Think = 3, leases(d.log(0.5, 1.5))
	}
	kinds := []string{"hold-answer", "hold-request", "hold-answer", "blackhole"}
	for n := range lates {
		t.Faults = append(slices.Clone(t.Faults), scenarios.Fault{Fault: kinds[(d.visit/2+n)%len(kinds)], Target: "holder", On: "waiting",
			At: leases(0.05 + 1.5*float64(n)), For: span(leases(0.2 + (float64(n)+d.Float64())*0.9/lates))})
	}
	return t
}

// lates are the messages that one trial delays.
const lates = 5

// lateRenewal holds up renewals, or their answers, of holders that wait for them: one until the lease is over, and one so that it is not;
// and of one that asks twice, as by GET and then PEXPIRE, the second request.
func lateRenewal(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	if d.visit%2 == 1 && slices.Contains(s.Workloads, "watchdog") {
		return lateWatchdog(d, t)
	}
	d.visit /= 2
	t.Keys, t.Renew, t.Patience = 1, true, scenarios.Patient
	if d.IntN(6) == 0 {
		t.Patience = scenarios.Impatient
	}
	t.Work, t.Wait, t.Duration = leases(d.log(1, 3)), leases(d.log(3, 8)), leases(d.log(6, 8))
	kinds := []string{"hold-answer", "reset", "blackhole", "hold-answer", "hold-request", "stall-worker"}
	late := func(kind string, at, length float64, when scenarios.When) {
		t.Faults = append(slices.Clone(t.Faults), scenarios.Fault{Fault: kind, Target: "holder", On: "renewing", When: when,
			At: leases(at), For: span(leases(length))})
	}
	late(kinds[d.visit%len(kinds)], 0.1, d.log(0.2, 0.7), scenarios.When{})
	late(kinds[(d.visit+2)%len(kinds)], 1.6, d.log(1.05, 2), scenarios.When{})
	late("hold-request", 3.9, d.log(1.05, 2), scenarios.When{Contains: "key-1", Skip: 1})
	return t
}

// lapsed is a holder that is away for so long that the next one has come and gone before it is back, and nobody holds the key: what it
// asks then, on a grant that is long over, meets nobody who is in its way.
func lapsed(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	if slices.Contains(s.Workloads, usual) {
		t.Workload = s.mainly(d)
	}
	t.Keys, t.Clients, t.Renew, t.Patience = 1, 2+d.IntN(2), s.Extends, pick(d, []string{scenarios.Patient, scenarios.Patient, scenarios.Impatient})
	t.Work, t.Think, t.Wait, t.Duration = leases(d.log(0.4, 0.7)), leases(d.log(1, 2)), leases(d.log(3, 6)), leases(d.log(9, 12))
	on := next(d, []string{"renewing", "releasing", "before-write"})
	if on == "renewing" && !s.Extends {
		on = "acquired"
	}
	f := scenarios.Fault{Target: "holder", On: on, Count: 3, Every: leases(d.log(0.3, 1)), For: span(leases(d.log(1.4, 2.4)))}
	f.Fault = []string{"pause", "hold-request", "pause", "partition"}[d.visit%4]
	if f.Fault == "partition" {
		f.From = "servers"
	}
	if t.Faults = []scenarios.Fault{f}; slices.Contains(s.Workloads, "own-key") && d.visit%5 == 4 { // nobody else ever asks
		t.Workload = "own-key"
	}
	return t
}

// longHold is a holder whose session ends without it, and who holds on, with its links whole, for longer than any lock that tells
// of losses may take to tell it; of a lock that does not, another trial of who is away.
func longHold(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	if !s.Tells || !slices.Contains(s.Workloads, usual) {
		return lapsed(d, s, t)
	}
	t.Workload, t.Clients, t.Keys, t.Renew, t.Lease = usual, 2, 1, false, fixed(s.Leases[0])
	f := scenarios.Fault{Target: "holder", On: "acquired", For: span(leases(d.log(1.4, 2.2)))}
	if f.Fault = []string{"pause", "partition"}[d.visit%2]; s.Endless { // only a broken link ends its session
		f.Fault, f.For = []string{"reset", "partition"}[d.visit%2], span(leases(d.log(0.1, 0.5)))
	}
	if f.Fault == "partition" {
		f.From = "servers"
	}
	t.Work = fixed(checker.Patience(s.Leases[0]) + leases(0.8+2*f.For.Max.Leases).Of(s.Leases[0])) // a cut connection may flow late
	t.Wait, t.Duration = t.Work, t.Work
	t.Faults = []scenarios.Fault{f}
	return t
}

// lateWatchdog is lateRenewal with a watchdog, which may be the lock's own and pass no checkpoint as it renews: all that it asks from the
// grant on is held up.
func lateWatchdog(d die, t scenarios.Scenario) scenarios.Scenario {
	t.Workload, t.Keys, t.Renew = "watchdog", 1, true
	t.Work, t.Wait, t.Duration = leases(d.log(2.2, 4)), leases(d.log(4, 10)), leases(d.log(6, 8))
	kinds := []string{"hold-answer", "blackhole", "hold-request", "partition", "reset"}
	for n, length := range []float64{d.log(1.1, 2), d.log(0.3, 0.8)} {
		f := scenarios.Fault{Fault: kinds[(d.visit/2+2*n)%len(kinds)], Target: "holder", On: "acquired",
			At: leases(3 * float64(n)), For: span(leases(length))}
		if f.Fault == "partition" {
			f.From = "servers"
		}
		t.Faults = append(slices.Clone(t.Faults), f)
	}
	return t
}

// gaveUp has clients give up while one of the messages of an acquire, each in turn, has no answer, and their sessions live on. The
// lease is often the longer one, as a lock may give what it does behind the limit a time of its own.
func gaveUp(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	if slices.Contains(s.Workloads, usual) {
		t.Workload = s.mainly(d)
	}
	if t.Lease = fixed(s.Leases[0]); d.visit%2 == 1 {
		t.Lease = fixed(s.Leases[len(s.Leases)-1])
	}
	wait := d.log(0.06, 0.25)
	t.Keys, t.Clients, t.Renew, t.Work = 1, 2+d.IntN(3), false, someOrNone(d, 0.005, 0.2)
	t.Wait, t.Think, t.Duration = leases(wait), someOrNone(d, 0.05, 1), leases(1.2*swept+1)
	how := []string{"hold-answer", "hold-request"}[d.visit/2%2]
	for n := range swept {
		f := scenarios.Fault{Fault: how, Target: "holder", On: "waiting", When: s.usual(d, 0, n),
			At: leases(0.05 + 1.2*float64(n)), For: span(leases(wait + 0.08 + d.Float64()*(0.6-wait)))}
		t.Faults = append(slices.Clone(t.Faults), f)
	}
	return t
}

// leftAway has clients give up while their links are away, as another holds what they wait for, and their sessions live on: what they could not
// take back then stands in the way of all.
func leftAway(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	if slices.Contains(s.Workloads, usual) {
		t.Workload = s.mainly(d)
	}
	wait, n := d.log(0.12, 0.3), len(s.Leases) // of a long lease, as an acquire may take several messages until it has something to leave
	t.Keys, t.Clients, t.Renew, t.Lease = 1, 3+d.IntN(min(s.Clients-2, 3)), false, fixed(s.Leases[n-1-d.visit%min(n, 2)])
	t.Work, t.Wait, t.Think, t.Duration = leases(d.log(0.5, 0.9)), leases(wait), someOrNone(d, 0.01, 0.1), leases(1.2*left+1)
	kinds := []string{"reset", "blackhole", "reset", "partition"}
	for n := range left {
		f := scenarios.Fault{Fault: kinds[(d.visit+n)%len(kinds)], Target: "a-waiter", On: "acquired", At: leases(0.05 + 1.2*float64(n)),
			For: span(leases(0.03 + wait*(1+0.4*d.Float64())))} // who tries again ever more seldom is back for its session
		if f.Fault == "partition" {
			f.From = "servers"
		}
		t.Faults = append(slices.Clone(t.Faults), f)
	}
	return t
}

// left are the waits that one trial has end so.
const left = 5

// lateRelease has releases that arrive, or are answered, when the lease is over or another has the key, or not at all:
// each strike at another release of clients that wait for the answer; and of clients that go on without it and soon ask
// again, while the request is still on its way.
func lateRelease(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	if slices.Contains(s.Workloads, usual) {
		t.Workload = s.mainly(d) // another key would be released late, too
	}
	t.Keys, t.Clients, t.Renew = 1, 2+d.IntN(2), s.Extends && d.one(3)
	t.Think, t.Wait = someOrNone(d, 0.005, 0.2), leases(d.log(2, 6))
	if d.visit%2 == 1 {
		return goingOn(d, t)
	}
	work, rest := d.log(0.3, 0.9), 1.0 // of the lease at most, once it is released
	if !t.Renew {
		rest = 1 - work
	}
	t.Work, t.Duration = leases(work), leases(1.7*float64(len(strikes)))
	first := d.visit / 2
	for n := range strikes {
		how := strikes[(first+n)%len(strikes)]
		f := scenarios.Fault{Fault: how.fault, Target: "holder", On: "releasing", At: leases(0.05 + 1.6*float64(n)),
			For: span(leases(rest + d.log(0.1, 0.6)))}
		if how.fault != "hold-answer" {
			f.When = scenarios.When{Contains: "key-1", Skip: how.skip, After: how.after} // what is not held takes another connection
		}
		if how.fault == oneMessage { // a session that is over in the meantime takes with it what a release has left
			f.For = span(leases(d.log(0.02, 0.5)))
		}
		t.Faults = append(slices.Clone(t.Faults), f)
	}
	return t
}

// strikes are what becomes of a release whose client waits for the answer.
var strikes = []struct {
	fault string
	skip  int // messages of the key that pass before
	after bool
}{{fault: "hold-answer"}, {fault: oneMessage}, {fault: "hold-request", skip: 1}, {fault: oneMessage, after: true}}

// oneMessage is a fault that strikes at one message alone, and breaks its connection there.
var oneMessage = history.FaultsThat(func(k history.FaultKind) bool { return k.MessageOnly })[0]

// goingOn strikes at releases whose clients go on without the answer.
func goingOn(d die, t scenarios.Scenario) scenarios.Scenario {
	t.Work, t.Duration, t.ReleaseWait = leases(d.log(0.05, 1)), leases(d.log(3, 5)), leases(d.log(0.03, 0.3))
	f := scenarios.Fault{Fault: []string{"hold-request", "partition", "pause", "hold-request", "blackhole"}[d.visit/2%5], Target: "holder", On: "releasing",
		At: leases(d.log(0.05, 1)), Count: 3, Every: leases(d.log(0.05, 0.5)), For: span(leases(d.log(0.3, 1.5)))}
	switch {
	case f.Fault == "pause": // who releases runs on
		f.Target = pick(d, fewServers)
	case f.Fault == "partition": // a server that was asked passes it on late; a short cut, for packets are sent again ever more seldom
		f.Target, f.From, f.For, f.Count = pick(d, []string{"a-follower", "a-server"}), "servers", span(leases(d.log(0.1, 0.5))), 6
		t.Work, t.Duration = leases(d.log(0.3, 0.8)), leases(d.log(5, 8))
	case f.Fault == "hold-request" && !d.one(3): // the next request takes another connection
		f.When = scenarios.When{Contains: "key-1"}
	}
	t.Faults = []scenarios.Fault{f}
	return t
}
