// Package history holds what was recorded of a run: every operation of every
// client, every fault and every note of a server, in one order by one clock. It
// is a leaf: everything else imports it, it imports nothing of dlmtest.
package history

// Type is the step of an operation that a line records.
type Type string

// An operation starts with Invoke and ends with exactly one of OK, Fail or
// Info. Fail means that it certainly had no effect; Info that it may have
// happened, now or later. Note is an event that is no operation: a fault, a
// loss that a client was told of, a server's own log.
const (
	Invoke Type = "invoke"
	OK     Type = "ok"
	Fail   Type = "fail"
	Info   Type = "info"
	Note   Type = "note"
)

// F names what an operation or a note is about.
type F string

// Operations of clients.
const (
	Acquire F = "acquire" // wait for the lock, up to a limit
	Try     F = "try"     // take the lock or fail at once
	Extend  F = "extend"  // renew a grant
	Release F = "release" // give a grant back; of a reentrant lock: one hold of it
	Change  F = "change"  // turn a grant of a read-write lock into the other mode
	Read    F = "read"    // read both copies of the guarded resource
	Write   F = "write"   // write both copies of the guarded resource
)

// Notes, with type Note.
const (
	Apply     F = "apply"      // the resource decided a write (its own log, in its own order)
	ReadSeen  F = "read-seen"  // the resource answered a read
	Suspended F = "suspended"  // the client was told that its lock may be lost
	Resumed   F = "resumed"    // the client was told that its lock is safe again
	Lost      F = "lost"       // the client was told, or noticed, that its lock is lost
	Abstain   F = "abstain"    // the client did not write, since its own check said that the lock is lost
	Holder    F = "holder"     // who holds the key, read at the server
	Fault     F = "fault"      // a fault: see FaultNote
	Stall     F = "stall"      // an agent or a worker was not scheduled for Length ns
	HostClock F = "host-clock" // the host's REALTIME moved by Length ns against MONOTONIC_RAW
	Clock     F = "clock"      // what a server's own program reads as MONOTONIC and REALTIME, taken around a clock fault
	Stop      F = "stop"       // the client was asked to end: it lived until then, and still waited for what it had no answer to
	Final     F = "final"      // all is healed; the final acquire of every key follows
	Woken     F = "woken"      // the servers have woken Length waiters so far
	Held      F = "held"       // the harness itself held a client for Length ns: at the checkpoint that Value names, if it names one
	End       F = "end"        // its Node records nothing more, and has said that it made Length records; it has the time of the last one
	Unparsed  F = "unparsed"   // what goes through one of the client's links is not understood any more: a fault that waits for a message there cannot begin
	ServerEnd F = "server-end" // the program of Node, a server, has ended by itself: Error is how, and its last words
	Decided   F = "decided"    // all that the scenario expects had been seen, so the load ended Length ns after its begin, before its time
	Adapter   F = "adapter"    // the client's adapter broke the lock client protocol: nothing is known of the lock
)

