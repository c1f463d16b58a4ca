package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/scratch"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/runner/capacity"
	"github.com/dlmtest/dlmtest/scenarios"
	"github.com/dlmtest/dlmtest/workloads"
)

const (
	capacityLease  = 6 * time.Second         // of the sessions: a renewal each 2 s
	capacitySettle = 1500 * time.Millisecond // after a load was made, before it is measured
	capacityLimit  = 5 * time.Minute         // to make one load
	capacityMemory = 16 << 30                // bytes of a server in a container: what it needs is what is asked
)

// Sizes is what Capacity measures.
type Sizes struct {
	Locks, Sessions int           // the most of each
	Steps           int           // how many sizes of each, beside none
	Window          time.Duration // in which bytes are counted, at each number of sessions
}

// Capacity starts the servers of a backend, has one client node hold more and more
// locks and then more and more sessions, and measures both at the servers. An error is
// dlmtest's own; nothing is left in any case.
func Capacity(ctx context.Context, o Options, sizes Sizes, say Progress) (r *capacity.Report, err error) {
	aside, err := scratch.New("capacity")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, aside.Remove()) }()
	dir := aside.Path
	if err := os.Mkdir(filepath.Join(dir, logsDir), 0o755); err != nil {
		return nil, err
	}
	baseline, err := scenarios.Load("baseline")
	if err != nil {
		return nil, err
	}
	o.Scenario, o.Resource = *baseline, "store"
	o.Scenario.Clients, o.Scenario.Lease = 1, scenarios.Duration{Fixed: capacityLease}
	plan, err := newPlan(ctx, o, locks.Table[o.Backend])
	if err != nil {
		return nil, err
	}
	plan.mode = workloads.Capacity
	plan.admit(capacity.Asks[o.Backend].Connections(sizes.Locks, sizes.Sessions))
	for i := range plan.servers {
		s := &plan.servers[i]
		s.Env = slices.Concat(s.Env, capacity.Asks[o.Backend].Env)
		s.Limits.Memory = max(s.Limits.Memory, capacityMemory)
	}
	rec, err := newRecorder(filepath.Join(dir, partFile), plan.setup)
	if err != nil {
		return nil, err
	}
	s, err := up(ctx, plan, rec, dir, say)
	if err != nil {
		return nil, err
	}
	r, err = s.capacity(ctx, sizes, say)
	say.Phase("Taking the cluster down")
	return r, errors.Join(err, s.down(context.WithoutCancel(ctx)))
}

// usualConnections is the max_connections of the compose file, which is not lowered: it
// has its share in what an empty server takes.
const usualConnections = 200

// admit has the servers take so many connections. Of a setting that stands twice on its
// command line PostgreSQL takes the last.
func (p *plan) admit(connections int) {
	if connections <= usualConnections {
		return
	}
	for i := range p.servers {
		s := &p.servers[i]
		s.Command = append(slices.Clone(s.Command), "-c", fmt.Sprintf("max_connections=%d", connections))
	}
}

func (s *stage) capacity(ctx context.Context, sizes Sizes, say Progress) (*capacity.Report, error) {
	ask := capacity.Asks[s.Backend]
	r := &capacity.Report{Backend: s.Backend, Version: s.servers[0].version.Version, Servers: len(s.servers), Runtime: s.where, OwnName: ask.Own,
		Not: append([]string{"what else a real client does: each here holds one lock and renews it", "memory that a server gives back only later"}, ask.Not...)}
	if s.entry.Promise.Leased {
		r.Beat = (capacityLease / 3).Seconds()
	}
	load := workloads.Load{Hold: time.Duration(ask.Hold) * time.Second}
	for _, part := range []struct {
		what    string
		size    *int
		most    int
		window  time.Duration
		samples *[]capacity.Sample
	}{{"locks", &load.Locks, sizes.Locks, time.Millisecond, &r.Locks}, {"sessions", &load.Sessions, sizes.Sessions, sizes.Window, &r.Sessions}} {
		for i := range sizes.Steps + 1 {
			*part.size = part.most * i / sizes.Steps
			say.Phase(fmt.Sprintf("%s: %d of %d", part.what, *part.size, part.most))
			if err := s.grow(ctx, load); err != nil {
				return nil, fmt.Errorf("%d locks and %d sessions: %w", load.Locks, load.Sessions, err)
			}
			sample, err := s.sample(ctx, ask, load, part.window)
			if err != nil {
				return nil, err
			}
			if part.window < time.Second {
				sample.Client, sample.Server = 0, 0 // the locks are held in silence
			}
			say.Line(fmt.Sprintf("%s a server, %.0f bytes/s at the clients", capacity.Bytes(sample.Memory), sample.Client))
			*part.samples = append(*part.samples, sample)
		}
	}
	r.Conclude()
	return r, nil
}

