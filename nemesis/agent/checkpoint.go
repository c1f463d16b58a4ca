package agent

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// armed is what is to happen at a checkpoint.
type armed struct {
	Arm
	at    *AtCheckpoint // the worker stands there, and the runner is asked; nil: it has not come
	since int64         // raw ns, when it came
	limit *time.Timer   // it goes on if the runner does not answer
}

// askLimit is how long the runner may take to say who is hit.
const askLimit = 10 * time.Second

func (a Arm) askLimit() time.Duration {
	if a.Limit > 0 {
		return min(a.Limit, askLimit)
	}
	return askLimit
}

// arm makes the next checkpoint of that name begin a fault or a hold.
func (a *agent) arm(arm Arm) error {
	if _, err := kindOf(arm); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.arms = append(a.arms, &armed{Arm: arm})
	return a.tellArmed()
}

// disarm forgets fault. A worker that stands at its checkpoint for it goes on.
func (a *agent) disarm(fault int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.asking(fault); s != nil {
		s.fault.(*linkFault).answer(false)
	}
	for _, arm := range a.forget(fault) {
		a.pass(arm)
	}
	return a.tellArmed()
}

// strike begins the fault at the checkpoint, or behind the message, that the runner was asked about.
func (a *agent) strike(fault int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.asking(fault); s != nil {
		s.fault.(*linkFault).answer(true)
		return nil
	}
	for _, arm := range a.forget(fault) {
		if arm.at == nil {
			continue
		}
		arm.limit.Stop()
		if err := a.stopped("strike"); err != nil {
			return err // it has died at its checkpoint: another one may be hit
		}
		a.hit(arm.Arm, *arm.at)
		a.stood(arm.Checkpoint, arm.since)
		return a.tellArmed()
	}
	return fmt.Errorf("strike: nobody stands at a checkpoint for fault %d", fault)
}

// asking is the fault of links that has asked whether its message is to be struck. a.mu is held.
func (a *agent) asking(fault int) *active {
	i := slices.IndexFunc(a.held, func(h *active) bool {
		_, ok := h.fault.(*linkFault)
		return ok && h.waits && h.arm.Asks && h.arm.Fault == fault
	})
	if i < 0 {
		return nil
	}
	return a.held[i]
}

// pass lets a worker that stands at a checkpoint go on, unless something else is armed there.
// It stood there for no fault of its own, so the history says so. a.mu is held.
func (a *agent) pass(arm *armed) {
	if arm.at == nil {
		return
	}
	arm.limit.Stop()
	a.letGo(arm.at, "", arm.since)
	a.stood(arm.Checkpoint, arm.since)
	a.stand(*arm.at)
}

// letGo records that the harness kept a client that is not hit: at a checkpoint, or with a
// message of the fault of that kind on its link.
func (a *agent) letGo(at *AtCheckpoint, link string, since int64) {
	op := history.Op{F: history.Held, Length: history.Raw() - since, Error: "held until it was known that another client is hit"}
	if link != "" {
		op.Error = "its message of the " + link + " on the link was " + op.Error
	} else if at != nil {
		op.Value = at.Checkpoint
	}
	if at != nil {
		op.Key, op.Owner = at.Key, at.Owner
	}
	a.note(op)
}

// stood records that the runner took so long to say who is hit that the run is
// disturbed, as by any stall: a lease may have ended meanwhile by no fault that was meant.
func (a *agent) stood(where string, since int64) {
	now := history.Raw()
	if least := a.beats.least.Load(); least > 0 && now-since >= least {
		a.note(history.Op{Time: now, F: history.Stall, Length: now - since, Error: "the runner took so long to say who is hit, at " + where})
	}
}

// forget drops the arming of fault and returns it. a.mu is held.
func (a *agent) forget(fault int) (dropped []*armed) {
	a.arms = slices.DeleteFunc(a.arms, func(arm *armed) bool {
		if arm.Fault == fault {
			dropped = append(dropped, arm)
		}
		return arm.Fault == fault
	})
	return dropped
}

// tellArmed tells the worker at which checkpoints to stop. a.mu is held.
func (a *agent) tellArmed() error {
	checkpoints := []string{}
	for _, arm := range a.arms {
		checkpoints = append(checkpoints, arm.Checkpoint)
	}
	if len(checkpoints) > 0 && a.child != nil {
		defer a.child.stdout.atOnce() // who comes there is not to wait until the next read
	}
	return a.orderLocked(Order{Armed: &checkpoints})
}

// atCheckpoint is called when the worker waits at a checkpoint: a fault fires here, before
// the worker can move on. One that is to hit a single one of several clients asks
// first: what is armed at the others cannot be called off fast enough.
func (a *agent) atCheckpoint(at AtCheckpoint) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stand(at)
}

// stand is atCheckpoint, and what comes after one fault at a checkpoint was called off. a.mu is held.
func (a *agent) stand(at AtCheckpoint) {
	for _, arm := range a.arms {
		if arm.Checkpoint != at.Checkpoint || arm.at != nil { // another thread of the worker stands there
			continue
		}
		if arm.Asks && !arm.waits() {
			arm.at, arm.since = &at, history.Raw()
			arm.limit = time.AfterFunc(arm.askLimit(), func() { _ = a.disarm(arm.Fault) })
			a.out.send(Message{Asks: &Hit{Fault: arm.Fault, Checkpoint: at.Checkpoint, Key: at.Key, Owner: at.Owner, At: arm.since}})
			return
		}
		a.forget(arm.Fault)
		a.hit(arm.Arm, at)
		return
	}
	_ = a.orderLocked(Order{Go: at.ID}) // disarmed meanwhile; a dead worker needs no order
}

// hit carries out what was armed at a checkpoint and tells of it. a.mu is held.
func (a *agent) hit(arm Arm, at AtCheckpoint) {
	hit := &Hit{Fault: arm.Fault, Checkpoint: at.Checkpoint, Key: at.Key, Owner: at.Owner, At: history.Raw()}
	if err := a.begin(arm, &at); err != nil {
		hit.Error, hit.Refused = err.Error(), errors.Is(err, ErrRefused)
	} else if arm.waits() {
		return // its message is the hit
	}
	if hit.Refused { // nothing will end that could let it go
		_ = a.orderLocked(Order{Go: at.ID})
	}
	a.out.send(Message{Hit: hit})
}
