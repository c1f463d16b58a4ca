package agent

import (
	"fmt"
	"time"
)

// kill is a dead child. A server is started again at the heal, with the same
// command. A worker is so only if its client is to come back; another one is gone for good.
type kill struct {
	agent *agent
	child *child
	pids  []int // the child's, and those of all that it had started
	comes bool  // back, if it is a worker
	lie   bool
}

func injectKill(a *agent, s *active) (fault, error) {
	if err := a.stopped(s.arm.Kind); err != nil {
		return nil, err
	}
	k := &kill{a, a.child, a.child.processes(), s.arm.Back, s.arm.Lie}
	if k.lie {
		return k, nil
	}
	k.child.planned.Store(true)
	k.child.kill()
	// Not until the child's end is reported: that waits for its last line to be
	// read, and at a checkpoint it is the reader who kills.
	for deadline := time.Now().Add(stopLimit); len(k.living()) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return k, fmt.Errorf("kill: of processes %v still live %v after SIGKILL: %v", k.pids, stopLimit, k.living())
		}
	}
	return k, nil
}

// living are those that still do; a zombie does not.
func (k *kill) living() (pids []int) {
	for _, pid := range k.pids {
		s, err := readStat(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && s.state != 'Z' && s.state != 'X' {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (k *kill) prove() (string, bool) {
	gone := len(k.living()) == 0
	if len(k.pids) == 1 {
		return fmt.Sprintf("process %d was killed and is gone", k.pids[0]), gone
	}
	return fmt.Sprintf("%d processes were killed and are gone: %v", len(k.pids), k.pids), gone
}

func (k *kill) heal() (string, error) {
	if k.lie || k.child.spec.Speaks && !k.comes {
		return "the client stays away", nil
	}
	if k.child.spec.Speaks {
		k.agent.bury(k.child)
	}
	if err := k.agent.launch(k.child.spec); err != nil {
		return "", fmt.Errorf("start again: %w", err)
	}
	again := k.agent.child
	if again.bent != nil {
		go func() {
			if again.healthy() == nil {
				_ = again.settle() // what is not bent, the proof of a clock fault shows
			}
		}()
	}
	if again.spec.Speaks {
		if err := k.agent.tellArmed(); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("started again as process %d", again.cmd.Process.Pid), nil
}

// back says that a client is started again at the heal.
func (k *kill) back() bool { return k.comes && k.child.spec.Speaks && !k.lie }

// bury files what a dead worker has recorded, and forgets where it stood: its next life numbers its checkpoints anew. a.mu is held.
func (a *agent) bury(dead *child) {
	a.former = a.former.and(dead)
	for _, arm := range a.arms {
		if arm.at != nil {
			arm.limit.Stop()
			arm.at = nil
		}
	}
	for _, h := range a.held {
		h.checkpoint = nil
	}
}
