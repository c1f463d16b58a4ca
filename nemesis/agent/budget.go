package agent

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// usage is what the child and all that it has started use of the machine.
type usage struct {
	memory  uint64 // bytes
	tables  uint64 // bytes of it that are page tables, which map memory or nothing at all
	threads int
	sockets int // of the node: each may keep a quarter of a megabyte that no process has
	files   int // that are open: a pipe keeps some pages
}

// The shares of the machine that a node's child has where no container limits it.
var (
	guestShare  = usage{memory: seal.ClientMemory, threads: seal.ClientProcesses / 2, sockets: 2048, files: 16384}
	serverShare = usage{memory: seal.ServerMemory, threads: seal.ServerProcesses / 2, sockets: 8192, files: 65536}
)

// beyond says what of a usage is more than this share; "": nothing. exact is what the
// processes' memory is once what they share counts once.
func (share usage) beyond(u usage, alone bool, exact func() uint64) string {
	switch {
	case u.threads > share.threads:
		return fmt.Sprintf("had %d processes and threads at the same time, more than %d", u.threads, share.threads)
	case !alone:
		return ""
	case u.memory > share.memory && exact()+u.tables > share.memory:
		return fmt.Sprintf("used more than %d MB of memory", share.memory>>20)
	case u.sockets > share.sockets:
		return fmt.Sprintf("had %d sockets at the same time, more than %d", u.sockets, share.sockets)
	case u.files > share.files:
		return fmt.Sprintf("had %d files open at the same time, more than %d", u.files, share.files)
	}
	return ""
}

// Pauses between two looks. Memory can grow by a gigabyte in the first, which the machine has less then: its processes
// are looked at one by one only where it has less, or more threads, and now and then.
const (
	lookEvery  = 200 * time.Millisecond
	closeEvery = time.Second
	diskEvery  = 2 * time.Second
)

// machine is what the whole machine has, as one system call says it.
type machine struct {
	free    uint64 // bytes of memory
	threads int
	at      time.Time
}

// lookAround reads it; ok is false where the kernel does not say.
func lookAround() (m machine, ok bool) {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return m, false
	}
	return machine{free: info.Freeram * uint64(info.Unit), threads: int(info.Procs), at: time.Now()}, true
}

// calm says whether since a look at each process the machine has lost nothing that is much of a share.
func (share usage) calm(last, now machine) bool {
	return now.at.Sub(last.at) < closeEvery && now.free+share.memory/16 > last.free && now.threads < last.threads+share.threads/16
}

// watchBudget ends a child that takes more of the machine than its share. In a container the
// kernel does that; in the runtime local nobody else would before the machine itself suffers. Of
// processes a container has as many for an adapter, its worker and its agent together, so there
// too an adapter that takes them all is ended.
func (a *agent) watchBudget() {
	alone := way() == seal.Namespaces
	if alone {
		go a.watchDisk()
	}
	var last machine
	for range time.Tick(lookEvery) {
		a.mu.Lock()
		c := a.child
		a.mu.Unlock()
		if c == nil || !alone && !c.spec.Starts {
			continue
		}
		share := serverShare
		if c.spec.Speaks {
			share = guestShare
		}
		now, ok := lookAround()
		if ok && share.calm(last, now) {
			continue
		}
		last = now
		pids := c.processes()
		if what := share.beyond(measure(pids), alone, func() uint64 { return shares(pids) }); what != "" {
			a.overdrawn(what)
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
			case "VmPTE":
				u.memory, u.tables = u.memory+number(value)<<10, u.tables+number(value)<<10
			case "Threads":
				u.threads += int(number(value))
			}
		}
		u.files += openFiles(pid)
	}
	text, _ := os.ReadFile("/proc/net/sockstat") // of this node's network
	_, used, _ := strings.Cut(string(text), "sockets: used")
	u.sockets = int(number(used))
	return u
}

// openFiles is how many a process has.
func openFiles(pid int) int {
	folder := fmt.Sprintf("/proc/%d/fd", pid)
	var s syscall.Stat_t
	if syscall.Stat(folder, &s) != nil || s.Size > 0 {
		return int(s.Size)
	}
	entries, _ := os.ReadDir(folder) // before Linux 6.2, or it has ended
	return len(entries)
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
