package agent

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// lacks says what a command does not have that it needs.
func (c Command) lacks() error {
	switch c.Do {
	case Start, Run:
		if c.Child == nil || len(c.Child.Argv) == 0 {
			return fmt.Errorf("%s: no program is named", c.Do)
		}
	case Try:
		if c.Child == nil || c.Need == NeedTrace && len(c.Child.Argv) == 0 {
			return errors.New("try: no program is named")
		}
	case ArmCheckpoint, Inject:
		if c.Arm == nil {
			return fmt.Errorf("%s: no fault is named", c.Do)
		}
	}
	return nil
}

// survive answers a command whose handling panics: the agent is the first process of its
// node, and all of the node would end with it.
func (a *agent) survive(c Command) {
	if r := recover(); r != nil {
		a.out.send(Message{Re: c.ID, Error: fmt.Sprintf("agent: %s: a mistake in dlmtest itself: %v\n%s", c.Do, r, debug.Stack())})
	}
}
