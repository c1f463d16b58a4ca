package agent

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// usage is what the child and all that it has started use of the machine.
type usage struct {
	memory  uint64 // bytes
	threads int
}

// Pauses between two looks. Memory can grow by a gigabyte in the first.
const (
	lookEvery = 200 * time.Millisecond
	diskEvery = 2 * time.Second
)

// watchBudget ends a child that takes more of the machine than its share. In a container the
// kernel does that; in the runtime local nobody else would before the machine itself suffers. Of
// processes a container has as many for an adapter, its worker and its agent together, so there
// too an adapter that takes them all is ended.
func (a *agent) watchBudget() {
	alone := way() == seal.Namespaces
	if alone {
		go a.watchDisk()
	}
	for range time.Tick(lookEvery) {
		a.mu.Lock()
		c := a.child
		a.mu.Unlock()
		if c == nil || !alone && !c.spec.Starts {
			continue
		}
		memory, threads := uint64(seal.ServerMemory), seal.ServerProcesses
		if c.spec.Speaks {
			memory, threads = seal.ClientMemory, seal.ClientProcesses
		}
		pids := c.processes()
		used := measure(pids)
		if alone && used.memory > memory && shares(pids) > memory {
			a.overdrawn(fmt.Sprintf("used more than %d MB of memory", memory>>20))
		}
		if used.threads > threads/2 {
			a.overdrawn(fmt.Sprintf("had %d processes and threads at the same time, more than %d", used.threads, threads/2))
		}
	}
}

func (a *agent) watchDisk() {
	for range time.Tick(diskEvery) {
		if used := written("/tmp", "/run", "/var"); used > seal.NodeDisk {
			a.overdrawn(fmt.Sprintf("wrote more than %d MB of files", int64(seal.NodeDisk)>>20))
		}
	}
}

// overdrawn says what was too much, and ends who did it: of a worker that is our own code the
// adapter. It says nothing about the lock.
func (a *agent) overdrawn(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.child
	if c == nil || a.stopped("budget") != nil {
		return
	}
	pids := c.processes()
	if c.spec.Starts {
		pids = slices.DeleteFunc(pids, func(pid int) bool { return pid == c.cmd.Process.Pid })
	}
	text := fmt.Sprintf("the server of %s %s, and was ended: that is its share of this machine", a.name, what)
	switch {
	case c.spec.Starts: // in the words of protocol.Fault
		text = fmt.Sprintf("the adapter's fault (greedy): it %s with all that it started, and was ended; that is a client's share of this machine", what)
	case c.spec.Speaks:
		text = fmt.Sprintf("the library's fault (greedy): its client %s, and was ended; that is a client's share of this machine", what)
	}
	if c.spec.Speaks {
		a.note(history.Op{F: history.Adapter, Error: text})
	} else {
		a.out.send(Message{Error: text})
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // gone already: as wanted
	}
}

// measure reads what the kernel counts of each process. Memory that they share counts more
// than once.
func measure(pids []int) (u usage) {
	for _, pid := range pids {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it has ended
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(line, ":")
			switch name {
			case "RssAnon", "RssShmem":
				u.memory += number(value) << 10
			case "Threads":
				u.threads += int(number(value))
			}
		}
	}
	return u
}

// shares is what the processes use, where what n of them share counts as an nth of each. The
// kernel takes its time to find that out.
func shares(pids []int) (bytes uint64) {
	for _, pid := range pids {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)) // it has ended
		for line := range strings.Lines(string(text)) {
			if value, is := strings.CutPrefix(line, "Pss:"); is {
				bytes += number(value) << 10
			}
		}
	}
	return bytes
}

// number is the first word of what the kernel wrote.
func number(text string) uint64 {
	n, _ := strconv.ParseUint(strings.Fields(text + " 0")[0], 10, 64)
	return n
}

// written is how much of the disk, or of memory that stands in for it, the node's own files
// take. What is mounted below is another file system's, with limits of its own.
func written(folders ...string) (bytes int64) {
	for _, folder := range folders {
		var top syscall.Stat_t
		if syscall.Lstat(folder, &top) != nil {
			continue
		}
		_ = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // removed just now
			}
			info, err := e.Info()
			if err != nil {
				return nil // the same
			}
			s := info.Sys().(*syscall.Stat_t)
			if s.Dev != top.Dev {
				return fs.SkipDir
			}
			bytes += s.Blocks * 512
			return nil
		})
	}
	return bytes
}
