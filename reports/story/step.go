package story

import "time"

// Step is one sentence of the story of a violation.
type Step struct {
	At   time.Duration `json:"at"`   // since the run's first operation
	Who  string        `json:"who"`  // who acted: a client, the service, or the fault
	Node string        `json:"node"` // where it happened
	What string        `json:"what"` // a plain sentence
	Op   int           `json:"op"`   // index of its operation; -1: it follows from the others
	Kind Kind          `json:"kind"`

	Token    int64          `json:"token,omitempty"`    // of the grant it acts on
	Left     *time.Duration `json:"left,omitempty"`     // until the holder's own deadline; negative: since
	Fault    string         `json:"fault,omitempty"`    // in force there at that instant
	Unfenced *State         `json:"unfenced,omitempty"` // what became of the unfenced copy
	Fenced   *State         `json:"fenced,omitempty"`   // and of the fenced one

	Brief string `json:"-"` // what it says without the copies, where those are shown beside it
}

// Kind says what a step is about.
type Kind string

// The kinds of steps.
const (
	StepGrant   Kind = "grant"
	StepRead    Kind = "read"
	StepRenew   Kind = "renew"
	StepWrite   Kind = "write"
	StepZombie  Kind = "zombie" // a write on a grant that was no longer the writer's own
	StepEnd     Kind = "lease-end"
	StepRelease Kind = "release"
	StepTold    Kind = "told"
	StepHolder  Kind = "holder"
	StepFault   Kind = "fault"
	StepHeal    Kind = "heal"
	StepHold    Kind = "hold" // the harness itself held a client
	StepWait    Kind = "wait"
	StepLoss    Kind = "loss"
	StepBroken  Kind = "violation"
	StepOther   Kind = "other"
)
