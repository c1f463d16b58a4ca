package nemesis

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// Words is a table of what may stand in a field, with what each word means.
type Words map[string]string

// Kinds are the faults: see history.FaultKinds.
var Kinds = kinds()

func kinds() Words {
	all := Words{}
	for _, k := range history.FaultKinds {
		all[k.Name] = k.About
	}
	return all
}

// Need says what a kind of fault takes of the machine; empty: nothing that may be missing.
func Need(kind string) string { return history.FaultOf(kind).Need }

// Bends says whether a fault bends clocks, so that programs must be started for it.
func Bends(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool { return f.Kind == "clock" && f.Refused == "" })
}

// OnDisk says whether a kind of fault hits the data folder of a server.
func OnDisk(kind string) bool { return history.FaultOf(kind).Disk }

// Disks says whether a fault needs the servers' data on the lossy file system.
func Disks(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool { return OnDisk(f.Kind) && f.Refused == "" })
}

// Capabilities lists what the nodes of a run with these faults need.
func Capabilities(faults []Fault) []string {
	var caps []string
	for _, f := range faults {
		if c := history.FaultOf(f.Kind).Capability; c != "" {
			caps = append(caps, c)
		}
	}
	return caps
}

// AllCapabilities lists what some fault needs.
func AllCapabilities() (caps []string) {
	for _, k := range history.FaultKinds {
		if k.Capability != "" {
			caps = append(caps, k.Capability)
		}
	}
	return caps
}

// Checkpoints are the points that a client passes, where a fault can be triggered.
var Checkpoints = Words{
	"waiting":      "a client is about to ask for the lock",
	"between":      "a client is between two requests of one acquire, where its lock takes several",
	"acquired":     "a client has been granted the lock and has done nothing yet",
	"before-write": "the holder has read, and has neither checked itself nor sent its write",
	"writing":      "the holder has checked itself, and has not sent its write",
	"renewing":     "the holder is about to send a renewal",
	"releasing":    "the holder has written and has not sent its release",
}

// Targets are the roles that a fault can be aimed at, beside nodes by name.
var Targets = Words{
	"holder":     "the client that passes the trigger",
	"a-client":   "any client, by the seed",
	"a-waiter":   "a client that waits for the lock, by the seed; with on: waiting the one that passes it",
	"clients":    "all clients",
	"a-server":   "any server of the lock service, by the seed",
	"reached":    "a server that no fault of this run has hit before: one that the holder has its lock from",
	quorumMember: "a server that the holder has its lock from, by what the servers say (Redis, Redlock)",
	"leader":     "the server that leads",
	"a-follower": "a server that does not lead, by the seed",
	"minority":   "the largest minority of the servers, of each kind of server, by the seed",
	"majority":   "the smallest majority of the servers, of each kind of server, by the seed",
	"servers":    "all servers of the lock service",
	"resource":   "the node of the guarded resource",
	"all":        "every node; a kill spares the guarded resource, whose memory is the evidence",
}

// Shapes are partitions of the servers among themselves, for Target.
var Shapes = Words{
	"halves": "two halves of the servers, by the seed",
	"ring":   "each server reaches a majority, and no two the same",
	"bridge": "two halves, and one server that reaches both",
}

// Untils are what can end a fault, beside its length.
var Untils = Words{
	UntilWriteAccepted: "another client's write was accepted on the victim's key",
	UntilGranted:       "another client was granted the victim's key",
	UntilOtherHasRead:  "another client holds the victim's key and has read, and has not yet written",
}
