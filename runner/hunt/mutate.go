package hunt

import (
	"fmt"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Mutate is a trial that differs from another in one dimension, drawn from a seed; turn is for Draw, where nothing can be changed.
func Mutate(seed uint64, turn int, s Space, from scenarios.Scenario) scenarios.Scenario {
	d := newDie(seed)
	for range redraws {
		t := from
		t.Faults = slices.Clone(from.Faults)
		t = s.kept(from, s.asleep(s.changed(d, t)))
		t.Name = from.Name
		if string(t.YAML()) != string(from.YAML()) {
			t.Name = fmt.Sprintf("trial-%d", seed)
			return t
		}
	}
	return Draw(seed, turn, s)
}

// changed changes one thing: a fault in three of four.
func (s Space) changed(d die, t scenarios.Scenario) scenarios.Scenario {
	n := len(t.Faults)
	switch {
	case d.one(4):
		return pick(d, dimensions)(d, s, t)
	case n < mostFaults && d.IntN(n+2) == 0 || n == 0:
		return s.with(d, t, n)
	case n > 1 && d.one(4):
		return without(t, d.IntN(n))
	case d.one(4):
		return s.with(d, t, d.IntN(n))
	}
	f := &t.Faults[d.IntN(n)]
	switch d.IntN(5) {
	case 0:
		f.For = span(leases(d.log(0.01, 3)))
	case 1:
		f.At = leases(d.Float64() * loadLeases)
	case 2:
		f.On = pick(d, checkpoints)
	case 3:
		f.Target = pick(d, slices.Concat(onServers, onClients, nemesis.Ones))
		f.Back = f.Back && slices.Contains(onClients, f.Target)
	case 4:
		if f.When == (scenarios.When{}) {
			f.For = span(leases(f.For.Max.Leases * d.log(0.5, 2)))
			break
		}
		s.message(d, f)
	}
	return t
}

// How much longer a trial is whose violation came again too seldom, and the most leases that it lasts then.
const (
	stretch = 3
	atMost  = 15
)

// longer is the trial with more time, in which each fault that comes once and is short enough comes more often, where that
// can be run: what chance has shown once has more chances.
func (s Space) longer(t scenarios.Scenario) scenarios.Scenario {
	if t.Duration.Leases == 0 { // no draw of ours
		return t
	}
	t.Duration = leases(min(stretch*t.Duration.Leases, max(atMost, t.Duration.Leases)))
	again := t
	again.Faults = slices.Clone(t.Faults)
	for i := range again.Faults {
		if f := &again.Faults[i]; f.Count == 1 && f.For.Max.Leases < t.Duration.Leases/stretch {
			f.Count, f.Every = stretch, leases(max(1, t.Duration.Leases/stretch))
		}
	}
	if s.trouble(again) == "" {
		return again
	}
	return t
}

// lingered is the trial with the time that its load has taken beyond its own, so that a run of it shows the same.
func lingered(t scenarios.Scenario, more time.Duration) scenarios.Scenario {
	if more == 0 || t.Duration.Leases == 0 {
		return t
	}
	n := more.Seconds()/t.Lease.Of(0).Seconds() + 1 // it may take a little longer next time
	t.Duration, t.After = leases(t.Duration.Leases+n), leases(t.After.Leases+n)
	return t
}

// without is the trial without a fault. What came after that comes by its own time.
func without(t scenarios.Scenario, place int) scenarios.Scenario {
	gone := t.Faults[place].Name
	t.Faults = slices.Delete(t.Faults, place, place+1)
	for i := range t.Faults {
		if t.Faults[i].After.Fault == gone {
			t.Faults[i].After = scenarios.After{}
		}
	}
	return t
}
