package hunt

import (
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis"
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

// sweep loses one message after the other, each of another acquire: of the requests that come with each use of the lock each
// name has its turn, broken off before it and, in the same trial, after it, or held up. Where a lock asks for several things in turn, so the
// place that matters is met without knowing it. The load goes on until whoever is kept out for good is seen to be.
func sweep(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	t.Keys, t.Clients, t.Work, t.Think = 1, 2+d.IntN(3), leases(d.log(0.01, 0.2)), leases(d.log(0.01, 0.1))
	if t.Wait, t.Duration = leases(d.log(1, 4)), leases(0.7*swept+s.longest(t)); !d.one(3) {
		t.Wait = beyondOwed(t)
	}
	chunks := max((len(s.Usual)+swept-1)/swept, 1)
	how := next(d, sweeps)
	first := (d.visit + d.visit/len(sweeps)) % chunks * swept
	strike := func(n int, at, length float64, after bool) {
		f := scenarios.Fault{Fault: how, Target: "holder", On: "waiting", At: leases(at), For: span(leases(length)), When: s.usual(d, first, n)}
		f.When.After = after
		t.Faults = append(slices.Clone(t.Faults), f)
	}
	for n := range swept {
		if at := 0.05 + 0.7*float64(n); how == oneMessage { // a short one, or its session has ended when it is back
			strike(n, at, d.log(0.02, 0.6), true)
			strike(n, at+0.35, d.log(0.02, 0.6), false)
		} else {
			strike(n, at, d.log(0.1, 2), false)
		}
	}
	return t
}

// cutShort has clients die, stop or lose their links between two requests of an acquire. Who dies, or is cut off, has its request got through,
// and neither its answer nor the next one does, nor what would take it back; who stops has its request arrive when its lease may be over, and finds the
// answer as it goes on. Each request that comes with each use of the lock has its turn, and all in one trial the same.
func cutShort(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	t.Keys, t.Clients, t.Work, t.Think = 1, 3, leases(d.log(0.01, 0.1)), leases(d.log(0.2, 0.6)) // who asks mostly finds the key free
	t.Wait, t.Duration = beyondOwed(t), leases(2*shortened+s.longest(t))
	chunks, how := max((len(s.Usual)+shortened-1)/shortened, 1), next(d, []string{"kill", "pause", "blackhole"})
	for n := range shortened {
		who, long := fmt.Sprintf("client-%d", n+1), d.log(1.1, 1.6)
		held := scenarios.Fault{Fault: "hold-answer", Target: who, On: "waiting", At: leases(0.05 + 2*float64(n)), For: span(leases(d.log(0.1, 0.3))),
			When: scenarios.When{Contains: "key-1", Skip: n}}
		if d.visit/3%2 == 1 {
			held.When = s.usual(d, d.visit/6%chunks*shortened, n)
		}
		gone := scenarios.Fault{Fault: how, Target: who, At: leases(0.01),
			After: scenarios.After{Fault: fmt.Sprintf("fault-%d", 2*n+1), When: nemesis.WhenBegun}, For: span(leases(long))}
		if gone.Fault == "pause" {
			held.Fault, held.For = "hold-request", span(leases(long-0.1))
		}
		t.Faults = append(slices.Clone(t.Faults), held, gone)
	}
	return t
}

// shortened are the acquires that one trial cuts short, each of another client.
const shortened = 3

// usual is the n-th message of a trial that strikes at one after the other, from the first of those that come with each use
// of the lock: by its name, or the n-th that names the key, whatever it is called.
func (s Space) usual(d die, first, n int) scenarios.When {
	if len(s.Usual) > 0 && (len(s.Usual) >= swept || d.one(2)) {
		m := s.Usual[(first+n)%len(s.Usual)]
		return scenarios.When{Direction: string(m.Direction), Name: m.Name, Contains: m.Contains}
	}
	return scenarios.When{Contains: "key-1", Skip: n}
}

// swept are the messages that one trial of a sweep loses.
const swept = 6

// sweeps are what becomes of the messages of a sweep.
var sweeps = append([]string{oneMessage}, history.FaultsThat(func(k history.FaultKind) bool { return k.Message && !k.MessageOnly })...)
