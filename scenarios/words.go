package scenarios

import (
	"maps"
	"slices"

	"github.com/dlmtest/dlmtest/nemesis"
)

// Workloads are the loops that a client can run.
var Workloads = nemesis.Words{
	"guarded-write": "acquire, read both copies, work, write both copies, release, think",
}

// Triggers are the gates that a client passes, and "at": a time, whatever the
// clients do.
var Triggers = with(nemesis.Gates, nemesis.Words{"at": "a time, whatever the clients do"})

// Targets are the roles that a fault can be aimed at, beside nodes by name, and
// the shapes of partitions.
var Targets = with(nemesis.Targets, nemesis.Shapes)

func with(a, b nemesis.Words) nemesis.Words {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// namesOf are the words in order.
func namesOf(w nemesis.Words) []string { return slices.Sorted(maps.Keys(w)) }

// Properties are what can be expected of a backend: the checker's properties.
var Properties = []string{
	"mutual-exclusion", "lease-exclusion", "fencing-monotonic", "fenced-writes",
	"no-lost-update/unfenced", "no-lost-update/fenced", "release-by-owner", "honest-claims",
	"false-loss", "validity-bound", "deadlock-freedom", "availability", "recovery",
	"fairness", "reentrancy", "permits", "rw-exclusion", "linearizable",
}
