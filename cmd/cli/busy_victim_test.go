package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
)

// find waits until whom the trial names is there; 0: it does not come.
func (b busyTrial) find(runner int) int {
	if b.stop == "runner" {
		return runner
	}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if pid := agentOf(b.runtime, runner, b.stop); pid != 0 {
			return pid
		}
	}
	return 0
}

// strike stops it for its time; false: it was gone.
func (b busyTrial) strike(pid int) bool {
	time.Sleep(b.at)
	if pid == 0 || syscall.Kill(pid, syscall.SIGSTOP) != nil {
		return false
	}
	time.Sleep(b.length)
	_ = syscall.Kill(pid, syscall.SIGCONT) // it may have been killed
	return true
}

// agentOf finds the agent of a node of a run by what its child is; 0: there is none.
func agentOf(runtime string, runner int, role string) int {
	kids := childrenOfAll()
	roots := []int{runner}
	if runtime == "docker" {
		roots = containersOf(runner)
	}
	var agents []int
	for _, root := range roots {
		for _, pid := range append(below(kids, root), root) {
			if argument(pid, 1) == "agent" && roleOf(kids, pid) == role {
				agents = append(agents, pid)
			}
		}
	}
	if len(agents) == 0 {
		return 0
	}
	return slices.Min(agents)
}

// roleOf tells by the programs below an agent of what kind its node is; "": none runs yet.
func roleOf(kids map[int][]int, agent int) string {
	for _, pid := range below(kids, agent) {
		switch argument(pid, 1) {
		case "store":
			return "resource"
		case "worker":
			return "client"
		}
		if program := filepath.Base(argument(pid, 0)); program != "dlmtest" && program != "." {
			return "server"
		}
	}
	return ""
}

// containersOf are the first processes of the containers of a run, by its owner.
func containersOf(runner int) (pids []int) {
	out, _ := exec.Command("docker", "ps", "--filter", "label=dlmtest", "--format", `{{.ID}} {{.Label "dlmtest.owner"}}`).Output()
	inspect := []string{"inspect", "--format", "{{.State.Pid}}"}
	for line := range strings.Lines(string(out)) {
		id, owner, _ := strings.Cut(strings.TrimSpace(line), " ")
		if o, err := clusters.ParseOwner(owner); err == nil && o.PID == runner {
			inspect = append(inspect, id)
		}
	}
	out, _ = exec.Command("docker", inspect...).Output() // none: the caller finds no agent
	for line := range strings.Lines(string(out)) {
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// childrenOfAll are the children of every process.
func childrenOfAll() map[int][]int {
	kids := map[int][]int{}
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range all {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		pid, err1 := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, err2 := strconv.Atoi(fields[1])
		if err1 == nil && err2 == nil {
			kids[parent] = append(kids[parent], pid)
		}
	}
	return kids
}

// below are all processes that one has started, and those that they have.
func below(kids map[int][]int, pid int) (all []int) {
	for _, kid := range kids[pid] {
		all = append(append(all, kid), below(kids, kid)...)
	}
	return all
}

// argument is one of a process's arguments.
func argument(pid, n int) string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if all := strings.Split(string(data), "\x00"); n < len(all) {
		return all[n]
	}
	return ""
}
