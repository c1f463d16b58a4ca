package clusters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/clusters/local"
)

// Local is the runtime whose nodes are processes in namespaces of this machine's
// kernel: it needs neither Docker nor root, and the servers' programs on this
// machine. A node sees the host's programs read-only, has its own address, host
// name, processes, /tmp, /var and /run, and no way to the host's network. What a
// compose file says of images and users is not looked at: every process of a run
// has one id, neither root's here nor 0 inside.
type Local struct {
	Self string // path of the static binary that every node runs as "agent"

	trials []local.Trial
}

// Lacks says why something that a fault needs does not work here, by its name among
// doctor's findings; empty: it works.
func (l *Local) Lacks(need string) string {
	for _, t := range l.trials {
		if t.What == need {
			return t.Error
		}
	}
	return ""
}

// NewLocal tries whether programs may make namespaces here, which takes some
// milliseconds. Otherwise the error matches ErrNoNamespaces and says what to set.
func NewLocal(ctx context.Context, self string) (*Local, error) {
	trials, err := tryLocal(ctx, self)
	if err != nil {
		return nil, err
	}
	for _, t := range trials {
		if t.Error != "" && slices.Contains(local.Needed, t.What) {
			return nil, fmt.Errorf("%w: %s: %s; %s", ErrNoNamespaces, t.What, t.Error, trialHelp[t.What].fix)
		}
	}
	return &Local{Self: self, trials: trials}, nil
}

// The run's network exists in its namespaces alone, so all runs can have the same.
var (
	localBridge = netip.MustParseAddr("10.77.0.1")
	localBits   = 16
)

// localRun is one cluster of processes: what Up makes and Down removes.
type localRun struct {
	*Local
	init    *localInit
	nodes   []*localNode
	up      chan error // one for each node, or one for all
	once    sync.Once
	downErr error
}

// localNode is a node that is a process.
type localNode struct {
	Node
	exited chan Exit
	over   sync.Once
	tail   *tail
	stderr *os.File
	copied chan struct{} // closed when all of its stderr has been read
}

// Up starts the nodes as processes, all at once, and returns when every agent
// runs. On an error nothing is left.
func (l *Local) Up(ctx context.Context, run Run, specs []NodeSpec) (*Cluster, error) {
	r := &localRun{Local: l, up: make(chan error, len(specs)+1)}
	c := &Cluster{down: r.down}
	if err := r.start(ctx, run, specs); err != nil {
		err = fmt.Errorf("cluster %s: %w", run.ID, err)
		return nil, errors.Join(err, c.Down(context.WithoutCancel(ctx)))
	}
	for _, n := range r.nodes {
		c.Nodes = append(c.Nodes, &n.Node)
	}
	return c, nil
}

func (r *localRun) start(ctx context.Context, run Run, specs []NodeSpec) error {
	specs, err := resolveLocal(specs)
	if err != nil {
		return err
	}
	config := r.plan(run, specs)
	if r.init, err = startInit(r.Self, r.nodes); err != nil {
		return err
	}
	go r.listen()
	if err := json.NewEncoder(r.init.control).Encode(config); err != nil {
		return fmt.Errorf("tell the run's first process: %w", err)
	}
	for range r.nodes {
		select {
		case err := <-r.up:
			if err != nil {
				return explainLocal(err)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// plan gives every node its address.
func (r *localRun) plan(run Run, specs []NodeSpec) local.Config {
	c := local.Config{Run: run.ID, Temp: os.TempDir(), HostID: localHostID(), Path: localPath(),
		Database: initdbArgs(), DatabaseKey: databaseKey(), Bridge: localBridge, Bits: localBits}
	addr := localBridge
	for _, s := range specs {
		addr = addr.Next()
		r.nodes = append(r.nodes, &localNode{Node: Node{Spec: s, Addr: addr}})
		shares := ServerShares
		if s.Guest {
			shares = GuestShares
		}
		n := local.Node{Name: s.Name, Addr: addr, Devices: s.Devices, Database: databaseOf(s), Temp: shares.Temp, Shm: shares.Shm,
			Env: []string{"PATH=" + c.Path, "HOSTNAME=" + s.Name, "HOME=/tmp"}}
		for _, m := range s.Mounts {
			n.Mounts = append(n.Mounts, local.Mount{Type: m.Type, Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly, Size: m.Size, Mode: m.Mode})
		}
		c.Devices = append(c.Devices, s.Devices...)
		c.Nodes = append(c.Nodes, n)
	}
	return c
}

// listen takes the reports of the run's first process until it has ended.
func (r *localRun) listen() {
	for in := json.NewDecoder(r.init.report); ; {
		var p local.Report
		if err := in.Decode(&p); err != nil {
			break
		}
		r.take(p)
	}
	err := r.init.wait()
	r.up <- fmt.Errorf("the run's first process has ended: %w", err) // nobody listens any more unless it is news
	for _, n := range r.nodes {
		n.end(Exit{Code: 128 + 9}) // the kernel killed it with its process tree
	}
}

func (r *localRun) take(p local.Report) {
	switch p.State {
	case local.Up:
		r.up <- nil
	case local.Failed:
		var err error = &local.Refusal{Report: p}
		if p.Node >= 0 {
			err = fmt.Errorf("start node %s: %w", r.nodes[p.Node].Spec.Name, err)
		}
		r.up <- err
	case local.Exited:
		go r.nodes[p.Node].end(Exit{Code: p.Code}) // may wait for its last words
	}
}

// end delivers the end of the node, after its last words.
func (n *localNode) end(e Exit) {
	n.over.Do(func() {
		select {
		case <-n.copied:
		case <-time.After(time.Second):
		}
		e.Node, e.Stderr = n.Spec.Name, n.tail.lines()
		n.exited <- e
		close(n.exited)
	})
}

func (r *localRun) down(ctx context.Context) error {
	r.once.Do(func() {
		if r.init != nil {
			r.downErr = r.init.stop(ctx)
		}
		for _, n := range r.nodes {
			if n.Stdin != nil {
				_ = n.Stdin.Close()
			}
		}
	})
	return r.downErr
}

// EnsureImages checks that the programs of the named images are on this machine;
// it is what Docker's EnsureImages is for containers. Foreign images are judged
// by the commands of their nodes, at Up.
func (l *Local) EnsureImages(_ context.Context, names []string, _ func(line string)) error {
	var errs []error
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if i, ok := own(name); ok {
			errs = append(errs, imageOf(i.target()).local.check())
		}
	}
	return errors.Join(errs...)
}

// localStdout closes at its end, whoever reads it.
type localStdout struct{ file *os.File }

func (s localStdout) Read(p []byte) (int, error) {
	n, err := s.file.Read(p)
	if err != nil {
		_ = s.file.Close()
		if !errors.Is(err, io.EOF) {
			err = io.EOF // it was closed by an earlier end
		}
	}
	return n, err
}
