package hunt

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/scenarios"
)

// die is where all chance of a trial comes from: one seed.
type die struct{ *rand.Rand }

func newDie(seed uint64) die { return die{rand.New(rand.NewPCG(seed, 16))} }

// one says yes once in n times.
func (d die) one(n int) bool { return d.IntN(n) == 0 }

func pick[T any](d die, all []T) T { return all[d.IntN(len(all))] }

// log is drawn evenly on a logarithmic scale: as often between 10 and 20 as between 100 and 200.
func (d die) log(low, high float64) float64 {
	return math.Exp(math.Log(low) + d.Float64()*(math.Log(high)-math.Log(low)))
}

// leases is a time in leases as a person writes it, with two digits that count.
func leases(n float64) scenarios.Duration {
	unit := 0.01
	if n > 1 {
		unit = 0.1
	}
	return scenarios.Duration{Leases: math.Max(math.Round(n/unit), 1) / math.Round(1/unit)}
}

// Draw is the trial of a seed: the same for the same seed and space. A fault that the
// scenario's own validation or Space.Cannot refuses is drawn again.
func Draw(seed uint64, s Space) scenarios.Scenario {
	d := newDie(seed)
	t := s.loop(s.workload(d), s.lease(d))
	for _, dimension := range dimensions {
		t = s.kept(t, dimension(d, s, t))
	}
	count := []int{0, 1, 1, 1, 1, 2, 2, 2, 3, mostFaults}[d.IntN(10)]
	if c, ok := s.themed(d, t); ok && !d.one(3) {
		t, count = c, []int{0, 0, 0, 1}[d.IntN(4)]
	}
	for range count {
		t = s.with(d, t, len(t.Faults))
	}
	t.Name = fmt.Sprintf("trial-%d", seed)
	return s.asleep(t)
}

// workload is the guarded write in one of three: all that a lock can break breaks there.
func (s Space) workload(d die) string {
	if slices.Contains(s.Workloads, usual) && d.one(3) {
		return usual
	}
	return pick(d, s.Workloads)
}

// usual is the plain use of a lock.
const usual = "guarded-write"

// lease is the shortest in most trials.
func (s Space) lease(d die) time.Duration {
	if !d.one(4) {
		return s.Leases[0]
	}
	return pick(d, s.Leases)
}

// kept is the changed trial where it can be run, else the one before.
func (s Space) kept(before, after scenarios.Scenario) scenarios.Scenario {
	if after = fitted(after); s.trouble(after) != "" {
		return before
	}
	return after
}

// dimensions are what is drawn of a trial beside its faults, each changed alone by a mutation.
var dimensions = []func(die, Space, scenarios.Scenario) scenarios.Scenario{
	func(d die, s Space, t scenarios.Scenario) scenarios.Scenario { // the first stays as drawn in most
		if d.one(3) {
			t.Workload = s.workload(d)
		}
		return t
	},
	func(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
		t.Clients = int(math.Round(d.log(1.6, float64(s.Clients)+0.4)))
		t.Clients = max(t.Clients, 2)
		return t
	},
	func(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
		t.Keys = []int{1, 1, 1, 1, 2, 3}[d.IntN(6)]
		return t
	},
	func(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
		t.Renew = s.Extends && d.one(2)
		return t
	},
	func(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
		if d.one(2) { // about as long as a lease: what ends it comes into the midst of work and release
			t.Work = leases(d.log(0.4, 2))
			return t
		}
		t.Work = someOrNone(d, 0.005, 0.4)
		return t
	},
	func(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
		t.Think = someOrNone(d, 0.005, 1)
		return t
	},
	func(d die, s Space, t scenarios.Scenario) scenarios.Scenario { // both kinds of holders in most
		t.Patience = pick(d, []string{"", "", scenarios.Patient, scenarios.Impatient})
		return t
	},
	func(d die, s Space, t scenarios.Scenario) scenarios.Scenario { // shorter than a lease, and longer
		t.Wait = leases(d.log(0.1, 1))
		if !d.one(4) {
			t.Wait = leases(d.log(1, 6))
		}
		return t
	},
	func(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
		t.Lease = fixed(s.lease(d))
		return t
	},
}

func someOrNone(d die, low, high float64) scenarios.Duration {
	if d.one(6) {
		return scenarios.Duration{}
	}
	return leases(d.log(low, high))
}

// asleep notes what a fault on a disk needs: servers that promised to keep all must not lose
// it, so that a crash excuses nothing.
func (s Space) asleep(t scenarios.Scenario) scenarios.Scenario {
	t.Fsync = ""
	if slices.ContainsFunc(t.Faults, func(f scenarios.Fault) bool {
		return history.FaultOf(f.Fault).EndsLeases || history.FaultOf(f.Fault).Disk
	}) {
		if durable := t; s.Servers {
			durable.Fsync = "always"
			return s.kept(t, durable)
		}
	}
	return t
}

// redraws is how often a fault is drawn until it can be; then it is left out.
const redraws = 60

// with is the trial with another fault at a place.
func (s Space) with(d die, t scenarios.Scenario, place int) scenarios.Scenario {
	for range redraws {
		c := t
		c.Faults = slices.Clone(t.Faults)
		f := s.fault(d, c.Faults[:place])
		if place < len(c.Faults) {
			f.Name = c.Faults[place].Name // others may come after it
			c.Faults[place] = f
		} else {
			f.Name = unused(c.Faults)
			c.Faults = append(c.Faults, f)
		}
		if c = s.asleep(c); s.trouble(c) == "" {
			for i := range c.Faults {
				c.Faults[i].Optional = true // it gives way where another is in its way
			}
			return c
		}
	}
	return t
}

