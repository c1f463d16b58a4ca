package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
	"github.com/dlmtest/dlmtest/workloads"
	"github.com/dlmtest/dlmtest/workloads/resource"
)

// stage is a cluster that is up, with everything that depends on it.
type stage struct {
	*plan
	*site
	dir      string
	rec      *recorder
	servers  []*node
	resource *node
	clients  []*node
	earlier  int            // runs that its cluster has served
	lost     int            // servers that have ended by themselves
	lingered time.Duration  // the load has taken so much longer than its time
	open     bool           // a node did not end its records
	free     *node          // a client without a worker, once they were asked to end
	passed   []agent.Passed // messages on the links of all clients; known when they are drained

	greeting sync.Mutex
	hello    string // what the adapter of the clients said of itself; empty: the lock is no process
}

// readyLimit is how long a cluster may take until a first operation of every
// client has succeeded. A cold JVM on a slow machine takes the longest.
const readyLimit = 100 * time.Second

// up starts all nodes at once, on a cluster that waits for such a run if there is one, and returns when a client operation
// has succeeded on each client. After an error nothing is left.
func up(ctx context.Context, p *plan, rec *recorder, dir string, say Progress) (_ *stage, err error) {
	for _, line := range p.told {
		say.Line(line)
	}
	shape := p.shapeOf()
	site, begun := p.Warm.take(shape, len(p.clients))
	defer begun()
	if site != nil {
		say.Phase("Going on with a cluster that is up")
		if site.again(ctx, p, rec, dir) != nil { // what is wrong with it is no business of this run
			if err := site.down(context.WithoutCancel(ctx)); err != nil {
				return nil, err
			}
			site = nil
		}
	}
	if site == nil {
		if site, err = p.newSite(ctx, rec, dir, shape != "", say); err != nil {
			return nil, err
		}
		site.shape = shape
	}
	s := p.stage(site, rec, dir)
	defer func() {
		if err != nil {
			_ = s.down(context.WithoutCancel(ctx)) // the first error tells more
		}
	}()
	if err := s.tryAll(ctx); err != nil {
		return nil, s.shared(err)
	}
	say.Phase("Waiting until a lock operation succeeds on every client")
	return s, s.shared(s.startAll(ctx, say))
}

