package scenarios

import (
	"maps"
	"slices"
)

// Words is a table of what may stand in a field, with what each word means.
type Words map[string]string

// Names are the words in order.
func (w Words) Names() []string { return slices.Sorted(maps.Keys(w)) }

// Workloads are the loops that a client can run.
var Workloads = Words{
	"guarded-write": "acquire, read both copies, work, write both copies, release, think",
}

// Faults are the things that can go wrong.
var Faults = Words{
	"pause": "the node's program is stopped (SIGSTOP) and later continued, as a long GC pause would",
}

// Triggers are when a fault happens. All but "at" are points that a client
// passes; it waits there until the fault has taken hold.
var Triggers = Words{
	"acquired":     "a client has been granted the lock and has done nothing yet",
	"before-write": "the holder has read, and has neither checked itself nor sent its write",
	"writing":      "the holder has checked itself, and has not sent its write",
	"releasing":    "the holder has written and has not sent its release",
	"at":           "a time, whatever the clients do",
}

// Targets are the roles that a fault can be aimed at, beside nodes by name.
var Targets = Words{
	"holder":   "the client that passes the trigger",
	"a-server": "any server of the lock service, by the seed",
}

// Untils are what can end a fault.
var Untils = Words{
	"write-accepted": "another client's write was accepted on the victim's key",
	"other-has-read": "another client holds the victim's key and has read, and has not yet written",
}

// Properties are what can be expected of a backend: the checker's properties.
var Properties = []string{
	"mutual-exclusion", "lease-exclusion", "fencing-monotonic", "fenced-writes",
	"no-lost-update/unfenced", "no-lost-update/fenced", "release-by-owner", "honest-claims",
	"false-loss", "validity-bound", "deadlock-freedom", "availability", "recovery",
	"fairness", "reentrancy", "permits", "rw-exclusion", "linearizable",
}