// unused is a name that no fault has.
func unused(all []scenarios.Fault) string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("fault-%d", n)
		if !slices.ContainsFunc(all, func(f scenarios.Fault) bool { return f.Name == name }) {
			return name
		}
	}
}

// fault draws one fault, which may come after one of those before it. What it draws may be
// nonsense: the validation knows better.
func (s Space) fault(d die, before []scenarios.Fault) scenarios.Fault {
	kind := pick(d, s.kinds())
	f := scenarios.Fault{Fault: kind.Name, Count: 1, On: "at", For: span(leases(d.log(0.01, 3)))}
	if d.one(3) { // what ends a lease
		f.For = span(leases(d.log(0.8, 3)))
	}
	s.trigger(d, &f, before)
	switch {
	case kind.Link:
		s.link(d, kind, &f)
	case kind.Disk:
		f.Target = pick(d, onServers)
		f.Mode = map[bool]string{true: "", false: "torn"}[kind.Name != "crash" || !d.one(4)]
	case kind.Name == "partition":
		partition(d, &f)
	case kind.Name == "clock":
		f.Target, f.Clock = pick(d, slices.Concat(onServers, onClients)), bent(d)
	case kind.Name == "stall-worker":
		f.Target = "holder"
	default:
		f.Target = pick(d, slices.Concat(onServers, onClients, onClients))
	}
	switch {
	case f.On == "at" && d.one(6):
		f.Count, f.Every = 2+d.IntN(3), leases(d.log(0.02, 1))
	case f.On != "at" && d.one(6):
		f.For.Until = pick(d, untils)
	}
	return f
}

// kinds are the faults that there can be: those of the servers only where there are some.
func (s Space) kinds() []history.FaultKind {
	if s.Servers {
		return history.FaultKinds
	}
	return slices.DeleteFunc(slices.Clone(history.FaultKinds), func(k history.FaultKind) bool { return k.Disk })
}

// Roles and triggers, in an order that no map decides.
var (
	onClients = []string{"holder", "a-client", "a-waiter", "clients"}
	onServers = roles("a-server", "a-follower", "leader", "minority", "majority", "servers", "reached",
		"a-quorum-member-of-the-holder")
	checkpoints = slices.Sorted(maps.Keys(nemesis.Checkpoints))
	shapes      = slices.Sorted(maps.Keys(nemesis.Shapes))
	untils      = slices.Sorted(maps.Keys(nemesis.Untils))
	farEnds     = slices.Sorted(maps.Keys(nemesis.FarEnds))
)

// roles are the names of targets that there are: a slip does not pass a start of the program.
func roles(names ...string) []string {
	for _, n := range names {
		if nemesis.Targets[n] == "" {
			panic("hunt: no target is named " + n)
		}
	}
	return names
}

// trigger draws when a fault comes: at a checkpoint of a client, at a time, or after another.
func (s Space) trigger(d die, f *scenarios.Fault, before []scenarios.Fault) {
	switch {
	case len(before) > 0 && d.one(3):
		f.After = scenarios.After{Fault: pick(d, before).Name,
			When: pick(d, []string{nemesis.WhenBegun, nemesis.WhenHealed})}
		f.At = leases(d.log(0.01, 1))
	default:
		f.At = leases(d.Float64() * loadLeases / 2)
	}
	if !d.one(4) {
		f.On = pick(d, checkpoints)
	}
}

// link draws what a fault of a client's links needs.
func (s Space) link(d die, kind history.FaultKind, f *scenarios.Fault) {
	f.Target = pick(d, nemesis.Ones)
	if d.one(3) {
		f.To = pick(d, farEnds)
	}
	switch kind.Name {
	case "latency":
		f.Latency = fixed(time.Duration(d.log(1, 500)) * time.Millisecond)
		f.Jitter = fixed(time.Duration(d.Float64() * float64(f.Latency.Fixed)).Round(time.Millisecond))
	case "bandwidth":
		f.Rate = int(d.log(100, 100_000))
	}
	if kind.Message && (kind.MessageOnly || !d.one(4)) {
		s.message(d, f)
	}
}

// message draws the message that a fault waits for: the first, second or third request that names a key,
// whatever it is called, or one that was learnt.
func (s Space) message(d die, f *scenarios.Fault) {
	f.When = scenarios.When{Contains: "key-1", Skip: []int{0, 0, 1, 1, 2, 3}[d.IntN(6)], After: d.one(2)}
	if len(s.Messages) > 0 && d.one(2) {
		m := pick(d, s.Messages)
		f.When = scenarios.When{Direction: string(m.Direction), Name: m.Name, Contains: m.Contains,
			Skip: []int{0, 0, 0, 0, 1, 1, 2, 5}[d.IntN(8)], After: d.one(2)}
	}
}

func partition(d die, f *scenarios.Fault) {
	f.Direction = pick(d, []string{"", "", "in", "out"})
	if d.one(4) {
		f.Target = pick(d, shapes)
		return
	}
	f.Target = pick(d, slices.Concat(onServers, onClients))
	if d.one(2) {
		f.From = pick(d, slices.Concat([]string{"servers"}, onServers, onClients))
	}
}

// bent draws how clocks go wrong: a step, a strobe, or a wrong rate.
func bent(d die) scenarios.Clock {
	switch d.IntN(4) {
	case 0:
		return scenarios.Clock{Strobe: leases(d.log(0.1, 3)), Every: leases(d.log(0.05, 0.5)), Back: d.one(2)}
	case 1:
		return scenarios.Clock{Drift: math.Round((d.Float64()-0.5)*20) / 100}
	}
	return scenarios.Clock{Step: leases(d.log(0.1, 5)), Back: d.one(2)}
}
