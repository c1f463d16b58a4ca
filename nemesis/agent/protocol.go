// Package agent is the first process of every node. It starts, stops, signals
// and shields the node's one child (a server or a worker), holds the child at
// checkpoints, injects the faults that are armed in it, and passes what the child
// records on to the runner. Its control plane is its own stdin and stdout, in
// JSON lines, which no partition can cut; at EOF it kills the child and exits.
package agent

import (
	"encoding/json"
	"time"

	"github.com/dlmtest/dlmtest/nemesis/agent/links"
	"github.com/dlmtest/dlmtest/nemesis/agent/lossy"
	"github.com/dlmtest/dlmtest/nemesis/agent/vdso"
)

// Command is one line from the runner to an agent. Every command is answered by
// a Message with Re set to its ID.
type Command struct {
	ID    int             `json:"id"`
	Do    Do              `json:"do"`
	Child *Child          `json:"child,omitempty"` // Start, Run, Try
	Need  string          `json:"need,omitempty"`  // Try
	Line  json.RawMessage `json:"line,omitempty"`  // Send: one line for the child's stdin
	Arm   *Arm            `json:"arm,omitempty"`   // ArmCheckpoint, Inject
	Fault int             `json:"fault,omitempty"` // Strike, Disarm, Heal, Cancel: the number of the fault
}

// Do names what a command asks for.
type Do string

// The commands.
const (
	Start         Do = "start"  // start the child
	Send          Do = "send"   // pass a line to the child
	ArmCheckpoint Do = "arm"    // do something the next time the child reaches a checkpoint
	Strike        Do = "strike" // this is the client that is hit: of an arming that asked
	Disarm        Do = "disarm" // forget an arming that was not hit, also one that asked
	Inject        Do = "inject" // begin a fault now
	Heal          Do = "heal"   // end a fault or a hold; nothing if it has ended
	Cancel        Do = "cancel" // end a fault or a hold at once, whatever its Min: it was not meant
	Kill          Do = "kill"   // kill the child and wait for it
	Check         Do = "health" // answer once the health check succeeds
	Try           Do = "try"    // find out whether the faults that need Need work on this node, before Child is started
	Sync          Do = "sync"   // make durable all that is on the lossy file system, as time does; nothing without one
	End           Do = "end"    // have the child end its records, record nothing more, and answer with Message.End
	Anew          Do = "anew"   // record for another run: with Child a server goes on, watched as that says; without, a worker is ended
	Run           Do = "run"    // run Child.Argv to its end and answer with what it printed
)

// Child is the node's one program.
type Child struct {
	Argv   []string      `json:"argv"`
	Env    []string      `json:"env,omitempty"`
	User   string        `json:"user,omitempty"` // name or uid[:gid], as images write it; empty: root
	Dir    string        `json:"dir,omitempty"`
	Gains  []string      `json:"gains,omitempty"`  // capabilities that a server which is root keeps beside the usual ones, as compose files name them
	Loses  []string      `json:"loses,omitempty"`  // and those that it does not keep
	Health []string      `json:"health,omitempty"` // argv that exits 0 once a client operation succeeds; empty: ready at once
	Speaks bool          `json:"speaks,omitempty"` // a worker: its stdout is Lines, not a log
	Starts bool          `json:"starts,omitempty"` // a worker that starts adapters, sealed off from itself
	Looks  bool          `json:"looks,omitempty"`  // a question of dlmtest's own, by programs of the image, about all processes of the node
	Stall  time.Duration `json:"stall,omitempty"`  // scheduling gaps of at least this length are noted
	Probe  bool          `json:"probe,omitempty"`  // answer the probes of other agents, as a partition's proof needs
	Data   string        `json:"data,omitempty"`   // folder that is served by the lossy file system; empty: none is
	Seed   uint64        `json:"seed,omitempty"`   // of torn crashes and of jitter
	Links  []Link        `json:"links,omitempty"`  // the ways to its servers that can be faulted; they outlive it
	Bend   bool          `json:"bend,omitempty"`   // its clocks can be bent
	Tells  []string      `json:"tells,omitempty"`  // argv that prints the child's REALTIME in seconds: the proof of a clock fault; empty: none
	Clock  bool          `json:"clock,omitempty"`  // note when the host's REALTIME is set: one node does it for all
}

// Arm is a fault on this node: to be injected now, or at a checkpoint.
type Arm struct {
	Fault      int           `json:"fault"` // its number; a hold's is negative
	Kind       string        `json:"kind"`  // a key of the table of kinds, such as "pause"
	Checkpoint string        `json:"checkpoint,omitempty"`
	Min        time.Duration `json:"min,omitempty"`   // it lasts at least this long, whatever the runner says
	Max        time.Duration `json:"max,omitempty"`   // and at most this long, with or without the runner
	Lie        bool          `json:"lie,omitempty"`   // do nothing, and go on as if: the self-test of the proofs
	Limit      time.Duration `json:"limit,omitempty"` // a fault on a message waits for it at most this long, and who asks for the answer
	// Asks: several clients are armed and one is to be hit, so whoever comes to the
	// checkpoint, or whose message comes, stands there until the runner says Strike or Disarm.
	Asks bool `json:"asks,omitempty"`
	// Optional: it gives way to a fault whose proof it would spoil, and one that met
	// nothing to hit is skipped: those of a random schedule.
	Optional bool `json:"optional,omitempty"`
	Params
}

