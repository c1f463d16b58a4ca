package protocol

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// end closes the adapter's stdin, waits for its end at most limit, and kills what is
// left of all that it started. A fault: it had to be killed.
func (p *process) end(limit time.Duration) *Fault {
	_ = p.stdin.Close()
	ended := within(limit, p.ended)
	left := p.kill()
	<-p.ended
	if _, running := p.orders.Ended(p.cmd.ProcessState.ExitCode()); running > 0 {
		left = running // the kernel has ended them with their namespace
	}
	users.give(p.user)
	_ = p.stdout.Close()
	switch {
	case !ended:
		return fault(StaysOn, "it did not end within %v after the end of its stdin, and was killed", limit)
	case left > 0:
		return fault(StaysOn, "it has ended and left %d processes running that it had started; they were killed", left)
	}
	return nil
}

// kill ends the adapter and everything that it started, and returns how many it found.
func (p *process) kill() (found int) {
	if p.cmd.Process == nil {
		return 0 // it has not begun
	}
	for range 20 { // one may have forked meanwhile
		pids := p.family()
		if len(pids) == 0 {
			return found
		}
		found = max(found, len(pids))
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // gone already: as wanted
		}
		for _, pid := range pids { // those whose parent has died are ours, where we adopt (see Adopt)
			if pid != p.cmd.Process.Pid {
				_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
			}
		}
		time.Sleep(time.Millisecond)
	}
	return found
}

// family are the living processes that the adapter has started, itself included: by
// their user, by their mark, which an exec keeps, or by their process group, which a fork
// keeps. Where it has a process namespace of its own, the kernel ends them with it.
func (p *process) family() (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	mark := []byte(markName + "=" + p.mark)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || !alive(pid) {
			continue
		}
		group, _ := syscall.Getpgid(pid)
		env, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if group == p.cmd.Process.Pid || bytes.Contains(env, mark) || p.user > 0 && owner(pid) == p.user {
			pids = append(pids, pid)
		}
	}
	return pids
}

// alive: a zombie is not.
func alive(pid int) bool {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	end := bytes.LastIndexByte(data, ')')
	return err == nil && end >= 0 && len(data) > end+2 && data[end+2] != 'Z' && data[end+2] != 'X'
}

// tick is the unit in which waiting is counted.
const tick = 20 * time.Millisecond

// within waits for done, at most limit of the time in which this process runs: what
// passes while it is stopped counts as one tick.
func within(limit time.Duration, done <-chan struct{}) bool {
	for range max(1, int(limit/tick)) {
		select {
		case <-done:
			return true
		case <-time.After(tick):
		}
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}
