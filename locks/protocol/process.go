package protocol

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// Command is how an adapter is started.
type Command struct {
	Argv []string
	Env  []string  // beside that of this process, or what Adopt was given in its place
	Dir  string    // "": this process's own
	Log  io.Writer // gets what it prints to stderr; nil: nobody
	// Limits of waiting; zero values are set to the defaults.
	Limits Limits
}

// Limits are how long an adapter may take. They count while this process runs: a
// pause of the whole client is no fault of its adapter.
type Limits struct {
	Start time.Duration // from its start to the answer to hello; 0: 20s, as a JVM on a busy machine takes several
	Open  time.Duration // to answer open, when the caller sets no limit; 0: 20s
	Late  time.Duration // to answer after the caller has given up, before it is pinged; 0: 10s
	Ping  time.Duration // to answer ping; 0: 5s
	Close time.Duration // to answer close; 0: 10s
	End   time.Duration // to end after its stdin has; 0: 5s
}

// CloseMax is how long the end of a session may take, by the defaults.
const CloseMax = 16 * time.Second

func (l Limits) orDefaults() Limits {
	for _, d := range []struct {
		v *time.Duration
		d time.Duration
	}{{&l.Start, 20 * time.Second}, {&l.Open, 20 * time.Second}, {&l.Late, 10 * time.Second},
		{&l.Ping, 5 * time.Second}, {&l.Close, 10 * time.Second}, {&l.End, 5 * time.Second}} {
		if *d.v == 0 {
			*d.v = d.d
		}
	}
	return l
}

// process is a running adapter.
type process struct {
	cmd    *exec.Cmd
	mark   string   // in its environment, and so in that of all that it starts
	user   int      // its own user id, which all that it starts has; 0: it has none of its own
	stdin  *os.File // has write deadlines
	stdout *os.File
	orders seal.Orders
	words  *tail
	ended  chan struct{} // closed when it has ended
	state  error         // how; set before ended is closed

	write sync.Mutex
}

// markName is the variable by which everything that an adapter starts is known.
const markName = "DLMTEST_ADAPTER"

// start starts the adapter in a process group of its own, sealed off from this process
// where this is a node's worker. The kernel kills it when this process dies, however that
// comes about.
func start(c Command) (*process, error) {
	if len(c.Argv) == 0 {
		return nil, fault(NoStart, "no command was given")
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inR.Close(), inW.Close())
	}
	p := &process{mark: rand.Text(), stdin: inW, stdout: outR, words: &tail{to: c.Log}, ended: make(chan struct{})}
	p.cmd = seal.Program(context.Background(), slices.Concat(environ(), c.Env, []string{markName + "=" + p.mark}), c.Argv)
	p.cmd.Dir = c.Dir
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, p.words
	p.cmd.WaitDelay = time.Second // who keeps its stderr open does not keep us
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if way() == seal.Users && os.Geteuid() != 0 {
		p.user = users.take()
	}
	started := make(chan error)
	go p.run(started)
	err = <-started
	_, _ = inR.Close(), outW.Close() // the child has them
	if err != nil {
		_, _ = inW.Close(), outR.Close()
		p.kill()
		users.give(p.user)
		return nil, fault(NoStart, "%q cannot be started: %v", c.Argv, err)
	}
	return p, nil
}

// run starts the process and waits for its end, on one thread: the death signal is
// sent when the thread ends that has started it.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.orders = seal.Adapter(way(), p.user)
	err := p.orders.Start(p.cmd, p.cmd.Start)
	if err != nil && p.cmd.Process != nil {
		_ = p.cmd.Wait() // the error says more
	}
	started <- err
	if err == nil {
		p.state = p.cmd.Wait()
		close(p.ended)
	}
}

// writeLimit is how long an adapter may let its stdin be full.
const writeLimit = 5 * time.Second

func (p *process) send(r Request) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	p.write.Lock()
	defer p.write.Unlock()
	if err := p.stdin.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return err
	}
	_, err = p.stdin.Write(append(line, '\n'))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fault(Hangs, "it does not read its stdin: a request could not be written for %v", writeLimit)
	}
	return err
}

// how says how the process has ended.
func (p *process) how() string {
	if p.state == nil {
		return "exit status 0"
	}
	if signal, _ := p.orders.Ended(p.cmd.ProcessState.ExitCode()); signal > 0 {
		return "signal: " + signal.String()
	}
	return p.state.Error()
}

// tail passes on what an adapter prints to stderr, and keeps its end.
type tail struct {
	to   io.Writer
	mu   sync.Mutex
	kept []byte
	sent int
}

const (
	tailKept = 2 << 10 // bytes that a Fault shows at most
	logMax   = 4 << 20 // bytes that are passed on; a library in a loop would fill the disk
)

// Write implements io.Writer and never fails: a log must not stop an adapter.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept = append(t.kept, b...); len(t.kept) > tailKept {
		t.kept = append([]byte{}, t.kept[len(t.kept)-tailKept:]...)
	}
	if t.to == nil || t.sent > logMax {
		return len(b), nil
	}
	if t.sent += len(b); t.sent > logMax {
		fmt.Fprintf(t.to, "\n(the rest of the adapter's log is left out: it has more than %d bytes)\n", logMax)
		return len(b), nil
	}
	_, _ = t.to.Write(b)
	return len(b), nil
}

// last is the end of what was printed, at most four lines of it.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.kept), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-4):], []byte(" | ")))
}

// environ is that of adapters: this process's own, unless its image says another.
var environ = os.Environ

// Adopt makes this process the parent of all that adapters leave behind, so that a
// pause or a kill of it finds them below it. A worker calls it once, with the environment of adapters in its node:
// what their image says is not heeded by the worker. nil: they get the worker's.
func Adopt(env []string) error {
	if env != nil {
		environ = func() []string { return env }
	}
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}
