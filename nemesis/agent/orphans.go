package agent

import (
	"os"
	"os/exec"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// A program that daemonises forks twice and makes a session of its own: nothing
// ties it to its root any more. The agent is the subreaper of all that it starts (and
// the first process of most nodes), so such a process becomes its child; what it has
// started itself, it knows.

// ours are the processes that this one has started by itself.
var ours = struct {
	sync.Mutex
	pids map[int]bool
}{pids: map[int]bool{}}

// adopt makes this process the parent of what its children leave behind.
func adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } // older kernels: the group must do

// start starts cmd and knows its process before anybody can take it for an orphan.
// disown is called when it has been waited for.
func start(cmd *exec.Cmd, begin func() error) error {
	ours.Lock()
	defer ours.Unlock()
	err := begin()
	if cmd.Process != nil {
		ours.pids[cmd.Process.Pid] = true
	}
	return err
}

func disown(cmd *exec.Cmd) {
	ours.Lock()
	defer ours.Unlock()
	if cmd.Process != nil {
		delete(ours.pids, cmd.Process.Pid)
	}
}

// processes are those of the child: its own, those below it, those of its group or
// with a session in it whose parent has died, and what daemons have left to the agent.
func (c *child) processes() []int {
	ours.Lock()
	defer ours.Unlock()
	t := lookAtProcesses()
	root, self := c.cmd.Process.Pid, os.Getpid()
	home, _ := unix.Getsid(0)
	found := t.below(root)
	for pid, s := range t.stats {
		// As first process of its node the agent has no children but these. Elsewhere, in
		// tests, one of its own session may be somebody else's.
		orphan := s.ppid == self && !ours.pids[pid] && (self == 1 || s.home != home)
		if pid != root && (orphan || s.group == root) && !slices.Contains(found, pid) {
			found = append(found, t.below(pid)...)
		}
	}
	slices.Sort(found[min(1, len(found)):])
	return slices.Compact(found)
}
