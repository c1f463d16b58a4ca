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
	"path"
	"slices"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/settings"
)

// Scenario is one experiment on a lock.
type Scenario struct {
	// Name is the file's name without ".yaml".
	Name string `yaml:"name" jsonschema:"required"`
	// Title is one line for lists and headings.
	Title string `yaml:"title" jsonschema:"required"`
	// About says in plain words what the scenario shows, and why it happens.
	About string `yaml:"about" jsonschema:"required"`
	// From says where the idea comes from.
	From string `yaml:"from,omitempty"`

	// Workload is the loop that every client runs; see Workloads.
	Workload string `yaml:"workload" words:"workload" jsonschema:"required"`
	// Use holds the numbers of a workload that is a well-known use of a lock.
	Use Use `yaml:"use,omitempty"`
	// Clients is the number of client nodes, from 1 to 100.
	Clients int `yaml:"clients" jsonschema:"required,minimum=1,maximum=100"`
	// Keys is the number of locks that they compete for, from 1 to 1000; 1 if not given.
	Keys int `yaml:"keys" jsonschema:"minimum=1,maximum=1000"`
	// Permits is how many clients a key lets in at once, of the workload semaphore alone.
	Permits int `yaml:"permits,omitempty"`
	// Lease is what clients ask for, from 100ms to 10m; it must be fixed.
	Lease Duration `yaml:"lease" jsonschema:"required"`
	// Renew lets a holder renew its grant at a third of the lease.
	Renew bool `yaml:"renew"`
	// Patience is how long a holder waits for the answer to a renewal; see Patiences. Both if not given.
	Patience string `yaml:"patience,omitempty" words:"patience"`
	// Work is the time between the read and the write of the guarded resource.
	Work Duration `yaml:"work"`
	// Think is the time between a release and the next acquire.
	Think Duration `yaml:"think"`
	// Wait is the limit of one acquire; 4 leases if not given.
	Wait Duration `yaml:"wait"`
	// ReleaseWait is after what time a client goes on without the answer to a release; 2 leases and 3s if not given.
	ReleaseWait Duration `yaml:"release-wait,omitempty"`
	// Duration is how long the clients run at least. A run also waits until its
	// faults are healed, and then for After.
	Duration Duration `yaml:"duration" jsonschema:"required"`
	// After is how long the clients go on when all is healed; 1 lease if not given.
	After Duration `yaml:"after"`

	// Settings are those of its runs, as the flags of dlmtest run with the same names, which
	// lie over them. Those that name what is started, shown to code or called must be given
	// on the command line as well, or be trusted.
	Settings settings.Settings `yaml:"settings,omitempty"`

	// Backends are the only ones that the scenario is about, by name or as a glob
	// such as broken/*; empty: all that have what its faults need.
	Backends []string `yaml:"backends,omitempty"`

	// Fsync is when the servers make their data durable, as --fsync; empty: the backend's default.
	Fsync string `yaml:"fsync,omitempty"`
	// Disk is what the servers' data lies on: lossy, the file system that can lose it,
	// also where no fault needs that; empty: a plain folder unless a fault needs more.
	Disk string `yaml:"disk,omitempty" words:"lossy"`

	// Faults are what goes wrong, each armed from the start.
	Faults []Fault `yaml:"faults,omitempty"`
	// Random is what goes wrong beside them, drawn from the seed.
	Random Random `yaml:"random,omitempty"`
	// Expect is what must have been seen for the verdict "holds" to mean anything.
	Expect history.Expect `yaml:"expect,omitempty"`
	// Expected is for reviewers: backend → property → what it is expected to show.
	Expected map[string]map[string]Expectation `yaml:"expected,omitempty"`
}

// Patient says whether client number n waits for late answers to its renewals.
func (s *Scenario) Patient(n int) bool {
	switch s.Patience {
	case Patient:
		return true
	case Impatient:
		return false
	}
	return n%2 == 0
}

// Fault is one thing that goes wrong.
type Fault struct {
	// Name is by which other faults come after this one; empty: none do.
	Name string `yaml:"name,omitempty"`
	// Fault is what happens; see nemesis.Kinds.
	Fault string `yaml:"fault" words:"fault" jsonschema:"required"`
	// Target is to whom: a role (see Targets) or the name of a node.
	Target string `yaml:"target" jsonschema:"required"`
	// On is the trigger (see Triggers); "at" if not given.
	On string `yaml:"on" words:"trigger"`
	// After is the fault that this one comes after; At counts from there.
	After After `yaml:"after,omitempty"`
	// At is the earliest time, from the begin of the load. With the trigger "at" it
	// is the time itself, with "every" the time from the begin of one to the next.
	At Duration `yaml:"at"`
	// Count is how often it happens, from 1 to 1000; 1 if not given.
	Count int `yaml:"count" jsonschema:"minimum=1,maximum=1000"`
	// Every is the time from the end of one to the next, where Count is above 1.
	Every Duration `yaml:"every,omitempty"`
	// From is from whom a partition cuts the target, as Target; empty: from all others.
	From string `yaml:"from,omitempty"`
	// Direction of a partition: both, or in or out as the target sees it; empty: both.
	Direction string `yaml:"direction,omitempty" words:"direction"`
	// Mode is what a crash loses: lose-unsynced (if not given), torn or lose-all.
	Mode string `yaml:"mode,omitempty" words:"mode"`
	// Back has a client that was killed start again at the end, under its name; else it is gone for good.
	Back bool `yaml:"back,omitempty"`
	// Clock is how a clock fault bends the clocks.
	Clock Clock `yaml:"clock,omitempty"`
	// To is where the faulty links lead; see nemesis.FarEnds, or a node's name; servers if empty.
	To string `yaml:"to,omitempty"`
	// When is the message on a link that the fault waits for; empty: at its trigger.
	When When `yaml:"when,omitempty"`
	// Latency is what slow links add to each round trip.
	Latency Duration `yaml:"latency,omitempty"`
	// Jitter is by how much Latency varies, up and down.
	Jitter Duration `yaml:"jitter,omitempty"`
	// Rate is what narrow links let through, in bytes a second each way.
	Rate int `yaml:"rate,omitempty"`
	// For is how long it lasts.
	For Span `yaml:"for" jsonschema:"required"`
	// Optional faults are skipped, with the reason, where they cannot be; others are then missed.
	Optional bool `yaml:"optional,omitempty"`
	// Stream is the stream of the seed that the fault's own choices come from; its number
	// if not given. It keeps them as they were where other faults are left out.
	Stream int `yaml:"stream,omitempty" jsonschema:"minimum=0,maximum=1000000"`
	// Weight is how often a fault of a random mix is drawn beside the others; 1 if not given.
	Weight int `yaml:"weight,omitempty" jsonschema:"minimum=0,maximum=1000"`
}

