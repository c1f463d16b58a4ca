package hunt

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/nemesis/agent/links"
	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
	"github.com/dlmtest/dlmtest/scenarios"
	"github.com/dlmtest/dlmtest/workloads"
)

// Space is what trials are drawn from: what a lock offers, and what can be tried on it.
type Space struct {
	Workloads []string        // loops of clients that the lock can be used in
	Leases    []time.Duration // that it grants, the shortest first
	Extends   bool            // a grant can be renewed
	Renews    bool            // its open session renews by itself, whatever a trial says
	Endless   bool            // its grants have no lease, and last as long as their session
	Tells     bool            // a holder whose grant has ended with its session is told so
	Clients   int             // at most so many
	Bound     time.Duration   // how long after the end of a lease the next grant may take
	Servers   bool            // there are servers of this run's own, which faults can hit
	Messages  []links.Passed  // that were seen on the links of a client
	Usual     []links.Passed  // the requests among them that come with about every use of the lock
	// Cannot says why a scenario cannot be run, or "". It is asked after the scenario's own
	// validation; nil: everything can.
	Cannot func(scenarios.Scenario) string
}

// plain are the loops that ask no more of a lock than that it excludes. The uses of a lock
// (payments, files, …) show what the guarded write shows already, at more cost.
var plain = []string{"guarded-write", "try", "reentrant", "read-write", "semaphore", "leader", "watchdog", "own-key",
	"two-keys"}

// Of is the space of a lock.
func Of(lock locks.Lock, process bool) Space {
	s := Space{Clients: mostClients, Servers: true, Bound: lock.Promise.Bound}.promised(lock.Bounded(time.Second))
	if process {
		s.Clients = mostProcesses
	}
	for _, w := range plain {
		if kind, _ := workloads.Kind(workloads.Mode(w)); locks.Offers(lock.Promise, kind) {
			s.Workloads = append(s.Workloads, w)
		}
	}
	for _, lease := range leasesTried {
		if lock.CheckLease == nil || lock.CheckLease(lease) == nil {
			s.Leases = append(s.Leases, lease)
		}
	}
	return s
}

// leasesTried are the shortest that bear the stalls of a busy machine: the shorter, the more trials.
// A lock is tried with the first two that it grants, which an adapter may say when it is opened only.
var leasesTried = []time.Duration{600 * time.Millisecond, time.Second, 2 * time.Second}

// oddLease is tried as well where parts of a second are granted: cut or rounded to whole seconds it ends too early.
const oddLease = 1400 * time.Millisecond

const (
	mostClients   = 12 // client-1 is then the beginning of other names
	mostProcesses = 6  // where each client is two programs
	mostFaults    = 4
)

// Kept drops the leases and the workloads that no trial could have; see Space.Cannot.
func (s Space) Kept() Space {
	granted := slices.DeleteFunc(slices.Clone(s.Leases), func(d time.Duration) bool {
		return s.trouble(s.loop(usual, d)) != ""
	})
	if len(granted) > 0 {
		s.Leases = granted
	}
	s.Workloads = slices.DeleteFunc(slices.Clone(s.Workloads), func(w string) bool {
		return s.trouble(s.loop(w, s.Leases[0])) != ""
	})
	return s
}

// trouble is why a trial cannot be run, or "".
func (s Space) trouble(t scenarios.Scenario) string {
	if err := t.Validate(); err != nil {
		return err.Error()
	}
	if s.Cannot == nil {
		return ""
	}
	t.Faults = slices.Clone(t.Faults)
	for i := range t.Faults {
		t.Faults[i].Optional = false // one that may be skipped is not refused, and would be skipped each time
	}
	return s.Cannot(t)
}

