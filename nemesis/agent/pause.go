package agent

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// pause is a stopped node: what a stop-the-world collection, a suspended machine or
// a starved host does to a program. Its peers' kernels go on acknowledging what they
// get of it, and its own kernel what it is sent: no connection notices.
type pause struct {
	heart   *heart
	beats   int64 // heartbeats of the agent when all had stopped
	victims func() []int
	pids    []int
	at      activity // of the victims when all had stopped
	since   int64    // raw ns: when all had
	stood   int64    // for so long, when it was proven
}

// activity is what processes have done so far: none of it changes in one that is stopped.
type activity struct {
	ticks    uint64 // CPU time used
	switches uint64 // times that a thread has left a CPU: one that ran for a moment has
	threads  int
	running  int // of the threads those not in state T
}

// injectPause stops every process of the node but the agent and what serves its files.
// A half-stopped node is healed too.
func injectPause(a *agent, s *active) (fault, error) {
	if err := a.stopped("pause"); err != nil {
		return nil, err
	}
	if s.arm.Lie {
		p := &pause{heart: a.beats, victims: a.child.processes, pids: a.child.processes(), since: s.since}
		p.at = p.measure()
		return p, nil
	}
	p, err := stopAll(a.child.processes)
	p.heart, p.beats = a.beats, a.beats.count.Load()
	return p, err
}

// stopLimit is how long the kernel may take to stop every thread. A thread in an
// uninterruptible sleep stops only at its end.
const stopLimit = 2 * time.Second

// stopAll sends SIGSTOP to every victim and returns when the kernel shows state T for
// each thread, and two looks in a row find no other process: one that was about to be
// adopted may be in neither place of a single look. An error comes with what was
// stopped, so that it can be resumed.
func stopAll(victims func() []int) (*pause, error) {
	p := &pause{victims: victims, since: history.Raw()}
	quiet := 0
	for deadline := time.Now().Add(stopLimit); ; time.Sleep(50 * time.Microsecond) {
		more := p.stopNew()
		now := p.measure()
		if more || now.running > 0 || now.threads == 0 {
			quiet = 0
			if !more && now.running > 0 {
				p.passVfork()
			}
		} else if quiet++; quiet == 2 {
			p.at, p.since = now, history.Raw()
			return p, nil
		}
		if time.Now().After(deadline) {
			return p, fmt.Errorf("pause: %d of %d threads still run %v after SIGSTOP", now.running, now.threads, stopLimit)
		}
	}
}

// passVfork lets the stopped children of a process that waits uninterruptibly go on for a
// moment: one that was stopped between vfork and exec keeps its parent in state D.
func (p *pause) passVfork() {
	for _, pid := range p.pids {
		parent, err := readStat(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || parent.state != 'D' {
			continue
		}
		for _, child := range p.pids {
			if s, err := readStat(fmt.Sprintf("/proc/%d/stat", child)); err == nil && s.ppid == pid && s.state == 'T' {
				_ = syscall.Kill(child, syscall.SIGCONT)
				time.Sleep(time.Millisecond)
				_ = syscall.Kill(child, syscall.SIGSTOP) // it has ended: as well
			}
		}
	}
}

// stopNew stops the victims that were not there before, and says whether there were any.
func (p *pause) stopNew() (more bool) {
	for _, pid := range p.victims() {
		if !slices.Contains(p.pids, pid) && syscall.Kill(pid, syscall.SIGSTOP) == nil {
			p.pids, more = append(p.pids, pid), true
		}
	}
	return more
}

// measure says what the victims have done.
func (p *pause) measure() (sum activity) {
	for _, pid := range p.pids {
		all, err := threads(pid)
		if err != nil {
			continue // it has ended
		}
		for _, s := range all {
			if s.state == 'Z' || s.state == 'X' { // it ended as it was stopped, and its parent stands
				continue
			}
			sum.threads++
			sum.ticks += s.ticks
			sum.switches += s.switches
			if s.state != 'T' {
				sum.running++
			}
		}
	}
	return sum
}

// prove says what the victims show now, and whether they are paused ones and have been
// all the while.
func (p *pause) prove() (string, bool) {
	now := p.measure()
	fresh := 0
	for _, pid := range p.victims() {
		if !slices.Contains(p.pids, pid) {
			fresh++
		}
	}
	seen := now.threads > 0 && now.running == 0 && fresh == 0 &&
		now.ticks == p.at.ticks && now.switches == p.at.switches
	processes := "1 process"
	if len(p.pids) != 1 {
		processes = fmt.Sprintf("%d processes", len(p.pids))
	}
	p.stood = history.Raw() - p.since
	text := fmt.Sprintf("%d of %d threads of %s in state T for %.3f s, %d ticks of CPU used, %d heartbeats of the agent meanwhile",
		now.threads-now.running, now.threads, processes, float64(p.stood)/1e9, now.ticks-p.at.ticks, p.heart.count.Load()-p.beats)
	if ran := now.switches - p.at.switches; ran != 0 {
		text += fmt.Sprintf("; a thread has run meanwhile: %d context switches", int64(ran))
	}
	if fresh > 0 {
		text += fmt.Sprintf("; %d processes came meanwhile", fresh)
	}
	return text, seen
}

func (p *pause) lasted() int64 { return p.stood }

// heal sends SIGCONT, the root last, so that it does not see children stopped.
func (p *pause) heal() (string, error) { return "", resume(p.pids, syscall.Kill) }

// resume lets go on whom it can: one that refuses keeps no other stopped.
func resume(pids []int, kill func(int, syscall.Signal) error) error {
	var errs []error
	for _, pid := range slices.Backward(pids) {
		if err := kill(pid, syscall.SIGCONT); err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, fmt.Errorf("resume: process %d: %w", pid, err))
		}
	}
	return errors.Join(errs...)
}
