// Package runner is the straight line of a run: cluster up, clients and nemesis
// side by side, heal, settle, final acquire of every key, down, judge, save.
package runner

import (
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Options is all that decides a run, as a value that can be printed.
type Options struct {
	Scenario  scenarios.Scenario // with the flags of the command line applied
	Backend   string             // a name in locks.Table
	Library   string             // NAME or NAME@VERSION, see libraries.Find; "" or reference: the lock of the backend
	Adapter   []string           // argv, in the client's node, of the user's own adapter: see docs/protocol.md; empty: none
	Files     string             // folder of this machine that client nodes see at /adapter, read-only; empty: none
	Image     string             // of the client nodes; empty: dlmtest's own, or the library's
	Seed      uint64             // of every random choice
	Out       string             // folder of the run folders
	Resource  string             // store, or postgres
	Fencing   string             // at-least or strict
	FenceOn   string             // write or read
	SelfFence string             // none, check-deadline, check-session
	Idle      time.Duration      // PostgreSQL's idle_in_transaction_session_timeout; 0: off
	Fsync     string             // policy of the servers, see clusters.Fsync; empty: the default
	Wait      int                // redis-replicated: replicas that must acknowledge a grant
	Etcd      string             // version of etcd to build and run; empty: the image's own
	Strict    bool               // idle overlaps count as violations
	Runtime   string             // auto, docker or local
	Endpoints []string           // of the user's own lock service; none: dlmtest starts the servers
	Compose   string             // the user's own compose file; empty: the embedded one
	AllowHost bool               // the compose file may reach the host
	Withhold  bool               // the endpoints come from a folder: no secret of the environment goes there
	Oracle    string             // what Porcupine is asked: windows, full or off; empty: off
	Command   []string           // that repeats the run, for the report
	Lie       bool               // no fault is injected although all is recorded as if: the self-test
	Part      bool               // one of many runs, so no link "latest" points at it
	Version   string             // of dlmtest
	Self      string             // path of this binary, for nodes, janitor and oracle
}

// Label is what the lock under test is called, as a column of a matrix is.
func (o Options) Label() string {
	if len(o.Adapter) > 0 {
		return history.LockName(o.Backend, "adapter")
	}
	return history.LockName(o.Backend, o.Library)
}

// Counts is what a user sees while a run goes on.
type Counts struct {
	Operations int `json:"operations"` // invoked
	Grants     int `json:"grants"`
	Writes     int `json:"writes"`  // that the resource decided
	Refused    int `json:"refused"` // of these, by the fenced copy
	Unknown    int `json:"unknown"` // outcomes
	Faults     int `json:"faults"`  // begun on a victim
}

// Progress is told what a run does. Its methods are called from one goroutine at a time.
type Progress interface {
	// Phase names what goes on from now on.
	Phase(text string)
	// Line is one more word on the phase: an image that is built, a node that is waited for.
	Line(text string)
	// Live is called several times a second during the load; done is in [0, 1].
	Live(c Counts, done float64)
}
