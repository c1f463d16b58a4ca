package history

import "slices"

// FaultKind is one kind of fault: what the scenarios, the nemesis, the judge and the reports need to know of it.
// How it is injected, proven and healed stands in a file of nemesis/agent.
type FaultKind struct {
	Name  string // in scenarios, histories and reports
	About string // one sentence part: what it does

	Need        string // what it takes of the machine that may be missing, as dlmtest doctor calls it
	Capability  string // that its victims need, beside Docker's default
	Local       bool   // the victim's own agent injects it at a checkpoint, within microseconds
	Proof       bool   // its proof needs the victim's program as it was: at work, or the same process
	Disk        bool   // hits the data folder of a server, on the lossy file system
	Link        bool   // hits a client's links to its servers
	Message     bool   // can strike at one message on a link
	MessageOnly bool   // and at nothing else
	Silent      bool   // the client is not served over such a link while it lasts
	Swallows    bool   // and no server hears of it meanwhile: neither a request nor the end of a connection

	Stops      bool // its victim's programs do not run
	Away       bool // its victim answers nobody
	EndsLeases bool // a server that it hits may end leases before their time

	// Words of a report, about one victim and about several; %s is who. Where Begins is empty the
	// report says it in another way.
	Begins, BeginMany, Ends, EndMany string
	Meanwhile                        string // in what state a victim is

	// Lies are the trials in which `dlmtest selftest` leaves the injection out: a scenario and a
	// backend each. Faults of links share one injection.
	Lies [][2]string
}

// What a fault may take of the machine.
const (
	NeedNft   = "nf_tables" // partitions
	NeedFuse  = "/dev/fuse" // crashes and slow disks
	NeedTrace = "ptrace"    // clocks
)

