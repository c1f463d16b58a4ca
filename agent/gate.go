package agent

import "github.com/dlmtest/dlmtest/history"

// arm makes the next gate of that name begin a fault or a hold.
func (a *agent) arm(arm Arm) error {
	if _, err := kindOf(arm); err != nil {
		return err
	}
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
		if arm.Gate != at.Gate {
			continue
		}
		a.forget(arm.Fault)
		hit := &Hit{Fault: arm.Fault, Gate: at.Gate, Key: at.Key, Owner: at.Owner, At: history.Raw()}
		if err := a.begin(arm, &at); err != nil {
			hit.Error = err.Error()
		}
		a.out.send(Message{Hit: hit})
		return
	}
	_ = a.orderLocked(Order{Go: at.ID}) // disarmed meanwhile; a dead worker needs no order
}
