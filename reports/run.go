// Package reports makes everything that a person reads of a run: a page, a text
// for the terminal and a JUnit file. Each is rendered from plain data to an
// io.Writer; nothing here judges, and no drawing depends on a verdict.
package reports

import (
	"cmp"
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// Format is the version of run.json that this package writes.
const Format = 1

// Run is what a report shows beside the history and the judgement; run.json
// holds it. Durations are nanoseconds.
type Run struct {
	Format      int               `json:"dlmtest_run"` // version of this file
	ID          string            `json:"id"`
	Scenario    string            `json:"scenario"`
	Backend     string            `json:"backend"`
	Library     string            `json:"library"`
	Title       string            `json:"title"`   // of the scenario
	About       string            `json:"about"`   // of the scenario, a few sentences
	Command     []string          `json:"command"` // that repeats the run
	Seed        uint64            `json:"seed"`
	Started     time.Time         `json:"started"`
	Took        time.Duration     `json:"took"`
	Lease       time.Duration     `json:"lease"`
	Versions    []NodeVersion     `json:"versions,omitempty"`
	Options     map[string]string `json:"options,omitempty"`  // resolved: fencing, fence-on, self-fence, renew, …
	Resolved    string            `json:"resolved,omitempty"` // the resolved scenario as YAML
	Nodes       []NodeInfo        `json:"nodes,omitempty"`
	Interrupted string            `json:"interrupted,omitempty"` // why it ended early, or ""
	Logs        []string          `json:"logs,omitempty"`        // server logs, relative to the run's folder
	Doubts      []string          `json:"doubts,omitempty"`      // of the recording: why it may be incomplete
}

// known fills in what a history says of a run that was killed before it could
// write the rest.
func (r Run) known(setup history.Setup) Run {
	r.Backend = cmp.Or(r.Backend, setup.Promise.Backend)
	r.Lease = cmp.Or(r.Lease, time.Duration(setup.Lease))
	return r
}

// name is what a run is called, by as much as is known.
func (r Run) name() string {
	switch {
	case r.Scenario != "" && r.Backend != "":
		return r.Scenario + " on " + r.Backend
	case r.Backend != "":
		return "a run on " + r.Backend
	}
	return cmp.Or(r.Scenario, r.ID, "a run")
}

// facts are the figures of a run, those left out that are not known, and the
// start where no layout is given.
func (r Run) facts(layout string) (facts []string) {
	add := func(known bool, format string, arg any) {
		if known {
			facts = append(facts, fmt.Sprintf(format, arg))
		}
	}
	add(r.Library != "", "library %s", r.Library)
	add(r.Lease != 0, "lease %s", length(r.Lease))
	add(layout != "" && !r.Started.IsZero(), "started %s", r.Started.Format(cmp.Or(layout, time.DateTime)))
	add(r.Took != 0, "took %s", length(r.Took))
	add(r.Seed != 0, "seed %d", r.Seed)
	return facts
}

// NodeVersion says what ran on one node.
type NodeVersion struct {
	Node    string `json:"node"`
	Server  string `json:"server"` // e.g. redis
	Version string `json:"version"`
	Image   string `json:"image,omitempty"` // or the path of the binary
}

// NodeInfo is one node of the cluster. A drawing has one lane for each.
type NodeInfo struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
	Addr string `json:"addr,omitempty"`
}

// Role is what a node is for.
type Role string

// The roles, in the order in which a drawing shows them.
const (
	Client   Role = "client"
	Server   Role = "server"
	Resource Role = "resource"
)