// Params are what single kinds need to know.
type Params struct {
	Peers  []string      `json:"peers,omitempty"`  // partition: addresses whose packets this node drops on arrival
	Cut    []string      `json:"cut,omitempty"`    // the names of these nodes; of a link fault, the far nodes that it keeps from answering
	Mode   lossy.Mode    `json:"mode,omitempty"`   // crash: what is lost
	Skew   *vdso.Skew    `json:"skew,omitempty"`   // clock: how the child's clocks are bent
	Anyway bool          `json:"anyway,omitempty"` // clock: a drift also of programs that it ruins
	Strobe time.Duration `json:"strobe,omitempty"` // clock: the time from one flip between Skew and the truth to the next; 0: it stays
	Link   *LinkFault    `json:"link,omitempty"`   // faults of links: which links, how, and on what message
	Back   bool          `json:"back,omitempty"`   // kill: a worker is started again at the end, too, and waits to be told its spec
}

// Hold keeps the worker at its checkpoint, running. It is no fault.
const Hold = "hold"

// Message is one line from an agent to the runner. Exactly one group is set.
type Message struct {
	Re      int    `json:"re,omitempty"` // the command that this answers; Log is what a Run printed
	Error   string `json:"error,omitempty"`
	Refused bool   `json:"refused,omitempty"` // with Error: another fault is in the way, and nothing was begun

	Op   json.RawMessage `json:"op,omitempty"` // one history.Op
	Log  string          `json:"log,omitempty"`
	Asks *Hit            `json:"asks,omitempty"` // an armed checkpoint was reached, or its message has come: is it to be hit?
	Hit  *Hit            `json:"hit,omitempty"`  // an armed checkpoint was reached, and what was armed is done
	Over *Over           `json:"over,omitempty"` // a fault or a hold has ended
	Exit *Exit           `json:"exit,omitempty"` // the child has ended
	Say  json.RawMessage `json:"say,omitempty"`  // a line of the worker for the runner
	Lost int             `json:"lost,omitempty"` // lines that could not be kept: the run is inconclusive
	End  *Ended          `json:"end,omitempty"`  // the answer to End: no Op comes after it
}

// Ended is the end of a stream of records, with what was sent in it.
type Ended struct {
	Ops  int  `json:"ops"`            // how many records, those that were lost on the way too
	Open bool `json:"open,omitempty"` // a child ended by itself and did not say how many it had made

	Passed []Passed `json:"passed,omitempty"` // what went through its links
}

// Passed is a kind of message that went through the link to a node, and how often.
type Passed struct {
	links.Passed
	To    string `json:"to"`
	Count int    `json:"count"`
}

// Hit says that a child has reached an armed checkpoint, or that the message has come
// for which a fault of its links waited, and that the armed action has been
// carried out. Key and Owner are those of the checkpoint; a message alone has none.
type Hit struct {
	Fault      int    `json:"fault"`
	Checkpoint string `json:"checkpoint"`
	Key        string `json:"key"`
	Owner      string `json:"owner"`
	At         int64  `json:"at"` // raw MONOTONIC, ns
	Error      string `json:"error,omitempty"`
	Refused    bool   `json:"refused,omitempty"` // with Error: another fault is in the way, and nothing was begun
}

// Over says that a fault or a hold has ended.
type Over struct {
	Fault int    `json:"fault"`
	At    int64  `json:"at"` // raw MONOTONIC, ns
	Error string `json:"error,omitempty"`
}

// Exit says how a child ended.
type Exit struct {
	Time   int64  `json:"time"` // raw MONOTONIC, ns: when it was known
	Code   int    `json:"code"` // -1 when killed by a signal
	Reason string `json:"reason"`
}

// Line is what a worker writes to its agent: an operation, a checkpoint that it has
// reached, a word for the runner, or the end of its records.
type Line struct {
	Op         json.RawMessage `json:"op,omitempty"`
	Checkpoint *AtCheckpoint   `json:"checkpoint,omitempty"`
	Say        json.RawMessage `json:"say,omitempty"`
	End        *Ended          `json:"end,omitempty"` // the child records nothing more
}

// AtCheckpoint is a worker at a checkpoint; it goes on when its agent answers with Order.Go.
type AtCheckpoint struct {
	ID         int    `json:"id"` // unique in the worker's life, from 1: work and renewal may both be at a checkpoint
	Checkpoint string `json:"checkpoint"`
	Key        string `json:"key"`
	Owner      string `json:"owner"`
}

// Order is what an agent writes to its worker.
type Order struct {
	Armed *[]string       `json:"armed,omitempty"` // the checkpoints at which to stop and ask; replaces the former list
	Go    int             `json:"go,omitempty"`    // pass the checkpoint of this ID
	Say   json.RawMessage `json:"say,omitempty"`   // a word of the runner
	End   bool            `json:"end,omitempty"`   // end, and say how many records there were; a worker does so by itself when it ends
}
