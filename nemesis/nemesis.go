package nemesis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/agent"
	"github.com/dlmtest/dlmtest/history"
)

// Victim is a node that a fault can hit.
type Victim interface {
	Name() string
	// Command has the node's agent carry out c and returns its answer.
	Command(ctx context.Context, c agent.Command) error
}

// Fault is one planned fault, resolved: times are no longer in leases.
type Fault struct {
	Kind   string        // "pause"
	Target string        // holder, a-server, or the name of a node
	On     string        // the gate that triggers it; empty: At alone
	At     time.Duration // from the begin of the load, at the earliest
	Count  int           // how often
	Until  string        // what ends it: UntilWriteAccepted, UntilOtherHasRead; empty: Max
	Min    time.Duration // it lasts at least this long
	Max    time.Duration // and at most this long
}

// What ends a fault, beside its limits.
const (
	UntilWriteAccepted = "write-accepted" // another client's write was accepted
	UntilOtherHasRead  = "other-has-read" // another client has read and has not written
)

// Stage is what a nemesis plays on.
type Stage struct {
	Clients, Servers []Victim
	Feed             *Feed
	Pick             func(n int) int  // a seeded choice of one of n
	Note             func(history.Op) // records what the nemesis itself knows: a fault that never came
	Limit            time.Duration    // how long a trigger may take to be reached
}

// Kinds is the table of faults, with what each does, for people.
var Kinds = map[string]string{
	"pause": "stops every process of a node for a while (SIGSTOP, SIGCONT), as a stop-the-world collection or a suspended machine does",
}

// Gates is the table of triggers, in the order in which a client passes them.
var Gates = []string{"acquired", "before-write", "writing", "releasing"}

// Play runs every fault and returns when all are healed. Faults overlap. An
// error is dlmtest's own; a fault that was not seen is in the history instead.
func Play(ctx context.Context, stage Stage, faults []Fault) error {
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
	select {
	case <-time.After(f.At):
	case <-ctx.Done():
		return nil
	}
	for n := range max(f.Count, 1) {
		id := first + n
		err := pause(ctx, stage, f, id)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil // interrupted; what was begun has been healed
		default:
			stage.Note(history.Op{F: history.Fault, Time: stage.Feed.Last(), Type: history.Note, Error: err.Error(),
				Fault: &history.FaultNote{ID: id, Kind: f.Kind, Target: f.Target, Phase: history.Missed, Proof: err.Error()}})
			return nil
		}
	}
	return nil
}

// targets returns the nodes that a fault may hit: the first of these that reaches
// the trigger is hit.
func (s Stage) targets(f Fault) ([]Victim, error) {
	switch f.Target {
	case "holder":
		if f.On == "" {
			return nil, errors.New("fault pause: the target \"holder\" needs a trigger, such as on: before-write")
		}
		return s.Clients, nil
	case "a-server":
		if len(s.Servers) == 0 {
			return nil, errors.New("the cluster has no servers")
		}
		return []Victim{s.Servers[s.Pick(len(s.Servers))]}, nil
	}
	for _, v := range append(append([]Victim{}, s.Clients...), s.Servers...) {
		if v.Name() == f.Target {
			return []Victim{v}, nil
		}
	}
	return nil, fmt.Errorf("fault %s: no node is named %q", f.Kind, f.Target)
}

func (s Stage) isClient(v Victim) bool {
	for _, c := range s.Clients {
		if c.Name() == v.Name() {
			return true
		}
	}
	return false
}
