package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	dlmtest "github.com/dlmtest/dlmtest"
	"github.com/dlmtest/dlmtest/agent"
	"github.com/dlmtest/dlmtest/agent/lossy"
	"github.com/dlmtest/dlmtest/agent/vdso"
	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/scenarios"
	"github.com/dlmtest/dlmtest/scenarios/near"
	"github.com/dlmtest/dlmtest/workloads"
)

// plan is a run resolved: every node, every duration, every fault.
type plan struct {
	Options
	mode    workloads.Mode // of the clients
	entry   locks.Lock
	lease   time.Duration
	keys    []string
	servers []clusters.NodeSpec
	other   clusters.NodeSpec // the guarded resource
	clients []clusters.NodeSpec
	setup   history.Setup
	faults  []nemesis.Fault
}

// storePort is where the built-in store listens, in its own container.
const storePort = 7000

// binary is where the injected dlmtest stands in every container.
const binary = "/dlmtest/dlmtest"

func newPlan(ctx context.Context, o Options, entry locks.Lock) (*plan, error) {
	if o.Fsync == "" {
		o.Fsync = o.Scenario.Fsync
	}
	p := &plan{Options: o, mode: workloads.Guarded, entry: entry, lease: o.Scenario.Lease.Of(0)}
	servers, err := loadProfile(ctx, o.Compose, entry.Profile, o.Fsync)
	if err != nil {
		return nil, err
	}
	p.servers = servers
	if p.other, err = p.resourceNode(ctx); err != nil {
		return nil, err
	}
	for n := range o.Scenario.Keys {
		p.keys = append(p.keys, fmt.Sprintf("key-%d", n+1))
	}
	var names []string
	for n := range o.Scenario.Clients {
		name := fmt.Sprintf("client-%d", n+1)
		names = append(names, name)
		p.clients = append(p.clients, clusters.NodeSpec{Name: name, Role: "client", Image: clusters.ClientImage})
	}
	promise := entry.Promise
	p.setup = history.Setup{Promise: promise, Lease: p.lease, Keys: p.keys, Clients: names, Fencing: o.Fencing,
		FenceOn: o.FenceOn, Servers: nodeNames(servers), SelfFence: o.SelfFence, Strict: o.Strict, Expect: o.Scenario.Expect}
	for _, f := range o.Scenario.Faults {
		if err := p.aimed(f); err != nil {
			return nil, err
		}
		p.faults = append(p.faults, p.fault(f))
	}
	p.empower()
	return p, nil
}

// aimed refuses a fault on a node that this run does not have.
func (p *plan) aimed(f scenarios.Fault) error {
	var nodes []string
	for _, n := range append(append([]clusters.NodeSpec{p.other}, p.servers...), p.clients...) {
		nodes = append(nodes, n.Name)
	}
	if f.Clock.Drift != 0 && p.entry.Profile == "zookeeper" && f.Target != "holder" && f.Target != "a-client" && f.Target != "clients" {
		// The JVM waits until times of its own MONOTONIC, and the kernel keeps them by
		// the true one: after a drift it spins or hangs (measured, see agent/vdso).
		return fmt.Errorf("%w: a JVM does not survive a drift of its clocks; slew REALTIME instead, or let %s alone", ErrUsage, f.Target)
	}
	for _, target := range []string{f.Target, f.From} {
		if _, role := scenarios.Targets[target]; target != "" && !role && !slices.Contains(nodes, target) {
			return fmt.Errorf("%w: fault %s: no node is named %q%s", ErrUsage, f.Fault, target, near.Hint(target, nodes))
		}
	}
	return nil
}

// ErrUsage says that what was asked for cannot be run as it is.
var ErrUsage = errors.New("wrong usage")

// empower gives every node what the faults of this scenario need, and no more.
func (p *plan) empower() {
	caps := nemesis.Capabilities(p.faults)
	for i := range p.servers {
		p.servers[i].CapAdd = append(p.servers[i].CapAdd, caps...)
	}
	if nemesis.Disks(p.faults) {
		for i := range p.servers {
			p.servers[i].CapAdd = append(p.servers[i].CapAdd, "SYS_ADMIN")
			p.servers[i].Devices = append(p.servers[i].Devices, "/dev/fuse")
			if _, err := os.Stat("/sys/kernel/security/apparmor"); err == nil { // its default profile forbids mounts
				p.servers[i].SecurityOpt = append(p.servers[i].SecurityOpt, "apparmor=unconfined")
			}
		}
	}
	for i := range p.clients {
		p.clients[i].CapAdd = caps
	}
	p.other.CapAdd = append(p.other.CapAdd, caps...)
}

