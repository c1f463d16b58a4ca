package dlmtest

import (
	"errors"
	"fmt"
	"maps"

	"github.com/dlmtest/dlmtest/runner/gate"
)

// Option says what Test runs, and what it expects.
type Option func(*asked)

// asked is what was asked of Test.
type asked struct {
	lock      Lock
	scenarios []string
	backend   string
	count     int
	seed      uint64
	runtime   string
	flags     map[string]string
	expect    map[string]gate.Expectation
	detects   bool
}

// Scenario is one to run: a name of dlmtest list scenarios, such as gc-pause, or the path
// of a YAML file from the package's folder. Given again, each of them is run.
func Scenario(name string) Option {
	return func(a *asked) { a.scenarios = append(a.scenarios, name) }
}

// Backend is the one of Lock.Backends to run on, in place of the first.
func Backend(name string) Option { return func(a *asked) { a.backend = name } }

// Count is how many runs there are of each scenario, with the seeds seed, seed+1, …, in
// place of 1. One green run proves little: twenty bound the failure rate below 16 %.
func Count(n int) Option { return func(a *asked) { a.count = n } }

// Seed is that of the first run, in place of a new one, for the same choices and the same
// random schedule. What real processes do in between stays theirs.
func Seed(seed uint64) Option { return func(a *asked) { a.seed = seed } }

// Runtime is where the nodes run: docker, local (namespaces of this machine, with its
// servers: no Docker and no root), or auto, which is docker where a daemon answers.
func Runtime(name string) Option { return func(a *asked) { a.runtime = name } }

// Flag is one of dlmtest run, without its dashes: Flag("lease", "2s"), Flag("keys", "3").
func Flag(name, value string) Option { return func(a *asked) { a.flags[name] = value } }

// KnownWeakness says that a property may be violated, why that is accepted, and where it is
// written down: an address, or the path of a file. That it is not seen any more is logged.
func KnownWeakness(property, reason, link string) Option {
	return func(a *asked) {
		a.expect[property] = gate.Expectation{Is: gate.Weakness, Reason: reason, Link: link}
	}
}

// MustDetect says that every run must violate a property: a control, a lock that is broken
// on purpose, which shows that the test can fail. No other property is then judged.
func MustDetect(property string) Option {
	return func(a *asked) {
		a.expect[property], a.detects = gate.Expectation{Is: gate.MustDetect}, true
	}
}

// config is the gate that was asked for.
func (a *asked) config(name string) (*gate.Config, error) {
	if len(a.scenarios) == 0 {
		return nil, errors.New(`no scenario: add dlmtest.Scenario("gc-pause"), or another of dlmtest list scenarios`)
	}
	if a.count < 1 {
		return nil, fmt.Errorf("Count(%d): want 1 or more", a.count)
	}
	backend := a.backend
	if backend == "" {
		backend = a.lock.Backends[0]
	}
	c := &gate.Config{Name: name, Library: a.lock.Name, Count: a.count}
	for _, scenario := range a.scenarios {
		cell := gate.Cell{Scenario: scenario, Backend: backend, Flags: maps.Clone(a.flags), Expect: maps.Clone(a.expect)}
		if a.detects {
			cell.Others = gate.NotJudged
		}
		c.Cells = append(c.Cells, cell)
	}
	return c, c.Check()
}
