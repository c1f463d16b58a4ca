package nemesis

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// Victim is a node that a fault can hit.
type Victim interface {
	Name() string
	Address() string // where its peers reach it, without a port
	// Command has the node's agent carry out c and returns its answer.
	Command(ctx context.Context, c agent.Command) error
}

// Fault is one planned fault, resolved: times are no longer in leases.
type Fault struct {
	Kind     string        // a key of Kinds
	Target   string        // a key of Targets, or the name of a node
	On       string        // the checkpoint that triggers it; empty: At alone
	At       time.Duration // from the begin of the load, at the earliest
	Count    int           // how often
	Every    time.Duration // from the end of one to the next; 0: at once
	Interval time.Duration // instead of Every: from the begin of one to the next
	Name     string        // by which others come after it; empty: none do
	After    string        // the name of the fault after which it comes, and At counts from there
	When     string        // what of that fault: WhenBegun, WhenHealed
	Random   bool          // of a random schedule: skipped, not missed, where it cannot be
	Item     int           // of a random schedule: which item of the mix it was drawn from
	Stream   int           // the stream of the seed for its choices, of the first of its Count; 0: its number
	Refused  string        // why this backend cannot suffer it, known before the run; it is skipped
	Until    string        // what ends it: UntilWriteAccepted, UntilOtherHasRead; empty: Max
	Min      time.Duration // it lasts at least this long
	Max      time.Duration // and at most this long

	From      string       // partition: from whom the target is cut, as Target; empty: from all others
	Direction string       // partition: both, or in or out as the target sees it; empty: both
	To        string       // faults of links: whose far ends, a key of FarEnds or the name of a node; empty: servers
	Params    agent.Params // of the other kinds
}

// What ends a fault, beside its limits.
const (
	UntilWriteAccepted = "write-accepted" // another client's write was accepted
	UntilOtherHasRead  = "other-has-read" // another client has read and has not written
	UntilGranted       = "granted"        // another client was granted the key
)

// Stage is what a nemesis plays on.
type Stage struct {
	Clients, Servers []Victim
	Linked           []string // the servers to which clients have links, where that is not all of them
	Resource         Victim
	Feed             *Feed
	Seed             uint64                                // of every choice
	Random           *rand.Rand                            // of the choices of one fault; set by Play
	Leader           func(context.Context) (Victim, error) // the server that leads; an error where none does
	// Holds says whose lock a server keeps; "": nobody's.
	Holds func(ctx context.Context, server Victim, key string) (owner string, err error)
	// Back has a client at work that was killed and whose program was started again.
	Back func(ctx context.Context, client Victim) error
	Note func(history.Op) // records a fault that never came
	// Armed is called when all clients are armed, or without a trigger when the fault is in force; it may be nil.
	Armed    func(fault int)
	Lie      bool          // no fault is injected: the self-test of the proofs
	Severed  *Severed      // which nodes faults have hit; set by Play
	Limit    time.Duration // how long a trigger may take to be reached
	Patience time.Duration // the same for a fault of a random schedule; 0: Limit

	reached *milestones // which faults have begun and ended
	suffer  *sufferings // who suffers what
	at      *agent.Hit  // of the fault at work: where its trigger was reached
}

// Play runs every fault and returns when all are healed. Faults overlap. An
// error is dlmtest's own; a fault that was not seen is in the history instead.
func Play(ctx context.Context, stage Stage, faults []Fault) error {
	stage.Severed = &Severed{names: map[string]bool{}}
	stage.reached = &milestones{all: map[[2]string]*milestone{}}
	stage.suffer = &sufferings{}
	var wait sync.WaitGroup
	errs := make([]error, 0, len(faults))
	id := 0
	var mu sync.Mutex
	for _, f := range faults {
		first := id + 1
		id += max(f.Count, 1)
		wait.Go(func() {
			if err := play(ctx, stage, f, first); err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// play runs one fault Count times, one after the other.
func play(ctx context.Context, stage Stage, f Fault, first int) error {
	defer stage.reached.give(f.Name)
	err := stage.due(ctx, f)
	begun := time.Now()
	for n := range max(f.Count, 1) {
		id := first + n
		if n > 0 {
			err = stage.again(ctx, f, begun, n)
		}
		if err == nil {
			stage.Random = chooser(stage.Seed, id)
			if f.Stream > 0 {
				stage.Random = chooser(stage.Seed, f.Stream+n)
			}
			err = stage.once(ctx, f, id)
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil // interrupted; what was begun has been healed
		default:
			op := f.came(id, err)
			op.Time = stage.Feed.Last()
			stage.Note(op)
			if op.Fault.Phase == history.Missed {
				return nil
			}
		}
	}
	stage.reached.reach(f.Name, WhenHealed)
	return nil
}

// Severed remembers the nodes that faults of this run have hit.
type Severed struct {
	mu    sync.Mutex
	names map[string]bool
}

func (s *Severed) add(nodes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range nodes {
		s.names[n] = true
	}
}

func (s *Severed) has(node string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names[node]
}

// sleep waits for d; false: ctx has ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