// FaultKinds is the table of all kinds.
var FaultKinds = []FaultKind{
	{
		Name: "pause", Local: true, Proof: true, Stops: true, Away: true,
		About: "stops every process of a node for a while (SIGSTOP, SIGCONT), as a stop-the-world collection or a " +
			"suspended machine does",
		Begins: "%s is paused: none of its threads runs.", BeginMany: "%s are paused: none of their threads runs.",
		Ends: "%s runs again", EndMany: "%s run again", Meanwhile: "while it is paused",
		Lies: [][2]string{{"gc-pause", "redis"}},
	}, {
		Name: "stall-worker", Local: true, Proof: true, Stops: true,
		About:  "stops only the working thread of a client; its renewals and its heartbeat go on",
		Begins: "The work of %s stops; its other threads run.", BeginMany: "The work of %s stops; their other threads run.",
		Ends: "The work of %s goes on", EndMany: "The work of %s goes on", Meanwhile: "while its work stands still",
		Lies: [][2]string{{"stall-worker", "redis"}},
	}, {
		Name: "kill", Local: true, Proof: true, Stops: true, Away: true, EndsLeases: true,
		About:  "kills every process of a node (SIGKILL); a server is started again at the end, a client is not",
		Begins: "%s is killed.", BeginMany: "%s are killed.", Ends: "%s is started again", EndMany: "%s are started again",
		Lies: [][2]string{{"orphan", "redis"}},
	}, {
		Name: "crash", Need: NeedFuse, Disk: true, Proof: true, Stops: true, Away: true, EndsLeases: true,
		About:  "kills a server and drops what it has not fsynced, as a loss of power does; it is started again at the end",
		Begins: "%s crashes and loses what it has not synced.", BeginMany: "%s crash and lose what they have not synced.",
		Ends: "%s is started again", EndMany: "%s are started again",
		Lies: [][2]string{{"token-amnesia", "redis"}},
	}, {
		Name: "disk-stall", Need: NeedFuse, Disk: true, Proof: true, Stops: true,
		About:  "holds every fsync of a server back",
		Begins: "The disk of %s stalls: no fsync comes back.", BeginMany: "The disks of %s stall: no fsync comes back.",
		Ends: "The disk of %s works again", EndMany: "The disks of %s work again",
		Lies: [][2]string{{"disk-stall", "etcd"}},
	}, {
		Name: "clock", Need: NeedTrace, Proof: true, EndsLeases: true,
		About: "bends the clocks of a node's program: REALTIME steps or is slewed, or both clocks run at a wrong rate; no " +
			"other program notices",
		Begins: "The clock of %s is bent.", BeginMany: "The clocks of %s are bent.",
		Ends: "The clock of %s is no longer bent", EndMany: "The clocks of %s are no longer bent",
		Lies: [][2]string{{"clock-jump", "redlock"}, {"clock-strobe", "etcd"}},
	}, {
		Name: "latency", Local: true, Link: true,
		About: "delays what goes through a client's links to its servers, by half a round trip each way, more or less by " +
			"a jitter",
		Begins: "The links of %s get slow.", Ends: "The links of %s are fast again", Meanwhile: "while its links are slow",
	}, {
		Name: "bandwidth", Local: true, Link: true,
		About:  "lets so many bytes a second pass through a client's links, each way",
		Begins: "The links of %s get narrow.", Ends: "The links of %s are wide again", Meanwhile: "while its links are narrow",
	}, {
		Name: "reset", Local: true, Link: true, Silent: true,
		About:  "breaks every connection of a client's links by a TCP reset, and each new one as soon as it is made",
		Begins: "The links of %s break, as often as they are made.", Ends: "The links of %s can be made again",
		Meanwhile: "while its links are broken",
	}, {
		Name: "blackhole", Local: true, Link: true, Silent: true, Swallows: true,
		About: "takes all that goes through a client's links and delivers nothing: half-open connections, on which nobody " +
			"is told of anything",
		Begins: "The links of %s take everything and deliver nothing.", Ends: "The links of %s deliver again",
		Meanwhile: "while its links deliver nothing",
	}, {
		Name: "hold-request", Local: true, Link: true, Message: true, Silent: true, Swallows: true,
		About:  "keeps what a client sends, all of it or from one message on, and delivers it at the end: the delayed packet",
		Begins: "What %s sends is held up on its link.", Ends: "What %s has sent goes on its way",
		Meanwhile: "while its requests are held up",
		Lies:      [][2]string{{"delayed-write", "redis"}},
	}, {
		Name: "hold-answer", Local: true, Link: true, Message: true, Silent: true,
		About:  "keeps what the servers answer a client, all of it or from one message on, and delivers it at the end",
		Begins: "What %s is answered is held up on its link.", Ends: "What %s was answered goes on its way",
		Meanwhile: "while its answers are held up",
	}, {
		Name: "cut-link", Local: true, Link: true, Message: true, MessageOnly: true, // a new connection works at once: nothing ends
		About:  "breaks the connection on which a message comes, in front of the message or behind it; a new connection works",
		Begins: "The link of %s is cut.", Meanwhile: "after its link was cut",
	}, {
		Name: "partition", Need: NeedNft, Capability: "NET_ADMIN", Away: true,
		About: "drops all packets between the target and others, in the network namespaces of both ends; connections " +
			"stall, none is reset",
		Ends: "The partition ends", Meanwhile: "while it is cut off",
		Lies: [][2]string{{"partition-minority", "redlock"}},
	},
}

// FaultOf returns the row of a kind; what is none has a name alone.
func FaultOf(kind string) FaultKind {
	if i := slices.IndexFunc(FaultKinds, func(k FaultKind) bool { return k.Name == kind }); i >= 0 {
		return FaultKinds[i]
	}
	return FaultKind{Name: kind}
}

// FaultsThat names the kinds that are so, in the order of the table.
func FaultsThat(are func(FaultKind) bool) (names []string) {
	for _, k := range FaultKinds {
		if are(k) {
			names = append(names, k.Name)
		}
	}
	return names
}
