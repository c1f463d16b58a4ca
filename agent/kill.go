package agent

import (
	"fmt"
	"time"
)

// kill is a dead child. A server is started again at the heal, with the same
// command; a worker is not: its client is gone for good.
type kill struct {
	agent *agent
	child *child
	pid   int
	lie   bool
}

func injectKill(a *agent, s *active) (fault, error) {
	k := &kill{a, a.child, a.child.cmd.Process.Pid, s.arm.Lie}
	if k.lie {
		return k, nil
	}
	k.child.planned.Store(true)
	k.child.kill()
	// Not until the child's end is reported: that waits for its last line to be
	// read, and at a gate it is the reader who kills.
	for deadline := time.Now().Add(stopLimit); k.lives(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return k, fmt.Errorf("kill: process %d still lives %v after SIGKILL", k.pid, stopLimit)
		}
	}
	return k, nil
}

// lives: a zombie does not.
func (k *kill) lives() bool {
	s, err := readStat(fmt.Sprintf("/proc/%d/stat", k.pid))
	return err == nil && s.state != 'Z' && s.state != 'X'
}

func (k *kill) prove() (string, bool) {
	return fmt.Sprintf("process %d was killed and is gone", k.pid), !k.lives()
}

func (k *kill) heal() (string, error) {
	if k.child.spec.Speaks || k.lie {
		return "the client stays away", nil
	}
	if err := k.agent.launch(k.child.spec); err != nil {
		return "", fmt.Errorf("start again: %w", err)
	}
	return fmt.Sprintf("started again as process %d", k.agent.child.cmd.Process.Pid), nil
}