// Op is one line of a history. Times are nanoseconds.
type Op struct {
	Index int    `json:"index"`          // position in the history, from 0
	Time  int64  `json:"time"`           // CLOCK_MONOTONIC of the one kernel, read by a raw system call
	Mono  int64  `json:"mono,omitempty"` // what the node's own program read as MONOTONIC
	Real  int64  `json:"real,omitempty"` // what the node's own program read as REALTIME
	Node  string `json:"node,omitempty"` // where it was stamped
	// Process is the logical process of a client: one pending operation at a
	// time, retired for good after Info. Notes carry the process they concern or 0.
	Process int    `json:"process"`
	Type    Type   `json:"type"`
	F       F      `json:"f"`
	Key     string `json:"key,omitempty"`

	// A grant, on the ok of Acquire, Try and Extend. Owner names the grant on
	// every later operation that acts on it; it is unique in the run.
	Owner    string `json:"owner,omitempty"`
	Token    int64  `json:"token,omitempty"`    // fencing token; 0: the lock gives none
	Sent     int64  `json:"sent,omitempty"`     // Time at which the request that won was sent: the lock was held at some instant in [Sent, Time]
	Lease    int64  `json:"lease,omitempty"`    // the lease that the service granted; 0: none
	Deadline int64  `json:"deadline,omitempty"` // by the node's own MONOTONIC: the holder claims the lock until then; 0: for ever

	// What was asked of a lock that is no plain mutex, and what was granted: see Kind.
	Mode    Mode  `json:"mode,omitempty"`    // of a read-write lock
	Permits int32 `json:"permits,omitempty"` // of a semaphore: how many the operation asks for, was granted or gives back
	Depth   int32 `json:"depth,omitempty"`   // of a reentrant lock, on ok: how often Owner holds it from then on
	Limit   int64 `json:"limit,omitempty"`   // on the invoke of Acquire: how long it may wait
	Busy    bool  `json:"busy,omitempty"`    // on the fail of Acquire or Try: the service said that another holds the lock

	// The guarded resource. Write invokes and Apply notes carry both copies.
	Value    string `json:"value,omitempty"`    // the unique value that a write writes; of Held: a checkpoint
	Unfenced *Copy  `json:"unfenced,omitempty"` // the copy that accepts every write
	Fenced   *Copy  `json:"fenced,omitempty"`   // the copy that checks tokens

	Fault  *FaultNote `json:"fault,omitempty"`
	Length int64      `json:"length,omitempty"` // of a Stall, a HostClock jump or of Held; how many were Woken, or recorded by whom an End is of
	Error  string     `json:"error,omitempty"`
}

// Copy is one copy of the guarded resource, as one operation saw it.
type Copy struct {
	Value    string `json:"value,omitempty"`    // read: the value found; empty: never written
	Base     string `json:"base,omitempty"`     // write: the value that the writer had read before
	Accepted bool   `json:"accepted,omitempty"` // write: it was applied
	Previous string `json:"previous,omitempty"` // apply: the value that stood there before the write
	Token    int64  `json:"token,omitempty"`    // apply, read: the highest token that the copy has registered
}

// Phase is the step of a fault.
type Phase string

// A fault begins, is observed at its victim (or is not: the run is then
// inconclusive), and is healed. Requested precedes begin: the runner asked.
const (
	Begin    Phase = "begin"
	Observed Phase = "observed"
	Missed   Phase = "missed"
	Heal     Phase = "heal"
	Failed   Phase = "failed" // the heal failed: the harness's error
	// Again: connections that a partition had cut make progress again. TCP has backed off,
	// so that is later than the heal.
	Again Phase = "again"
	// Skipped: a fault of a random schedule could not be, or met nothing to hit, for
	// the reason in Proof. It was neither seen nor missed.
	Skipped Phase = "skipped"
)

// FaultNote is one phase of one fault on one victim.
type FaultNote struct {
	ID     int    `json:"id"`     // number of the fault in the run, from 1
	Kind   string `json:"kind"`   // e.g. "pause"
	Target string `json:"target"` // the victim's node
	Phase  Phase  `json:"phase"`
	// Cut names the nodes whose packets the victim of a partition drops. Without
	// it a server that is a victim counts as cut off from all.
	Cut []string `json:"cut,omitempty"`
	// Whole says that a fault which can begin at one message on a connection holds all that goes over its links,
	// and over each new connection. Of older histories it is not known.
	Whole bool   `json:"whole,omitempty"`
	Proof string `json:"proof,omitempty"` // what was seen at the victim, in words with figures
	// Lasted is for how long the proof has seen a pause, in ns: until all programs of a busy machine stand takes a while.
	// 0: it does not say.
	Lasted int64 `json:"lasted,omitempty"`
	// Back: with Heal, of a client that was killed: it is started again, under its name. Another one stays away.
	Back bool `json:"back,omitempty"`
}
