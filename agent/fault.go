package agent

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// fault is one kind of fault at work on this node. prove is called before heal
// and says what the victim itself shows; false: it was not seen there.
type fault interface {
	prove() (string, bool)
	heal() (string, error) // with what is seen after it, if anything
}

// kinds is the table of faults. Each injects and returns what heals. An error may
// come with a fault that is half done and must be healed all the same. With Lie it
// leaves out what it does to the victim, and nothing else: its proof must then fail.
// a.mu is held.
var kinds = map[string]func(a *agent, s *active) (fault, error){
	"pause":        injectPause,
	"stall-worker": injectStall,
	"kill":         injectKill,
	"partition":    injectPartition,
	"clock":        injectClock,
	"crash":        injectCrash,
	"disk-stall":   injectDiskStall,
	Hold:           func(*agent, *active) (fault, error) { return nil, nil },
}

func kindOf(arm Arm) (func(*agent, *active) (fault, error), error) {
	kind, ok := kinds[arm.Kind]
	if !ok {
		return nil, fmt.Errorf("unknown fault %q", arm.Kind)
	}
	return kind, nil
}

// active is a fault or a hold in force.
type active struct {
	arm    Arm
	fault  fault   // nil: a hold
	gate   *GateAt // nil: not at a gate
	since  int64   // raw ns
	begun  time.Time
	backup *time.Timer // ends it at Max, whatever becomes of the runner
}

// inject begins a fault now.
func (a *agent) inject(arm Arm) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.child == nil {
		return errors.New("inject: the node's child has not been started")
	}
	return a.begin(arm, nil)
}

// begin carries out arm. a.mu is held.
func (a *agent) begin(arm Arm, at *GateAt) error {
	inject, err := kindOf(arm)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(a.held, func(h *active) bool { return h.arm.Kind == arm.Kind }); i >= 0 && arm.Kind != Hold {
		return fmt.Errorf("%s: the node suffers the same from fault %d already", arm.Kind, a.held[i].arm.Fault)
	}
	s := &active{arm: arm, gate: at, since: history.Raw(), begun: time.Now()}
	a.held = append(a.held, s)
	if arm.Max > 0 {
		s.backup = time.AfterFunc(arm.Max, func() { a.finish(s) })
	}
	if arm.Kind != Hold {
		a.tell(s, history.Begin, s.since, "")
	}
	if s.fault, err = inject(a, s); err != nil {
		a.tell(s, history.Missed, 0, err.Error())
	}
	if arm.Lie && at != nil {
		_ = a.orderLocked(Order{Go: at.ID}) // a fault that holds the work at its gate does not
	}
	return err
}

// end ends a fault or a hold, at its Min or at once.
func (a *agent) end(id int, atOnce bool) error {
	a.mu.Lock()
	i := slices.IndexFunc(a.held, func(h *active) bool { return h.arm.Fault == id })
	if i < 0 {
		a.mu.Unlock()
		return nil // it has ended by itself
	}
	s := a.held[i]
	a.mu.Unlock()
	if left := s.arm.Min - time.Since(s.begun); left > 0 && !atOnce {
		time.AfterFunc(left, func() { a.finish(s) })
		return nil
	}
	a.finish(s)
	return nil
}

// finish proves, heals and lets the worker go on. It does nothing the second time.
func (a *agent) finish(s *active) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(a.held, s)
	if i < 0 {
		return
	}
	a.held = slices.Delete(a.held, i, i+1)
	if s.backup != nil {
		s.backup.Stop()
	}
	over := &Over{Fault: s.arm.Fault}
	switch {
	case s.fault != nil:
		over.Error = a.heal(s)
	case s.gate != nil:
		a.note(history.Op{F: history.Gate, Key: s.gate.Key, Owner: s.gate.Owner, Length: history.Raw() - s.since,
			Error: "the harness held the client at the gate " + s.gate.Gate})
	}
	over.At = history.Raw()
	if s.gate != nil {
		_ = a.orderLocked(Order{Go: s.gate.ID}) // a dead worker needs no order
	}
	a.out.send(Message{Over: over})
}

// heal takes the proof, heals and records both.
func (a *agent) heal(s *active) string {
	proof, seen := s.fault.prove()
	phase := history.Observed
	if !seen {
		phase = history.Missed
	}
	a.tell(s, phase, 0, proof)
	at := history.Raw() // before the heal: what the child does next comes after it
	after, err := s.fault.heal()
	if err != nil {
		a.tell(s, history.Failed, 0, err.Error())
		return err.Error()
	}
	a.tell(s, history.Heal, at, after)
	return ""
}

// tell records one phase of a fault on this node.
func (a *agent) tell(s *active, phase history.Phase, at int64, proof string) {
	a.note(history.Op{Time: at, F: history.Fault, Fault: &history.FaultNote{
		ID: s.arm.Fault, Kind: s.arm.Kind, Target: a.name, Phase: phase, Proof: proof, Cut: s.arm.Cut}})
}
