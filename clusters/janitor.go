package clusters

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// janitorGrace is how long nodes have to end by themselves: their agents see
	// EOF. Removing a container by force while the daemon still starts it can
	// leave its network with an endpoint that nothing removes (Docker 20.10).
	janitorGrace = 3 * time.Second
	janitorQuiet = 2 * time.Second // nothing seen for so long: nothing comes any more
	janitorLimit = 2 * time.Minute
)

// Janitor is the runner's end of a small process that outlives it. The nil
// Janitor does nothing.
type Janitor struct {
	mu   sync.Mutex
	pipe io.WriteCloser
	cmd  *exec.Cmd
	gone sync.Once
}

// guarding is how many janitors of this process are on duty, first processes of runs without
// Docker among them; begun is whether there ever was one.
var (
	guarding atomic.Int32
	begun    atomic.Bool
)

// Guarded says whether this process may have a cluster now: a janitor watches over it.
func Guarded() bool { return guarding.Load() > 0 }

// Begun says whether this process may ever have had one.
func Begun() bool { return begun.Load() }

// StartJanitor starts self with the hidden command "janitor", in a session of
// its own. When this process ends without Done, the janitor removes what the
// owner left.
func StartJanitor(self string, owner Owner) (*Janitor, error) {
	cmd := exec.Command(self, "janitor")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Dir = "/"
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("janitor: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("janitor: %w", err)
	}
	guarding.Add(1)
	begun.Store(true)
	j := &Janitor{pipe: pipe, cmd: cmd}
	j.tell("owner " + owner.String())
	return j, nil
}

// Watch has the janitor end a process group if this process dies. Call the
// function it returns when the group has ended.
func (j *Janitor) Watch(pgid int) (forget func()) {
	j.tell(fmt.Sprintf("pgid %d", pgid))
	return func() { j.tell(fmt.Sprintf("forget %d", pgid)) }
}

// Done sends the janitor home: all has been removed.
func (j *Janitor) Done() (err error) {
	if j == nil {
		return nil
	}
	j.gone.Do(func() {
		j.tell("done")
		_ = j.pipe.Close()
		err = j.cmd.Wait()
		guarding.Add(-1)
	})
	return err
}

// Leave has the janitor remove what one run has left, while this process goes on: the
// daemon could not be reached, or refused. Nobody waits for it.
func (j *Janitor) Leave(run Run) {
	if j == nil {
		return
	}
	j.gone.Do(func() {
		j.tell("leave " + run.ID)
		_ = j.pipe.Close()
		go func() { // no zombie
			_ = j.cmd.Wait()
			guarding.Add(-1)
		}()
	})
}

// tell ignores errors: a janitor that is gone is missed by the next Sweep.
func (j *Janitor) tell(line string) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = io.WriteString(j.pipe, line+"\n")
}

// RunJanitor is the hidden command: it listens to the runner on stdin, and when
// that ends without a "done" it kills the runner's process groups and removes
// all of the runner's containers, networks and volumes.
func RunJanitor(stdin io.Reader) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	orders, err := listen(stdin)
	if orders.done || err != nil {
		return err
	}
	_ = parallel(len(orders.groups), func(i int) error { killGroup(orders.groups[i]); return nil })
	ctx, cancel := context.WithTimeout(context.Background(), janitorLimit)
	defer cancel()
	d, err := NewDocker(ctx, "")
	for errors.Is(err, ErrNoDocker) && ctx.Err() == nil { // a daemon that restarts comes back
		time.Sleep(time.Second)
		d, err = NewDocker(ctx, "")
	}
	if err != nil {
		return err
	}
	return d.sweepUntilQuiet(ctx, orders)
}

// orders are what a runner has told its janitor until its end.
type orders struct {
	owner  Owner
	run    string // only this run's; empty: all that the owner has
	groups []int
	done   bool
}

// mean says whether a leftover is theirs.
func (o orders) mean(l leftover) bool {
	return l.owner == o.owner.String() && (o.run == "" || l.run == o.run)
}

func listen(stdin io.Reader) (o orders, err error) {
	running := map[int]bool{}
	lines := bufio.NewScanner(stdin)
	for lines.Scan() {
		word, value, _ := strings.Cut(lines.Text(), " ")
		number, _ := strconv.Atoi(value)
		switch word {
		case "owner":
			if o.owner, err = ParseOwner(value); err != nil {
				return o, err
			}
		case "pgid":
			running[number] = number > 1 // never 0 or 1: that is everybody
		case "forget":
			running[number] = false
		case "leave":
			o.run = value
		case "done":
			o.done = true
			return o, nil
		}
	}
	for pgid, is := range running {
		if is {
			o.groups = append(o.groups, pgid)
		}
	}
	if o.owner.PID == 0 {
		return o, errors.New("janitor: the runner never named its owner")
	}
	return o, nil
}

// awaitEnd waits until there is no container any more, or the grace is over.
func (d *Docker) awaitEnd(ctx context.Context, o orders) {
	for deadline := time.Now().Add(janitorGrace); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		list, err := d.containers(ctx)
		if err == nil && !slices.ContainsFunc(list, o.mean) {
			return
		}
	}
}

// sweepUntilQuiet goes on for a while, since a create may still be under way in
// the daemon when its client dies.
func (d *Docker) sweepUntilQuiet(ctx context.Context, o orders) error {
	d.awaitEnd(ctx, o)
	quiet := time.Now()
	for {
		found, err := d.sweep(ctx, o.mean)
		if ctx.Err() != nil {
			return fmt.Errorf("janitor: gave up: %w", errors.Join(ctx.Err(), err))
		}
		if len(found) > 0 || err != nil {
			quiet = time.Now()
		}
		if time.Since(quiet) > janitorQuiet {
			return nil
		}
		time.Sleep(200 * time.Millisecond)
	}
}
