// Package scenarios holds the scenarios that dlmtest ships, one YAML file each,
// and their strict loader. A scenario is plain data: what a reviewer reads is
// what runs.
//
// The YAML library is go.yaml.in/yaml/v4. Against goccy/go-yaml, whose error
// pictures are prettier, it won by age and upkeep (the YAML organisation's own,
// and compose-go brings it along anyway), by its public node tree with a line
// on each node, which is all that our own messages need, and by goccy's history
// of panics on bad input (its issues 191, 479, 540, 718).
package scenarios

import (
	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

// Scenario is one experiment on a lock.
type Scenario struct {
	// Name is the file's name without ".yaml".
	Name string `yaml:"name"`
	// Title is one line for lists and headings.
	Title string `yaml:"title"`
	// About says in plain words what the scenario shows, and why it happens.
	About string `yaml:"about"`
	// From says where the idea comes from.
	From string `yaml:"from,omitempty"`

	// Workload is the loop that every client runs; see Workloads.
	Workload string `yaml:"workload"`
	// Clients is the number of client nodes, from 1 to 100.
	Clients int `yaml:"clients"`
	// Keys is the number of locks that they compete for, from 1 to 1000; 1 if not given.
	Keys int `yaml:"keys"`
	// Lease is what clients ask for, from 100ms to 10m; it must be fixed.
	Lease Duration `yaml:"lease"`
	// Renew lets a holder renew its grant at a third of the lease.
	Renew bool `yaml:"renew"`
	// Work is the time between the read and the write of the guarded resource.
	Work Duration `yaml:"work"`
	// Think is the time between a release and the next acquire.
	Think Duration `yaml:"think"`
	// Wait is the limit of one acquire; 4 leases if not given.
	Wait Duration `yaml:"wait"`
	// Duration is how long the clients run at least. A run also waits until its
	// faults are healed, and then for After.
	Duration Duration `yaml:"duration"`
	// After is how long the clients go on when all is healed; 1 lease if not given.
	After Duration `yaml:"after"`

	// Fsync is when the servers make their data durable, as --fsync; empty: the backend's default.
	Fsync string `yaml:"fsync,omitempty"`

	// Faults are what goes wrong, each armed from the start.
	Faults []Fault `yaml:"faults,omitempty"`
	// Expect is what must have been seen for the verdict "holds" to mean anything.
	Expect history.Expect `yaml:"expect,omitempty"`
	// Expected is for reviewers: backend → property → what it is expected to show.
	Expected map[string]map[string]Expectation `yaml:"expected,omitempty"`
}

// Fault is one thing that goes wrong.
type Fault struct {
	// Fault is what happens; see nemesis.Kinds.
	Fault string `yaml:"fault"`
	// Target is to whom: a role (see Targets) or the name of a node.
	Target string `yaml:"target"`
	// On is the trigger (see Triggers); "at" if not given.
	On string `yaml:"on"`
	// At is the earliest time, from the begin of the load. With the trigger "at" it
	// is the time itself, with "every" the time from one to the next.
	At Duration `yaml:"at"`
	// Count is how often it happens, from 1 to 1000; 1 if not given.
	Count int `yaml:"count"`
	// Every is the time from the end of one to the next, where Count is above 1.
	Every Duration `yaml:"every,omitempty"`
	// From is from whom a partition cuts the target, as Target; empty: from all others.
	From string `yaml:"from,omitempty"`
	// Direction of a partition: both, or in or out as the target sees it; empty: both.
	Direction string `yaml:"direction,omitempty"`
	// Mode is what a crash loses: lose-unsynced (if not given), torn or lose-all.
	Mode string `yaml:"mode,omitempty"`
	// Clock is how a clock fault bends the clocks.
	Clock Clock `yaml:"clock,omitempty"`
	// For is how long it lasts.
	For Span `yaml:"for"`
}

// Clock is how the clocks of a program are bent.
type Clock struct {
	// Step puts REALTIME this far ahead, at once.
	Step Duration `yaml:"step,omitempty"`
	// Back turns Step and Slew round, into the past.
	Back bool `yaml:"back,omitempty"`
	// Drift is the error of the rate of both clocks: 0.05 is 5 % too fast, -0.05 too slow.
	Drift float64 `yaml:"drift,omitempty"`
	// Slew moves REALTIME by this much, at SlewRate seconds a second, as NTP does.
	Slew Duration `yaml:"slew,omitempty"`
	// SlewRate is 0.0005 if not given, the fastest of NTP.
	SlewRate float64 `yaml:"slew-rate,omitempty"`
}

// Span is how long a fault lasts: a plain duration ("for: 1.5 lease"), or until
// something was seen ("for: {until: write-accepted, min: 1 lease, max: 4 lease}").
type Span struct {
	// Until ends the fault once it is seen; see nemesis.Untils. Empty: after Max.
	Until string `yaml:"until"`
	// Min is how long it lasts at least, whatever is seen.
	Min Duration `yaml:"min"`
	// Max is how long it lasts at most, whatever is not seen.
	Max Duration `yaml:"max"`
}

// Expectation is what one backend is expected to show of one property. In a
// file it is a verdict ("holds"), or a verdict with a reason ("{verdict: holds,
// note: …}").
type Expectation struct {
	Verdict checker.Verdict `yaml:"verdict"`
	Note    string          `yaml:"note,omitempty"`
}

// defaults is what a file need not say.
func defaults() Scenario {
	return Scenario{Keys: 1, Wait: Duration{Leases: 4}, After: Duration{Leases: 1}}
}
