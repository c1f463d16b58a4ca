package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// killChildren ends all that a process has started, and what these have started. Each
// is stopped first, so that it starts nothing while its own children are read.
func killChildren(pid int) {
	for _, child := range childrenOf(pid) {
		if syscall.Kill(child, syscall.SIGSTOP) == nil {
			killChildren(child)
		}
		_ = syscall.Kill(child, syscall.SIGKILL) // one that has ended needs none
	}
}

// childrenOf are the processes that the threads of a process have started.
func childrenOf(pid int) (all []int) {
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)) // none once it has ended
	for _, t := range threads {
		list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		for _, field := range strings.Fields(string(list)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}
