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
	"github.com/dlmtest/dlmtest/runner/matrix"
	"github.com/dlmtest/dlmtest/scenarios"
)

// die is where all chance of a trial comes from: one seed.
type die struct {
	*rand.Rand
	visit int // how many trials on the same theme were drawn before
}

func newDie(seed uint64) die { return die{Rand: rand.New(rand.NewPCG(seed, 16))} }

// one says yes once in n times.
func (d die) one(n int) bool { return d.IntN(n) == 0 }

func pick[T any](d die, all []T) T { return all[d.IntN(len(all))] }

// next is chosen in turn, one visit after the other: in few trials chance leaves things out.
func next[T any](d die, all []T) T { return all[d.visit%len(all)] }

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

// Draw is the trial of a seed, on the theme of its turn among the drawn ones: the same for the same seed, turn and
// space. A fault that the scenario's own validation or Space.Cannot refuses is drawn again.
func Draw(seed uint64, turn int, s Space) scenarios.Scenario {
	d := newDie(seed)
	t := s.loop(s.workload(d), s.lease(d))
	for _, dimension := range dimensions {
		t = s.kept(t, dimension(d, s, t))
	}
	count := []int{0, 1, 1, 1, 1, 2, 2, 2, 3, mostFaults}[d.IntN(10)]
	if c, ok := s.themed(d, turn, t); ok {
		t, count = c, []int{0, 0, 0, 1}[d.IntN(4)]
	}
	for range count {
		t = s.with(d, t, len(t.Faults))
	}
	t.Name = fmt.Sprintf("trial-%d", seed)
	return s.asleep(t)
}

// usesEach is how many trials without a fault each use of the lock has.
const usesEach = 3

// plain is how many trials of a hunt have no fault.
func (s Space) plain() int { return usesEach * len(s.Workloads) }

// between is how many trials there are from one plain use to the next, once each use of the lock was tried.
const between = 3

// plainly is which plain use the trial of a number is, from 0, or -1; n is how many others this shard has before it. Each use of the
// lock comes first, and the others come between what is drawn: in a hunt of minutes, half of the time would else be over before a fault.
func (s Space) plainly(number int, shard matrix.Shard) (use, n int) {
	first := len(s.Workloads)
	if number <= first {
		return number - 1, 0
	}
	count, behind := max(shard.Count, 1), number-1-first
	own, left := behind/count, s.plain()-first-behind%count // of this shard
	if use = own/between*count + behind%count + first; own%between != 0 || use >= s.plain() {
		use = -1
	}
	return use, own - min((own+between-1)/between, max(left+count-1, 0)/count)
}

// plainUse is the n-th plain use: each use of the lock in turn with much to do in little time, and then each with holds of
// leases, which are renewed if they can be, and with holds for most of the longest lease and shorter waits, so that many give
// up. What fails there needs no search.
func (s Space) plainUse(n int) scenarios.Scenario {
	use, way := n, 0
	if all := len(s.Workloads); n >= all {
		use, way = (n-all)/(usesEach-1), 1+(n-all)%(usesEach-1)
	}
	t := s.loop(s.Workloads[use], s.Leases[0])
	crowd := t
	switch way {
	case 1:
		crowd.Renew, crowd.Work, crowd.Wait, crowd.Duration = s.Extends, leases(3), leases(8), leases(6)
	case 2:
		t.Lease = fixed(s.Leases[len(s.Leases)-1])
		crowd.Lease, crowd.Work, crowd.Wait, crowd.Duration = t.Lease, leases(0.9), leases(0.5), leases(5)
	}
	crowd.Clients = min(s.Clients, 5)
	return s.kept(t, crowd)
}

// workload is in one of three what the lock is for.
func (s Space) workload(d die) string {
	if slices.Contains(s.Workloads, usual) && d.one(3) {
		return s.mainly(d)
	}
	return pick(d, s.Workloads)
}

// mainly is what the lock is for: the guarded write, as all that any lock can break breaks there, and in every other trial
// what this one can do beyond it, else four of five trials of a read-write lock are of writers alone.
func (s Space) mainly(d die) string {
	if own := s.shared(); len(own) > 0 && d.one(2) {
		return pick(d, own)
	}
	if s.Renews && slices.Contains(s.Workloads, "watchdog") && d.one(4) {
		return "watchdog"
	}
	return usual
}

// usual is the plain use of a lock.
const usual = "guarded-write"

// lease is the shortest in most trials. A session that short may end on a busy machine by itself, and what it should show with it.
func (s Space) lease(d die) time.Duration {
	rare := 4
	if s.Renews {
		rare = 2
	}
	if !d.one(rare) {
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
	func(d die, s Space, t scenarios.Scenario) scenarios.Scenario { // most wait for what becomes of a release
		if t.ReleaseWait = (scenarios.Duration{}); d.one(4) {
			t.ReleaseWait = leases(d.log(0.03, 1))
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

// Roles and triggers, in an order that no map decides.
var (
	onClients = []string{"holder", "a-client", "a-waiter", "clients"}
	onServers = roles("a-server", "a-follower", "leader", "minority", "majority", "servers", "reached",
		"a-quorum-member-of-the-holder")
	fewServers  = roles("a-server", "a-follower", "leader", "minority", "reached", "a-quorum-member-of-the-holder")
	checkpoints = slices.Sorted(maps.Keys(nemesis.Checkpoints))
	shapes      = slices.Sorted(maps.Keys(nemesis.Shapes))
	untils      = slices.Sorted(maps.Keys(nemesis.Untils))
	farEnds     = slices.Sorted(maps.Keys(nemesis.FarEnds))
)
