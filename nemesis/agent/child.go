package agent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
	"github.com/dlmtest/dlmtest/nemesis/agent/vdso"
)

// child is the running program of a node.
type child struct {
	spec    Child
	cmd     *exec.Cmd
	bent    *vdso.Process // nil: its clocks cannot be bent
	stdin   io.WriteCloser
	stdout  *gatherer
	planned atomic.Bool // its end is a fault
	killed  atomic.Bool // by its agent, so it could not say how much it had recorded
	records tally
	ended   chan struct{} // closed when it has ended
	exit    Exit          // set before ended is closed
}

// startChild starts spec in a process group of its own, its clocks under page unless
// that is nil. disk serves its data folder, or is nil. lines is called for each line that it prints, with true for its
// standard output; hurry says whether that is to come at once.
func startChild(spec Child, page *vdso.Page, disk *disk, lines func(line []byte, stdout bool), hurry func() bool) (*child, error) {
	if len(spec.Argv) == 0 {
		return nil, fmt.Errorf("start: no command")
	}
	cmd := seal.Program(context.Background(), append(os.Environ(), spec.Env...), spec.Argv)
	cmd.Dir = spec.Dir
	orders, err := sealing(spec)
	if err != nil {
		return nil, err
	}
	if disk != nil {
		orders.Syncs = disk.syncs
	}
	// Pdeathsig is no help here: the agent is the node's init, and the node ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	stdout, printed, err := gather(hurry)
	if err != nil {
		return nil, err
	}
	cmd.Stdout = printed
	c := &child{spec: spec, cmd: cmd, stdin: stdin, stdout: stdout, ended: make(chan struct{}), records: tally{over: make(chan struct{})}}
	wait := cmd.Wait
	begin := cmd.Start
	if page != nil {
		begin = func() (err error) {
			if c.bent, err = vdso.Start(cmd, page); err == nil {
				wait = c.bent.Wait
			}
			return err
		}
	}
	err = start(cmd, func() error { return orders.Start(cmd, begin) })
	_ = printed.Close() // the child has its own
	if err != nil {
		if cmd.Process != nil {
			_ = wait() // the error says more
		}
		_ = stdout.Close()
		return nil, fmt.Errorf("start %s: %w", spec.Argv[0], err)
	}
	if c.bent != nil {
		c.bent.Await(2) // the helper, and the program itself
	}
	outs := make(chan struct{}, 2)
	for i, r := range []io.ReadCloser{stdout, stderr} {
		go func() { eachLine(r, func(b []byte) { lines(b, i == 0) }); _ = r.Close(); outs <- struct{}{} }()
	}
	go func() {
		<-outs // all that it printed is passed on before its exit is
		<-outs
		c.exit = exitOf(wait())
		c.exit.Time = history.Raw()
		disown(cmd)
		close(c.ended)
	}()
	return c, nil
}

// eachLine calls f with every line of r, the last one even without a line end.
// A line longer than the buffer comes in parts.
func eachLine(r io.Reader, f func([]byte)) {
	in := bufio.NewReaderSize(r, 1<<20)
	for {
		line, _, err := in.ReadLine()
		if err != nil {
			return
		}
		f(line)
	}
}

func exitOf(err error) Exit {
	if err == nil {
		return Exit{Reason: "exit status 0"}
	}
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		return Exit{Code: e.ExitCode(), Reason: e.String()}
	}
	return Exit{Code: -1, Reason: err.Error()}
}

// healthy returns once the health check succeeds.
func (c *child) healthy() error {
	if len(c.spec.Health) == 0 {
		return nil
	}
	for {
		health := c.spec
		health.Argv = c.spec.Health
		if _, err := output(health); err == nil {
			return nil
		}
		select {
		case <-c.ended:
			return fmt.Errorf("the server has ended: %s", c.exit.Reason)
		case <-time.After(healthEvery):
		}
	}
}

// settle ends the following of execs, once the child serves: it costs.
func (c *child) settle() error {
	if c.bent == nil {
		return nil
	}
	return c.bent.Settle()
}

// kill ends the child and everything that it started, stopped or not.
func (c *child) kill() {
	c.killed.Store(true)
	for range 10 {
		pids := c.processes()
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // gone already: as wanted
		}
		if len(pids) == 0 {
			return
		}
		select {
		case <-c.ended:
			return
		default:
		}
	}
}

func (a *agent) killChild() {
	a.mu.Lock()
	c := a.child
	a.mu.Unlock()
	if c != nil {
		c.kill()
		<-c.ended
	}
}

// killChildInTime gives the child's end a limit. A process that waits for a file
// system that does not answer cannot be killed, and a fault that asks that file system
// holds the agent's lock. The agent is the first process of its node: with its end the
// kernel kills all others, the one that serves the files too, and then those that wait.
func (a *agent) killChildInTime() {
	ended := make(chan struct{})
	go func() { a.killChild(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(killLimit):
	}
}

// killLimit is how long a child may take to end after SIGKILL.
const killLimit = 2 * time.Second