// grow has the client make a load, and waits until it is there.
func (s *stage) grow(ctx context.Context, load workloads.Load) error {
	ctx, cancel := context.WithTimeoutCause(ctx, capacityLimit, fmt.Errorf("not there within %v; take fewer", capacityLimit))
	defer cancel()
	c := s.clients[0]
	if err := c.tell(ctx, workloads.Told{Load: &load}); err != nil {
		return err
	}
	for {
		select {
		case w := <-c.said:
			switch {
			case w.Fatal != "":
				return errors.New(w.Fatal)
			case w.Load != nil && *w.Load == load:
				return wait(ctx, capacitySettle)
			}
		case e := <-c.exits:
			return c.lastSaid("the worker has ended: " + e.Reason)
		case <-c.gone:
			return c.how()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

const (
	statusShell = `cat /proc/[0-9]*/status 2>/dev/null | grep -E '^(Name|RssAnon|RssShmem):'`
	devShell    = `cat /proc/net/dev`
)

// sample measures a load: traffic over a window, then memory.
func (s *stage) sample(ctx context.Context, ask capacity.Ask, load workloads.Load, window time.Duration) (capacity.Sample, error) {
	r := capacity.Sample{Locks: load.Locks, Sessions: load.Sessions}
	nodes := append(slices.Clone(s.servers), s.clients[0])
	rates := make([]float64, len(nodes))
	errs := make(chan error, len(nodes))
	for i, n := range nodes {
		go func() {
			var err error
			rates[i], err = n.traffic(ctx, window)
			errs <- err
		}()
	}
	var first error
	for range nodes {
		if err := <-errs; err != nil {
			first = errors.Join(first, err)
		}
	}
	if first != nil {
		return r, first
	}
	for i, n := range s.servers {
		r.Server += rates[i]
		status, err := n.shell(ctx, statusShell)
		if err != nil {
			return r, err
		}
		r.Memory += float64(capacity.Memory(status)) / float64(len(s.servers))
		if ask.Shell == "" {
			continue
		}
		text, err := n.shell(ctx, ask.Shell)
		if err != nil {
			return r, err
		}
		own, ok := capacity.Own(text, ask.Name)
		if !ok {
			return r, fmt.Errorf("%s does not tell its %s: it printed %d bytes without it", n.Name(), ask.Name, len(text))
		}
		r.Own += own / float64(len(s.servers))
	}
	r.Client = rates[len(nodes)-1]
	return r, nil
}

// traffic is what goes through a node's interface, in bytes a second.
func (a *node) traffic(ctx context.Context, window time.Duration) (float64, error) {
	count := func() (int64, int64, error) {
		text, err := a.shell(ctx, devShell)
		return capacity.Traffic(text), history.Raw(), err
	}
	before, from, err := count()
	if err != nil {
		return 0, err
	}
	if err := wait(ctx, window); err != nil {
		return 0, err
	}
	after, to, err := count()
	return float64(after-before) / (float64(to-from) / 1e9), err
}

// shell runs a line in a shell of the node and returns what it printed.
func (a *node) shell(ctx context.Context, line string) (string, error) {
	child := agent.Child{Argv: []string{"bash", "-c", line}, Env: a.Spec.Env, User: a.Spec.User, Looks: true}
	m, err := a.ask(ctx, agent.Command{Do: agent.Run, Child: &child})
	return m.Log, err
}
