// Package reports has what every report tells of one run: what run.json holds of it, its outcome, the
// questions with their answers, and why it may not be believed. The packages below it show that, each
// rendered from plain data to an io.Writer; nothing here judges, and no drawing depends on a verdict.
package reports

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/reports/say"
)

// Format is the version of run.json that this package writes.
const Format = 1

// Run is what a report shows beside the history and the judgement; run.json
// holds it. Durations are nanoseconds.
type Run struct {
	Format   int      `json:"dlmtest_run"` // version of this file
	ID       string   `json:"id"`
	State    RunState `json:"state,omitempty"` // how far it came; "" of an older dlmtest, which wrote this at the end: ended
	Scenario string   `json:"scenario"`
	Backend  string   `json:"backend"`
	Library  string   `json:"library"` // under test, or reference
	// LibraryVersion is the library's own; "" of the reference, which is dlmtest's.
	LibraryVersion string            `json:"library_version,omitempty"`
	Title          string            `json:"title"`   // of the scenario
	About          string            `json:"about"`   // of the scenario, a few sentences
	Command        []string          `json:"command"` // that repeats the run
	Seed           uint64            `json:"seed"`
	Started        time.Time         `json:"started"`
	Took           time.Duration     `json:"took"`
	Phases         []Phase           `json:"phases,omitempty"` // in order, up to the verdict
	Lease          time.Duration     `json:"lease"`
	Versions       []NodeVersion     `json:"versions,omitempty"`
	Options        map[string]string `json:"options,omitempty"`  // resolved: fencing, fence-on, self-fence, renew, …
	Resolved       string            `json:"resolved,omitempty"` // the resolved scenario as YAML
	Nodes          []NodeInfo        `json:"nodes,omitempty"`
	Machine        string            `json:"machine,omitempty"`     // that all nodes share
	Planned        []Planned         `json:"planned,omitempty"`     // the faults that the scenario names
	Shared         int               `json:"shared,omitempty"`      // earlier runs that had the same cluster, with keys of their own
	History        *HistoryFile      `json:"history,omitempty"`     // as it was when this was written
	Interrupted    string            `json:"interrupted,omitempty"` // why it ended early, a sentence that its judge has among the doubts; or ""
	Logs           []string          `json:"logs,omitempty"`        // server logs, relative to the run's folder
	Doubts         []string          `json:"doubts,omitempty"`      // of the recording: why it may be incomplete
	Schedule       []Planned         `json:"schedule,omitempty"`    // of the random faults, as drawn from the seed
	Folder         string            `json:"-"`                     // the run's, as a link from where its page is; "": the page is in it
	Repeat         *Repeat           `json:"repeat,omitempty"`      // all else that decides the run; nil: an older dlmtest wrote this
}

// Idles says whether the server of the run ended sessions that stood idle.
func (r Run) Idles() bool {
	timeout := r.Options["idle-timeout"]
	return timeout != "" && timeout != "off"
}

// Phase is a part of a run, as a user is told of it, and how long it took.
type Phase struct {
	Name string        `json:"name"`
	Took time.Duration `json:"took"`
}

// RunState is how far a run has come. Its file is written when the run begins, so that a
// killed one is known by what it was to be.
type RunState string

// The states of a run. A run that is killed leaves Running; whoever judges it writes Killed.
const (
	Running RunState = "running"
	Ended   RunState = "ended"
	Killed  RunState = "killed"
)

// Repeat is what decides a run beside its backend and its seed, so that it can be
// done again exactly.
type Repeat struct {
	settings.Settings        // as they were asked for; of the runtime, where it was: docker or local
	Scenario          string `json:"scenario"`                 // as YAML, its random faults written out as they were drawn
	ComposeSum        string `json:"compose_sha256,omitempty"` // of what was in the compose file
	Lie               bool   `json:"lie,omitempty"`            // no fault was injected: a self-test
}

// Known fills in what a history says of a run that was killed before it could
// write the rest.
func (r Run) Known(setup history.Setup) Run {
	r.Backend = cmp.Or(r.Backend, setup.Promise.Backend)
	r.Library = cmp.Or(r.Library, setup.Promise.Library)
	r.LibraryVersion = cmp.Or(r.LibraryVersion, setup.Promise.Version)
	r.Lease = cmp.Or(r.Lease, setup.Lease)
	return r
}

// File is the link to a file of the run's folder.
func (r Run) File(name string) string {
	if r.Folder == "" {
		return name
	}
	return r.Folder + "/" + name
}

// Name is what a run is called, by as much as is known.
func (r Run) Name() string {
	switch {
	case r.Scenario != "" && r.Backend != "":
		return r.Scenario + " on " + r.Lock()
	case r.Backend != "":
		return "a run on " + r.Lock()
	}
	return cmp.Or(r.Scenario, r.ID, "a run")
}

// Lock is what was under test: the backend, and the library where it is not the reference.
func (r Run) Lock() string {
	if r.Library == "" || r.Library == history.Reference {
		return r.Backend
	}
	return r.Backend + " with " + r.LibraryName()
}

// LibraryName is the library with its version.
func (r Run) LibraryName() string { return strings.TrimSpace(r.Library + " " + r.LibraryVersion) }

// Facts are the figures of a run, those left out that are not known, and the
// start where no layout is given.
func (r Run) Facts(layout string) (facts []string) {
	add := func(known bool, format string, arg any) {
		if known {
			facts = append(facts, fmt.Sprintf(format, arg))
		}
	}
	add(r.Library != "", "library %s", r.LibraryName())
	add(r.Lease != 0, "lease %s", say.Length(r.Lease))
	add(layout != "" && !r.Started.IsZero(), "started %s", r.Started.Format(cmp.Or(layout, time.DateTime)))
	add(r.Took != 0, "took %s", say.Length(r.Took))
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
	Name    string   `json:"name"`
	Role    Role     `json:"role"`
	Addr    string   `json:"addr,omitempty"`
	Command []string `json:"command,omitempty"` // that its program was started with; what looks like a secret is left out
	Env     []string `json:"env,omitempty"`     // KEY=value, the same
	User    string   `json:"user,omitempty"`    // whom the program runs as; empty: root
	Caps    []string `json:"caps,omitempty"`    // privileges beyond the runtime's default
}

// Role is what a node is for.
type Role string

// The roles, in the order in which a drawing shows them.
const (
	Client   Role = "client"
	Server   Role = "server"
	Resource Role = "resource"
)

// HistoryFile is the history that a page was made from, so that who downloads it
// can tell whether it is the same.
type HistoryFile struct {
	Name   string `json:"name"` // relative to the run's folder
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}
