package agent

import (
	"fmt"
	"syscall"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// pause is a stopped child: what a stop-the-world collection, a suspended
// machine or a starved host does to a program.
type pause struct {
	heart *heart
	beats int64 // heartbeats of the agent at its begin
	pids  []int
	ticks uint64 // CPU time that its threads had used when they had stopped
	count int    // threads
	since int64  // raw ns
}

// injectPause stops the node's child. A half-stopped child is healed too.
func injectPause(a *agent, s *active) (fault, error) {
	if err := a.stopped("pause"); err != nil {
		return nil, err
	}
	if s.arm.Lie {
		p := &pause{heart: a.beats, pids: descendants(a.child.cmd.Process.Pid), since: s.since}
		p.ticks, p.count, _ = p.measure()
		return p, nil
	}
	p, err := pauseChild(a.child.cmd.Process.Pid)
	p.heart, p.beats = a.beats, a.beats.count.Load()
	return p, err
}

// stopLimit is how long the kernel may take to stop every thread. A thread in an
// uninterruptible sleep stops only at its end.
const stopLimit = 2 * time.Second

// pauseChild sends SIGSTOP to every process below root and returns when the kernel
// shows state T for each thread. An error comes with what was stopped, so that it
// can be resumed.
func pauseChild(root int) (*pause, error) {
	p := &pause{since: history.Raw()}
	stopped := map[int]bool{}
	for deadline := time.Now().Add(stopLimit); ; time.Sleep(50 * time.Microsecond) {
		for _, pid := range descendants(root) { // again each time: one may have forked meanwhile
			if !stopped[pid] && syscall.Kill(pid, syscall.SIGSTOP) == nil {
				stopped[pid] = true
				p.pids = append(p.pids, pid)
			}
		}
		ticks, count, running := p.measure()
		if running == 0 && count > 0 && len(descendants(root)) <= len(stopped) {
			p.ticks, p.count = ticks, count
			return p, nil
		}
		if time.Now().After(deadline) {
			return p, fmt.Errorf("pause: %d of %d threads still run %v after SIGSTOP", running, count, stopLimit)
		}
	}
}

// measure returns CPU ticks used, threads, and those of them not in state T.
func (p *pause) measure() (ticks uint64, count, running int) {
	for _, pid := range p.pids {
		all, err := threads(pid)
		if err != nil {
			continue // it has ended
		}
		for _, s := range all {
			count++
			ticks += s.ticks
			if s.state != 'T' {
				running++
			}
		}
	}
	return ticks, count, running
}

// prove says what the victim shows now, and whether it is a paused one.
func (p *pause) prove() (string, bool) {
	ticks, count, running := p.measure()
	beats := p.heart.count.Load() - p.beats
	seen := count > 0 && running == 0 && ticks == p.ticks
	processes := "1 process"
	if len(p.pids) != 1 {
		processes = fmt.Sprintf("%d processes", len(p.pids))
	}
	return fmt.Sprintf("%d of %d threads of %s in state T for %.3f s, %d ticks of CPU used, %d heartbeats of the agent meanwhile",
		count-running, count, processes, float64(history.Raw()-p.since)/1e9, ticks-p.ticks, beats), seen
}

// heal sends SIGCONT, the root last, so that it does not see children stopped.
func (p *pause) heal() (string, error) {
	for i := len(p.pids) - 1; i >= 0; i-- {
		if err := syscall.Kill(p.pids[i], syscall.SIGCONT); err != nil && err != syscall.ESRCH {
			return "", fmt.Errorf("resume: process %d: %w", p.pids[i], err)
		}
	}
	return "", nil
}
