package nemesis

import "slices"

// Words is a table of what may stand in a field, with what each word means.
type Words map[string]string

// Kinds are the faults.
var Kinds = Words{
	"pause":        "stops every process of a node for a while (SIGSTOP, SIGCONT), as a stop-the-world collection or a suspended machine does",
	"stall-worker": "stops only the working thread of a client; its renewals and its heartbeat go on",
	"kill":         "kills every process of a node (SIGKILL); a server is started again at the end, a client is not",
	"crash":        "kills a server and drops what it has not fsynced, as a loss of power does; it is started again at the end",
	"disk-stall":   "holds every fsync of a server back",
	"clock":        "bends the clocks of a node's program: REALTIME steps or is slewed, or both clocks run at a wrong rate; no other program notices",
	"latency":      "delays what goes through a client's links to its servers, by half a round trip each way, more or less by a jitter",
	"bandwidth":    "lets so many bytes a second pass through a client's links, each way",
	"reset":        "breaks every connection of a client's links by a TCP reset, and each new one as soon as it is made",
	"blackhole":    "takes all that goes through a client's links and delivers nothing: half-open connections, on which nobody is told of anything",
	"hold-request": "keeps what a client sends, all of it or from one message on, and delivers it at the end: the delayed packet",
	"hold-answer":  "keeps what the servers answer a client, all of it or from one message on, and delivers it at the end",
	"cut-link":     "breaks the connection on which a message comes, in front of the message or behind it; a new connection works",
	"partition":    "drops all packets between the target and others, in the network namespaces of both ends; connections stall, none is reset",
}

// local are the faults that the victim's own agent injects at the gate, within
// microseconds. The others need several nodes: the client is held meanwhile.
var local = map[string]bool{"pause": true, "stall-worker": true, "kill": true, "latency": true, "bandwidth": true,
	"reset": true, "blackhole": true, "hold-request": true, "hold-answer": true, "cut-link": true}

// needsCap are the capabilities that a fault's victims need, beside Docker's default.
var needsCap = map[string]string{"partition": "NET_ADMIN"}

// Bends says whether a fault bends clocks, so that programs must be started for it.
func Bends(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool { return f.Kind == "clock" && f.Refused == "" })
}

// OnDisk says whether a kind of fault hits the data folder of a server.
func OnDisk(kind string) bool { return kind == "crash" || kind == "disk-stall" }

// Disks says whether a fault needs the servers' data on the lossy file system.
func Disks(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool { return OnDisk(f.Kind) && f.Refused == "" })
}

// Capabilities lists what the nodes of a run with these faults need.
func Capabilities(faults []Fault) []string {
	var caps []string
	for _, f := range faults {
		if c, ok := needsCap[f.Kind]; ok {
			caps = append(caps, c)
		}
	}
	return caps
}

// Gates are the points that a client passes, where a fault can be triggered.
var Gates = Words{
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
