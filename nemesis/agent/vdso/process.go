package vdso

import (
	"errors"
	"fmt"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Process is a running program whose clocks a Page bends.
type Process struct {
	cmd  *exec.Cmd
	page *Page
	most int           // so many execs are rewritten, and then it is not followed; 0: all are
	quit chan struct{} // closed by Settle
	free chan struct{} // closed when cmd.Wait would meet no stop of the tracing
	done chan struct{} // closed when nothing is traced

	settle, release sync.Once

	mu    sync.Mutex
	execs int
	errs  []error
}

// Start starts cmd, as cmd.Start does, with its clocks under page. Use the Wait of the
// Process and not that of cmd.
//
// fork keeps a rewritten vDSO and exec loses it, so every exec of the program, its
// children and their threads is followed, until Settle: servers are started through
// shells, tini and gosu, and nobody can tell which exec is the last.
func Start(cmd *exec.Cmd, page *Page) (*Process, error) { return start(cmd, page, 0) }

func start(cmd *exec.Cmd, page *Page, most int) (*Process, error) {
	p := &Process{cmd: cmd, page: page, most: most, quit: make(chan struct{}), free: make(chan struct{}), done: make(chan struct{})}
	started := make(chan error)
	go p.trace(started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// trace starts the command and follows it, all on one thread.
func (p *Process) trace(started chan<- error) {
	runtime.LockOSThread() // ptrace answers the thread that forked, alone
	defer runtime.UnlockOSThread()
	defer close(p.done)
	events := watchChildren()
	defer signal.Stop(events)
	var attr syscall.SysProcAttr
	if p.cmd.SysProcAttr != nil {
		attr = *p.cmd.SysProcAttr
	}
	attr.Ptrace = true
	p.cmd.SysProcAttr = &attr
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	root := p.cmd.Process.Pid
	t := &tracer{p: p, root: root, tracees: map[int]tracee{root: {}}}
	if err := t.begin(); err != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // killed, by us
		started <- err
		return
	}
	started <- nil
	t.follow(events)
}

// settleLimit bounds Settle: a thread in an uninterruptible sleep stops at its end.
const settleLimit = 5 * time.Second

// Settle ends the following of execs; call it when the server serves. What was rewritten
// stays so, forks too; what is executed from now on reads the true time (Attached of
// the Page shows that). Until then a new thread costs 50 µs more and a signal 140 µs, and
// Go and the JVM use signals by the thousand.
//
// The error names each program that could not be rewritten.
func (p *Process) Settle() error {
	p.settle.Do(func() { close(p.quit) })
	select {
	case <-p.done:
		return p.problems()
	case <-time.After(settleLimit):
		return errors.Join(p.problems(), fmt.Errorf("clock: process %d could not be detached within %v", p.cmd.Process.Pid, settleLimit))
	}
}

// Wait waits for the program to end, as exec.Cmd.Wait does. While it is traced, each
// of its stops would look like an end to that one.
func (p *Process) Wait() error {
	<-p.free
	return p.cmd.Wait()
}

// Execs returns how many programs have been rewritten so far.
func (p *Process) Execs() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.execs
}

// Await returns when n programs have been rewritten, one could not be, or the first of
// them has ended: a program that executes another is bent anew only after that exec.
func (p *Process) Await(n int) {
	for p.Execs() < n && p.problems() == nil {
		select {
		case <-p.free:
			return
		case <-time.After(200 * time.Microsecond):
		}
	}
}

func (p *Process) executed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.errs = append(p.errs, err)
		return
	}
	p.execs++
}

func (p *Process) problems() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.errs...)
}

// enough says that no later exec is to be rewritten.
func (p *Process) enough() bool { return p.most > 0 && p.Execs() >= p.most }

func (p *Process) freed() { p.release.Do(func() { close(p.free) }) }
