// Package runner is the straight line of a run: cluster up, clients and nemesis
// side by side, heal, settle, final acquire of every key, down, judge, save.
package runner

import (
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Options is all that decides a run, as a value that can be printed.
type Options struct {
	settings.Settings
	Scenario scenarios.Scenario // with the flags of the command line applied
	Backend  string             // a name in locks.Table
	Seed     uint64             // of every random choice
	Out      string             // folder of the run folders
	Withhold bool               // the endpoints come from a file: no secret of the environment goes there
	Command  []string           // that repeats the run, for the report
	Lie      bool               // no fault is injected although all is recorded as if: the self-test
	Part     bool               // one of many runs, so no link "latest" points at it
	Version  string             // of dlmtest
	Self     string             // path of this binary, for nodes, janitor and oracle
	Warm     *Warm              // clusters that earlier runs have left, and that this one may leave; nil: none
	Linger   bool               // the load goes on while a key is granted to nobody, until the judge can tell: see lingering
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
