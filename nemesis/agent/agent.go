package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/spare"
	"github.com/dlmtest/dlmtest/nemesis/agent/cut"
	"github.com/dlmtest/dlmtest/nemesis/agent/vdso"
)

// agent is the state of one node.
type agent struct {
	name  string
	out   *out
	beats *heart

	watch sync.Once
	echo  *cut.Echo  // answers probes; nil: none are asked
	disk  *disk      // the child's data folder can crash and stall; nil: it cannot
	ways  *ways      // the child's links to its servers; nil: it has none
	page  *vdso.Page // bends the child's clocks; nil: they cannot be bent

	mu     sync.Mutex
	runs   int // that have ended on this node
	child  *child
	former Ended // what the children before it recorded, as far as it did not come
	arms   []*armed
	held   []*active // faults and holds in force
	looked []*active // faults that are healed and looked at once more
}

// Main serves the runner on in and w until EOF on in, then kills the child and
// returns. name is the node's, for the notes that it stamps.
func Main(name string, in io.Reader, w io.Writer) error {
	adopt()
	spare.Threads()
	way() // before anything is started that should not read it
	_ = quieten(os.Getpid())
	a := &agent{name: name, out: newOut(w)}
	a.beats = startHeart(a.stalled)
	go a.watchBudget()
	defer a.out.close()
	defer a.closeLinks()
	defer a.killChildInTime()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		var c Command
		if err := json.Unmarshal(line, &c); err != nil {
			a.out.send(Message{Error: fmt.Sprintf("agent: command %.200q: %v", line, err)})
			continue
		}
		if slow[c.Do] {
			go a.answer(c)
		} else {
			a.answer(c)
		}
	}
}

// slow are the commands that take time: none waits for another.
var slow = map[Do]bool{Check: true, Kill: true, Run: true, Heal: true, Cancel: true, Try: true, Sync: true, End: true, Anew: true}

func (a *agent) answer(c Command) {
	defer a.survive(c)
	m := Message{Re: c.ID}
	if err := c.lacks(); err != nil {
		m.Error = err.Error()
		a.out.send(m)
		return
	}
	if c.Do == Run {
		text, err := output(*c.Child)
		m.Log = text
		if err != nil {
			m.Error = err.Error()
		}
		a.out.send(m)
		return
	}
	if c.Do == End {
		a.endRecords(m)
		return
	}
	if c.Do == Anew {
		a.answerAnew(m, c.Child)
		return
	}
	if err := a.do(c); err != nil {
		m.Error, m.Refused = err.Error(), errors.Is(err, ErrRefused)
	}
	a.out.send(m)
}

func (a *agent) do(c Command) error {
	switch c.Do {
	case Start:
		return a.start(c.Child)
	case Send:
		return a.order(Order{Say: c.Line})
	case ArmCheckpoint:
		return a.arm(*c.Arm)
	case Strike:
		return a.strike(c.Fault)
	case Disarm:
		return a.disarm(c.Fault)
	case Inject:
		return a.inject(*c.Arm)
	case Heal:
		return a.end(c.Fault, false)
	case Cancel:
		return a.end(c.Fault, true)
	case Kill:
		a.killChild()
		return nil
	case Check:
		return a.awaitHealth()
	case Try:
		return a.try(c.Need, c.Child)
	case Sync:
		return a.sync()
	}
	return fmt.Errorf("agent: unknown command %q", c.Do)
}

func (a *agent) start(spec *Child) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.child != nil {
		if !a.child.over() {
			return errors.New("start: the node's child is still running")
		}
		a.former = a.former.and(a.child)
	}
	a.arms = nil
	a.beats.limit(spec.Stall)
	if spec.Clock {
		a.watch.Do(func() { go watchHostClock(a.note) })
	}
	if err := errors.Join(a.serveProbe(spec), a.mountDisk(spec)); err != nil {
		return err
	}
	if err := a.openLinks(spec); err != nil {
		return err
	}
	return a.launch(*spec)
}

// serveProbe answers the probes of other agents from now on, if it is to. a.mu is held.
func (a *agent) serveProbe(spec *Child) (err error) {
	if spec.Probe && a.echo == nil {
		a.echo, err = cut.ServeProbe(fmt.Sprintf(":%d", cut.ProbePort))
	}
	return err
}

// launch starts the child. a.mu is held: fromChild waits for it, so nothing that
// the child prints is seen before a.child is set.
func (a *agent) launch(spec Child) error {
	if spec.Bend {
		if err := a.makePage(); err != nil {
			return err
		}
	}
	var c *child // set before a.mu is given back
	c, err := startChild(spec, a.page, a.disk, func(line []byte, stdout bool) { a.fromChild(&c, line, stdout) }, a.hurries)
	if err != nil {
		return err
	}
	a.child = c
	go func() {
		<-c.ended
		if !c.planned.Load() {
			a.out.send(Message{Exit: &c.exit})
		}
	}()
	return nil
}

// hurries says whether a checkpoint is armed, so that the worker may stand there.
func (a *agent) hurries() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.arms) > 0
}

// order writes one line to the worker.
func (a *agent) order(o Order) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.orderLocked(o)
}

func (a *agent) orderLocked(o Order) error {
	if a.child == nil {
		return errors.New("the node's child has not been started")
	}
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if _, err := a.child.stdin.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write to the node's child: %w", err)
	}
	return nil
}

// healthEvery is the pause between two health checks; they cost a process each.
const healthEvery = 50 * time.Millisecond

// awaitHealth returns once the health check succeeds, or with its last words when
// the child has ended.
func (a *agent) awaitHealth() error {
	a.mu.Lock()
	c := a.child
	a.mu.Unlock()
	if c == nil {
		return errors.New("health: the node's child has not been started")
	}
	if err := c.healthy(); err != nil {
		return err
	}
	if c.spec.Speaks {
		_ = quieten(c.cmd.Process.Pid)
	}
	return c.settle()
}

// note records what the agent itself saw.
func (a *agent) note(op history.Op) {
	op.Node, op.Type = a.name, history.Note
	if op.Time == 0 {
		op.Time = history.Raw()
	}
	raw, err := json.Marshal(op)
	if err != nil {
		a.out.send(Message{Error: "agent: note: " + err.Error()})
		return
	}
	a.out.send(Message{Op: raw})
}