// Clock is how the clocks of a program are bent.
type Clock struct {
	// Step puts REALTIME this far ahead, at once.
	Step Duration `yaml:"step,omitempty"`
	// Back turns Step, Slew and Strobe round, into the past.
	Back bool `yaml:"back,omitempty"`
	// Drift is the error of the rate of both clocks: 0.05 is 5 % too fast, -0.05 too slow.
	Drift float64 `yaml:"drift,omitempty"`
	// Anyway lets programs drift whose waits end at absolute times of the bent clock (the JVM,
	// Python): these then return at once, or too late, for the rest of the program's life.
	Anyway bool `yaml:"anyway,omitempty"`
	// Slew moves REALTIME by this much, at SlewRate seconds a second, as NTP does.
	Slew Duration `yaml:"slew,omitempty"`
	// SlewRate is 0.0005 if not given, the fastest of NTP.
	SlewRate float64 `yaml:"slew-rate,omitempty"`
	// Strobe puts REALTIME this far ahead and back to the truth again and again.
	Strobe Duration `yaml:"strobe,omitempty"`
	// Every is the time from one flip of a strobe to the next.
	Every Duration `yaml:"every,omitempty"`
}

// Span is how long a fault lasts: a plain duration ("for: 1.5 lease"), or until
// something was seen ("for: {until: write-accepted, min: 1 lease, max: 4 lease}").
type Span struct {
	// Until ends the fault once it is seen; see nemesis.Untils. Empty: after Max.
	Until string `yaml:"until" words:"condition"`
	// Min is how long it lasts at least, whatever is seen.
	Min Duration `yaml:"min"`
	// Max is how long it lasts at most, whatever is not seen.
	Max Duration `yaml:"max" jsonschema:"required"`
}

// Expectation is what one backend is expected to show of one property. In a
// file it is a verdict ("holds"), or a verdict with a reason ("{verdict: holds,
// note: …}"). Where chance decides it is "may be violated".
type Expectation struct {
	Verdict   checker.Verdict `yaml:"verdict"`
	Note      string          `yaml:"note,omitempty"`
	Sometimes bool            `yaml:"-"` // see checker.Expectation
	// OnRead is the verdict where reads are fenced, too (--fence-on read); empty: the same.
	OnRead string `yaml:"fence-on-read,omitempty"`
}

// ExpectedOf is what is expected of a lock, by property: of one whose idle sessions the server ends only the
// flaws of its service, as all else is said of holders that nothing ends. Nil: nothing is.
func (s *Scenario) ExpectedOf(lock, fenceOn string, idles bool) (all map[string]checker.Expectation) {
	for property, e := range s.Expected[lock] {
		c, _ := checker.Find(property)
		if idles && (e.Verdict != checker.Violated || c.Owed != checker.Service && c.Owed != checker.Fence) {
			continue
		}
		if all == nil {
			all = map[string]checker.Expectation{}
		}
		all[property] = e.Under(fenceOn)
	}
	return all
}

// Under is what is expected where writes alone register tokens, or reads do, too.
func (e Expectation) Under(fenceOn string) checker.Expectation {
	if fenceOn == "read" && e.OnRead != "" {
		_ = e.setVerdict(e.OnRead) // checked when it was read
	}
	return checker.Expectation{Verdict: e.Verdict, Note: e.Note, Sometimes: e.Sometimes}
}

// Concerns says whether the scenario is about a backend; see Backends.
func (s *Scenario) Concerns(backend string) bool {
	return len(s.Backends) == 0 || slices.ContainsFunc(s.Backends, func(pattern string) bool {
		match, _ := path.Match(pattern, backend) // Validate has refused a bad one
		return match
	})
}

// Alone says that the scenario's timing is so tight that no other run should share
// the machine. It bends clocks, or a fault has to be over within one lease: what it
// shows then depends on who is first, and a stall of the machine decides that.
func (s *Scenario) Alone() bool {
	lease := s.Lease.Of(0)
	return slices.ContainsFunc(s.Faults, func(f Fault) bool {
		return f.Fault == "clock" || f.For.Max.Of(lease) < lease
	})
}

// defaults is what a file need not say.
func defaults() Scenario {
	return Scenario{Keys: 1, Wait: Duration{Leases: 4}, After: Duration{Leases: 1}}
}
