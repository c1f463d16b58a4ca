package scenarios

import (
	"maps"
	"slices"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/nemesis"
)

// The words for how long holders wait for answers.
const (
	Patient   = "patient"
	Impatient = "impatient"
	Both      = "both"
)

// Patiences say how long a holder waits for the answer to a renewal.
var Patiences = nemesis.Words{
	Patient:   "for two leases: an ok that comes when the lease is over is recorded, and judged",
	Impatient: "for a third of the lease; then it asks again, and what comes late it never learns",
	Both:      "every other client, the first among them, is patient",
}

// Workloads are the loops that a client can run.
var Workloads = with(uses, nemesis.Words{
	"guarded-write": "acquire, read both copies, work, write both copies, release, think",
	"try":           "the guarded write, asked for without waiting or with a short limit",
	"reentrant":     "two threads a client take the lock again while they hold it, give that back, and write before the last release",
	"read-write":    "readers look twice and must see the same, writers do the guarded write; some change from one to the other",
	"semaphore":     "take one permit or two of those that a key has, use the resource, give them back",
	"leader":        "acquire, write the resource again and again while nothing tells of a loss, step down",
	"watchdog":      "the guarded write, renewed by a watchdog, and not written where that tells of a loss",
	"own-key":       "the guarded write, each client by a key that nobody else asks for",
	"herd":          "the guarded write, while the servers are asked how many waiters they have woken",
})

// Triggers are the checkpoints that a client passes, and times, whatever the clients do.
var Triggers = with(nemesis.Checkpoints, nemesis.Words{
	"at":    "a time, whatever the clients do",
	"every": "again and again at a fixed interval, from the begin of one to the begin of the next",
})

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
var Properties = checker.Names()

// Vocabulary is every list of words that a file chooses from, by what a message calls one of them, and the tag words
// of a field that takes one.
var Vocabulary = map[string][]string{
	"workload": namesOf(Workloads), "patience": namesOf(Patiences), "fault": namesOf(nemesis.Kinds), "trigger": namesOf(Triggers),
	"condition": namesOf(nemesis.Untils), "moment": namesOf(Whens), "direction": {"in", "out", "both"},
	"mode": {"lose-unsynced", "torn", "lose-all"}, "side": {"request", "answer"},
}
