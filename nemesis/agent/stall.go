package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"

	"github.com/dlmtest/dlmtest/history"
)

// stall keeps the working thread of a worker at its checkpoint. Its other threads run:
// renewals and heartbeat go on, as when work waits for a lock or a disk.
type stall struct {
	owner    string      // of the grant at whose checkpoint the work stands
	stands   []history.F // what it cannot do while it stands
	worked   history.F   // it has done that all the same
	pid      int
	switches int // of all its threads, at the begin
}

func injectStall(a *agent, s *active) (fault, error) {
	if s.checkpoint == nil {
		return nil, errors.New("stall-worker: it needs a checkpoint at which the work stops, such as on: before-write")
	}
	pid := a.child.cmd.Process.Pid
	stands := []history.F{history.Write, history.Release}
	if s.checkpoint.Checkpoint == "renewing" { // it is the renewal that stands, and the work goes on
		stands = []history.F{history.Extend}
	}
	return &stall{owner: s.checkpoint.Owner, stands: stands, pid: pid, switches: switches(pid)}, nil
}

// see takes note of what the child has begun.
func (s *stall) see(raw json.RawMessage) {
	var op history.Op
	if json.Unmarshal(raw, &op) == nil && op.Type == history.Invoke && op.Owner == s.owner && slices.Contains(s.stands, op.F) {
		s.worked = op.F
	}
}

// prove: the process was scheduled again and again, and no thread is stopped.
func (s *stall) prove() (string, bool) {
	all, err := threads(s.pid)
	stopped := 0
	for _, t := range all {
		if t.state == 'T' {
			stopped++
		}
	}
	ran := switches(s.pid) - s.switches
	if s.worked != "" {
		return fmt.Sprintf("what should stand went on: a %s on the same grant", s.worked), false
	}
	return fmt.Sprintf("the work stands at its checkpoint, %d of %d threads are stopped, the process was scheduled %d times meanwhile",
		stopped, len(all), ran), err == nil && stopped == 0 && ran > 0
}

func (s *stall) heal() (string, error) { return "", nil } // the checkpoint opens

var voluntary = regexp.MustCompile(`(?m)^voluntary_ctxt_switches:\s+([0-9]+)$`)

// switches counts how often the threads of pid gave up the processor by themselves.
func switches(pid int) int {
	sum := 0
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)) // gone: no switches
	for _, e := range entries {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/status", pid, e.Name()))
		if m := voluntary.FindSubmatch(status); m != nil {
			n, _ := strconv.Atoi(string(m[1]))
			sum += n
		}
	}
	return sum
}