// probes says whether the agents must answer each other's probes.
func (p *plan) probes() bool { return len(nemesis.Capabilities(p.faults)) > 0 }

func nodeNames(nodes []clusters.NodeSpec) []string {
	var all []string
	for _, n := range nodes {
		all = append(all, n.Name)
	}
	return all
}

// loadProfile reads the servers of a profile from the user's compose file or ours.
func loadProfile(ctx context.Context, file, profile, fsync string) ([]clusters.NodeSpec, error) {
	var settings []clusters.Settings
	if fsync != "" {
		policy, err := clusters.Fsync(profile, fsync)
		if err != nil {
			return nil, fmt.Errorf("%w: --fsync: %w", ErrUsage, err)
		}
		settings = append(settings, policy)
	}
	project, err := clusters.Load(ctx, dlmtest.Compose, profile, settings...)
	if file != "" {
		project, err = clusters.LoadFile(ctx, file, profile, settings...)
	}
	if err != nil {
		return nil, err
	}
	return project.Nodes, nil
}

// resourceNode is a node of its own: the built-in store, or a PostgreSQL.
func (p *plan) resourceNode(ctx context.Context) (clusters.NodeSpec, error) {
	if p.Resource != "postgres" {
		return clusters.NodeSpec{Name: "resource", Role: "resource", Image: clusters.ClientImage}, nil
	}
	nodes, err := loadProfile(ctx, "", "postgres", "")
	if err != nil {
		return clusters.NodeSpec{}, err
	}
	node := nodes[0]
	node.Name, node.Role = "resource", "resource"
	return node, nil
}

func (p *plan) fault(f scenarios.Fault) nemesis.Fault {
	if f.On == "at" { // a time is no gate
		f.On = ""
	}
	params := agent.Params{Mode: lossy.Mode(f.Mode)}
	if c := f.Clock; c != (scenarios.Clock{}) {
		sign := time.Duration(1)
		if c.Back {
			sign = -1
		}
		params.Skew = &vdso.Skew{Step: sign * c.Step.Of(p.lease), Drift: c.Drift, Slew: sign * c.Slew.Of(p.lease), SlewRate: c.SlewRate}
	}
	return nemesis.Fault{Kind: f.Fault, Params: params, Every: f.Every.Of(p.lease), From: f.From, Direction: f.Direction, Target: f.Target, On: f.On, At: f.At.Of(p.lease), Count: f.Count,
		Until: f.For.Until, Min: f.For.Min.Of(p.lease), Max: f.For.Max.Of(p.lease)}
}

// oracle says how to start Porcupine in a process of its own; nil: do not.
func (p *plan) oracle() []string {
	if !p.Oracle {
		return nil
	}
	return []string{p.Self, "oracle"}
}

// worker is what client number n is told. A client beyond the last is the one
// that acquires every key at the end.
func (p *plan) worker(n int, node string, mode workloads.Mode) workloads.Spec {
	s := workloads.Spec{Mode: mode, Backend: p.Backend, Number: n, Node: node, Keys: p.keys, Seed: p.Seed,
		Renew: p.Scenario.Renew, Work: p.Scenario.Work.Of(p.lease), Think: p.Scenario.Think.Of(p.lease),
		Wait: p.Scenario.Wait.Of(p.lease), SelfFence: p.SelfFence,
		Resource: workloads.ResourceSpec{Kind: p.Resource, Addr: fmt.Sprintf("resource:%d", storePort), Fencing: p.Fencing, FenceOn: p.FenceOn},
		Lock:     locks.Config{Lease: p.lease, Client: node, Seed: p.Seed + uint64(n), IdleTimeout: p.Idle, Wait: p.Wait}}
	if p.Resource == "postgres" {
		s.Resource.Addr = "resource:5432"
	}
	for _, server := range p.servers {
		if role := p.entry.Endpoints; role != "" && server.Role != role {
			continue
		}
		s.Lock.Endpoints = append(s.Lock.Endpoints, fmt.Sprintf("%s:%d", server.Name, p.entry.Port))
	}
	if mode == workloads.Finally {
		s.Wait = finalLimit(p.lease)
	}
	return s
}

// finalLimit is how long a key that nobody holds may take to be granted.
func finalLimit(lease time.Duration) time.Duration { return 2*lease + 3*time.Second }