// newSite starts the nodes of a run; with spare ones, so that a run with more clients can have them later.
func (p *plan) newSite(ctx context.Context, rec *recorder, dir string, spare bool, say Progress) (_ *site, err error) {
	say.Phase("Preparing images")
	specs := append(append([]clusters.NodeSpec{}, p.servers...), p.other)
	specs = append(specs, p.clients...)
	for n := len(p.clients); spare && n < warmClients; n++ {
		client := p.clients[0]
		client.Name = clientName(n)
		specs = append(specs, client)
	}
	if err := p.putAdapter(ctx, specs, say); err != nil {
		return nil, err
	}
	runtime, janitor, err := connect(ctx, p, specs, say)
	if err != nil {
		return nil, err
	}
	run := clusters.Run{ID: fmt.Sprintf("%d-%x", os.Getpid(), time.Now().UnixNano())}
	defer func() {
		if err != nil {
			_ = janitor.Done() // the first error tells more
		}
	}()
	if err := runtime.EnsureImages(ctx, images(specs), say.Line); err != nil {
		return nil, err
	}
	if err := p.installed(ctx, runtime, janitor, say); err != nil {
		return nil, err
	}
	say.Phase(fmt.Sprintf("Starting %d nodes", len(specs)))
	cluster, err := runtime.Up(ctx, run, specs)
	if err != nil {
		janitor.Leave(run) // what could not be removed either
		return nil, p.deviceMissing(err)
	}
	s := &site{run: run, cluster: cluster, where: "docker", janitor: janitor}
	if _, local := runtime.(*clusters.Local); local {
		s.where = "local"
	}
	if err := s.attach(rec, dir); err != nil {
		return nil, errors.Join(err, s.down(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// attach connects to the agent of every node.
func (s *site) attach(rec *recorder, dir string) error {
	for _, n := range s.cluster.Nodes {
		a, err := attach(n, rec, filepath.Join(dir, logsDir))
		if err != nil {
			return err
		}
		s.every = append(s.every, a)
	}
	return nil
}

// stage is the part of a site that the run uses.
func (p *plan) stage(at *site, rec *recorder, dir string) *stage {
	s := &stage{plan: p, site: at, dir: dir, rec: rec, earlier: at.served}
	for _, n := range at.every {
		switch {
		case n.serves():
			s.servers = append(s.servers, n)
		case n.Spec.Role == "resource":
			s.resource, s.stands = n, n.Addr
		case len(s.clients) < len(p.clients):
			s.clients = append(s.clients, n)
		}
	}
	return s
}

// startAll starts every child at once and waits until all are ready.
func (s *stage) startAll(ctx context.Context, say Progress) error {
	ctx, cancel := s.inTime(ctx)
	defer cancel()
	total := len(s.servers) + 1 + len(s.clients)
	errs := make(chan error, total)
	for _, n := range s.servers {
		go func() { errs <- s.startServer(ctx, n) }()
	}
	go func() { errs <- s.startResource(ctx) }()
	for i, n := range s.clients {
		go func() { errs <- s.startClient(ctx, n, s.worker(i, n.Name(), s.mode), say) }()
	}
	for range total {
		if err := <-errs; err != nil {
			return notUp(s.rec.blame(), s.explain(err))
		}
	}
	s.askVersions(ctx)
	return s.settle(ctx)
}

func (s *stage) startServer(ctx context.Context, n *node) error {
	if !n.lives {
		if err := n.start(ctx, *s.serverChild(n)); err != nil {
			return err
		}
	}
	return n.Command(ctx, agent.Command{Do: agent.Check})
}

// serverChild is the program of a server's node.
func (p *plan) serverChild(n *node) *agent.Child {
	child := agent.Child{Argv: n.Spec.Argv(), Env: n.Spec.Env, User: n.Spec.User, Dir: n.Spec.WorkDir, Gains: n.Spec.Gains, Loses: n.Spec.CapDrop,
		Health: n.Spec.Health, Tells: n.Spec.Tells, Bend: nemesis.Bends(p.faults),
		Stall: stallLimit(p.lease), Probe: p.probes()}
	child.Data, child.Seed = p.diskOf(n.Spec)
	return &child
}

func (s *stage) startResource(ctx context.Context) error {
	if s.Resource == "postgres" {
		return s.startServer(ctx, s.resource)
	}
	child := ours(append([]string{"store", "--listen", fmt.Sprintf(":%d", storePort)}, s.Args("fencing", "fence-on")...)...)
	child.Stall, child.Probe, child.Clock = stallLimit(s.lease), s.probes(), true
	child.Env = append(child.Env, resource.KeyVariable+"="+s.key)
	return s.resource.start(ctx, child)
}

// ours is one of dlmtest's own programs in a node. In a container it is a user of no image,
// and the environment stands in for the entry that no image has for it.
func ours(argv ...string) agent.Child {
	return agent.Child{Argv: append([]string{binary}, argv...), User: fmt.Sprint(seal.WorkerID), Env: []string{"HOME=/tmp", "USER=dlmtest"}, Speaks: true}
}

// workerOf is the worker for a spec. What the image says of the environment is for the adapter alone.
func (a *node) workerOf(spec *workloads.Spec) agent.Child {
	child := ours("worker")
	if child.Starts = spec.HasAdapter(); child.Starts {
		spec.Env = slices.Concat(a.Spec.Env, child.Env)
	}
	return child
}

// startClient starts a worker and waits for its first lock operation.
func (s *stage) startClient(ctx context.Context, n *node, spec workloads.Spec, say Progress) error {
	child := n.workerOf(&spec)
	child.Bend, child.Stall, child.Probe = nemesis.Bends(s.faults), stallLimit(s.lease), s.probes()
	child.Links, child.Seed = s.clientLinks(), s.Seed+uint64(spec.Number)
	if err := n.start(ctx, child); err != nil {
		return err
	}
	if err := n.tell(ctx, workloads.Told{Spec: &spec}); err != nil {
		return err
	}
	var waits string
	for {
		select {
		case w := <-n.said:
			switch {
			case w.Fatal != "":
				return n.errorf("%s", w.Fatal)
			case w.Waiting != "":
				waits = w.Waiting
				say.Line(n.Name() + " waits: " + waits)
			case w.Ready:
				if err := s.greeted(n, w.Hello); err != nil {
					return err
				}
				return n.Command(ctx, agent.Command{Do: agent.Check})
			}
		case e := <-n.exits:
			return n.lastSaid("the worker has ended: " + e.Reason)
		case <-n.gone:
			return n.how()
		case <-ctx.Done():
			return n.errorf("%w: %s", context.Cause(ctx), cmp.Or(waits, "it has said nothing"))
		}
	}
}

// lastSaid is that a node's program has ended, with the reason that a worker gave before.
func (a *node) lastSaid(ended string) error {
	for {
		select {
		case w := <-a.said:
			if w.Fatal != "" {
				return a.errorf("%s", w.Fatal)
			}
		default:
			return &nodeError{a, true, errors.New(ended)}
		}
	}
}
