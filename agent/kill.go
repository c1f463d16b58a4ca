package agent

import (
	"fmt"
	"syscall"
)

// kill is a dead child. A server is started again at the heal, with the same
// command; a worker is not: its client is gone for good.
type kill struct {
	agent *agent
	child *child
	pid   int
}

func injectKill(a *agent, _ *active) (fault, error) {
	k := &kill{a, a.child, a.child.cmd.Process.Pid}
	k.child.planned.Store(true)
	k.child.kill()
	<-k.child.ended
	return k, nil
}

func (k *kill) prove() (string, bool) {
	gone := syscall.Kill(k.pid, 0) == syscall.ESRCH
	return fmt.Sprintf("process %d ended: %s", k.pid, k.child.exit.Reason), gone
}

func (k *kill) heal() (string, error) {
	if k.child.spec.Speaks {
		return "the client stays away", nil
	}
	if err := k.agent.launch(k.child.spec); err != nil {
		return "", fmt.Errorf("start again: %w", err)
	}
	return fmt.Sprintf("started again as process %d", k.agent.child.cmd.Process.Pid), nil
}
