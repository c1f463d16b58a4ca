package agent

import (
	"errors"
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// stopped is a pause or a hold in force.
type stopped struct {
	arm    Arm
	pause  *pause  // nil: a hold
	gate   *GateAt // nil: not at a gate
	since  int64   // raw ns
	beats  int64   // heartbeats at its begin
	begun  time.Time
	backup *time.Timer // ends it at Max, whatever becomes of the runner
}

// arm makes the next gate of that name do a.Action.
func (a *agent) arm(arm Arm) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.arms = append(a.arms, arm)
	return a.tellArmed()
}

func (a *agent) disarm(fault int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(fault)
	return a.tellArmed()
}

// forget drops the arming of fault. a.mu is held.
func (a *agent) forget(fault int) {
	kept := a.arms[:0]
	for _, arm := range a.arms {
		if arm.Fault != fault {
			kept = append(kept, arm)
		}
	}
	a.arms = kept
}

// tellArmed tells the worker at which gates to stop. a.mu is held.
func (a *agent) tellArmed() error {
	gates := []string{}
	for _, arm := range a.arms {
		gates = append(gates, arm.Gate)
	}
	return a.orderLocked(Order{Armed: &gates})
}

// atGate is called when the worker waits at a gate: a fault fires here, before
// the worker can move on.
func (a *agent) atGate(at GateAt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, arm := range a.arms {
		if arm.Gate != at.Gate || a.stop != nil {
			continue
		}
		a.forget(arm.Fault)
		hit := &Hit{Fault: arm.Fault, Gate: at.Gate, Key: at.Key, Owner: at.Owner, At: history.Raw(), Seen: true}
		if err := a.begin(arm, &at); err != nil {
			hit.Seen, hit.Error = false, err.Error()
		}
		a.out.send(Message{Hit: hit})
		return
	}
	_ = a.orderLocked(Order{Go: true}) // disarmed meanwhile; a dead worker needs no order
}

func (a *agent) pauseNow(arm Arm) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stop != nil {
		return fmt.Errorf("pause: the node is already stopped by fault %d", a.stop.arm.Fault)
	}
	if a.child == nil {
		return errors.New("pause: the node's child has not been started")
	}
	return a.begin(arm, nil)
}

// begin carries out arm. a.mu is held.
func (a *agent) begin(arm Arm, at *GateAt) error {
	s := &stopped{arm: arm, gate: at, since: history.Raw(), begun: time.Now(), beats: a.beats.count.Load()}
	a.stop = s
	if arm.Max > 0 {
		s.backup = time.AfterFunc(arm.Max, func() { a.finish(s) })
	}
	if arm.Action == Hold {
		return nil
	}
	a.fault(s, history.Begin, s.since, "")
	var err error
	if s.pause, err = pauseChild(a.child.cmd.Process.Pid); err != nil {
		a.fault(s, history.Missed, 0, err.Error())
	}
	return err
}

// end ends the pause or hold of fault, now or at its Min.
func (a *agent) end(fault int) error {
	a.mu.Lock()
	s := a.stop
	a.mu.Unlock()
	if s == nil || s.arm.Fault != fault {
		return nil // it has ended by itself
	}
	if left := s.arm.Min - time.Since(s.begun); left > 0 {
		time.AfterFunc(left, func() { a.finish(s) })
		return nil
	}
	a.finish(s)
	return nil
}

// finish proves, heals and lets the worker go on. It does nothing the second time.
func (a *agent) finish(s *stopped) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stop != s {
		return
	}
	a.stop = nil
	if s.backup != nil {
		s.backup.Stop()
	}
	over := &Over{Fault: s.arm.Fault}
	if s.pause != nil {
		over.Error = a.heal(s)
	} else {
		a.note(history.Op{F: history.Gate, Key: s.gate.Key, Owner: s.gate.Owner, Length: history.Raw() - s.since,
			Error: "the harness held the client at the gate " + s.gate.Gate})
	}
	over.At = history.Raw()
	if s.gate != nil {
		_ = a.orderLocked(Order{Go: true}) // a dead worker needs no order
	}
	a.out.send(Message{Over: over})
}

// heal takes the proof, continues the child and records both.
func (a *agent) heal(s *stopped) string {
	proof, seen := s.pause.proof(a.beats.count.Load() - s.beats)
	phase := history.Observed
	if !seen {
		phase = history.Missed
	}
	a.fault(s, phase, 0, proof)
	at := history.Raw() // before SIGCONT: what the child does next comes after it
	if err := s.pause.resume(); err != nil {
		a.fault(s, history.Failed, 0, err.Error())
		return err.Error()
	}
	a.fault(s, history.Heal, at, "")
	return ""
}

func (a *agent) fault(s *stopped, phase history.Phase, at int64, proof string) {
	a.note(history.Op{Time: at, F: history.Fault, Fault: &history.FaultNote{
		ID: s.arm.Fault, Kind: string(s.arm.Action), Target: a.name, Phase: phase, Proof: proof}})
}