// Learn is the trial that shows which messages go over the links of a client: slow ones by
// a millisecond, as there are no links without a fault of theirs.
func (s Space) Learn() scenarios.Scenario {
	t := s.loop("guarded-write", s.Leases[0])
	t.Name, t.Renew, t.Work, t.Duration = "learn", s.Extends, scenarios.Duration{Leases: 0.4}, scenarios.Duration{Leases: 6}
	t.Faults = []scenarios.Fault{{Fault: "latency", Target: "clients", On: "at", Count: 1,
		Latency: fixed(time.Millisecond), For: span(scenarios.Duration{Leases: 1})}}
	return t
}

// Promised drops what an adapter, which is taken to promise all until it is opened, does not offer.
func (s Space) Promised(p history.Promise) Space {
	s = s.promised(p)
	s.Workloads = slices.DeleteFunc(slices.Clone(s.Workloads), func(w string) bool {
		kind, _ := workloads.Kind(workloads.Mode(w))
		return !locks.Offers(p, kind)
	})
	return s
}

func (s Space) promised(p history.Promise) Space {
	s.Extends, s.Renews, s.Endless, s.Tells = p.Extends && p.Leased, p.Renews, !p.Leased, p.TellsLosses()
	return s
}

// Learnt adds the messages that a run with so many grants has shown on the links to servers, those that came most often
// first. What came for half of the grants or more is usual; what opens and closes a session is not.
func (s Space) Learnt(passed []agent.Passed, servers []string, grants int) Space {
	seen := map[links.Passed]int{}
	for _, p := range passed {
		if slices.Contains(servers, p.To) {
			seen[p.Passed] += p.Count
		}
	}
	s.Leases = slices.Clone(s.Leases[:min(len(s.Leases), 2)])
	if len(s.Workloads) > 0 && s.Leases[0] < time.Second && s.trouble(s.loop(s.Workloads[0], oddLease)) == "" {
		s.Leases = append(s.Leases, oddLease)
	}
	s.Messages = slices.SortedFunc(maps.Keys(seen), func(a, b links.Passed) int {
		return cmp.Or(cmp.Compare(seen[b], seen[a]), strings.Compare(string(a.Direction)+a.Name+a.Contains, string(b.Direction)+b.Name+b.Contains))
	})
	s.Messages = slices.DeleteFunc(s.Messages, func(m links.Passed) bool { // a name that no scenario may say
		return scenarios.Unnamed(scenarios.When{Direction: string(m.Direction), Name: m.Name}, wire.Protocols...) != ""
	})
	s.Usual = slices.DeleteFunc(slices.Clone(s.Messages), func(m links.Passed) bool {
		return m.Direction != links.Request || 2*seen[m] < grants
	})
	return s
}

// loop is a trial without faults, of the least size.
func (s Space) loop(workload string, lease time.Duration) scenarios.Scenario {
	t := scenarios.Scenario{Name: "trial", Title: "A trial of a hunt", About: "Drawn by dlmtest hunt.",
		Workload: workload,
		Clients:  2, Keys: 1, Lease: fixed(lease), Work: fixed(10 * time.Millisecond), Think: fixed(10 * time.Millisecond),
		Wait: scenarios.Duration{Leases: 4}, Duration: scenarios.Duration{Leases: loadLeases}, After: scenarios.Duration{Leases: 1}}
	return fitted(t)
}

// loadLeases is how long the clients of a trial run at least.
const loadLeases = 2

// fitted gives a workload the numbers that it needs.
func fitted(t scenarios.Scenario) scenarios.Scenario {
	t.Permits = 0
	switch t.Workload {
	case "semaphore":
		t.Permits = 2
	case "own-key":
		t.Keys = t.Clients
	case history.TwoKeys:
		t.Keys = max(t.Keys, 2)
	}
	return t
}

func fixed(d time.Duration) scenarios.Duration { return scenarios.Duration{Fixed: d} }

func span(d scenarios.Duration) scenarios.Span { return scenarios.Span{Min: d, Max: d} }

// String says what the space holds, for whoever watches.
func (s Space) String() string {
	return fmt.Sprintf("%d workloads (%s), leases %v, %d messages", len(s.Workloads),
		strings.Join(s.Workloads, ", "), s.Leases, len(s.Messages))
}
