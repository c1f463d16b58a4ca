package runner

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/nemesis/agent/lossy"
	"github.com/dlmtest/dlmtest/nemesis/agent/vdso"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/scenarios"
	"github.com/dlmtest/dlmtest/workloads"
)

// plan is a run resolved: every node, every duration, every fault.
type plan struct {
	Options
	mode    workloads.Mode // of the clients
	entry   locks.Lock
	lease   time.Duration
	idle    time.Duration // PostgreSQL's timeout; 0: off
	keys    []string
	servers []clusters.NodeSpec
	other   clusters.NodeSpec // the guarded resource
	clients []clusters.NodeSpec
	setup   history.Setup
	faults  []nemesis.Fault
	drawn   []reports.Planned // the random ones among them
	key     string            // by which the store knows the workers: a lock under test has none
	sum     string            // of the user's own compose file; empty: there is none
	told    []string          // what is to be known of that file before the start
	stands  netip.Addr        // where the guarded resource is; invalid: it has no node yet
}

// Where the guarded resource listens, in its own container: the built-in store, or PostgreSQL.
const (
	storePort    = 7000
	postgresPort = 5432
)

// binary is where the injected dlmtest stands in every container.
const binary = "/dlmtest/dlmtest"

func newPlan(ctx context.Context, o Options, entry locks.Lock) (*plan, error) {
	if !o.Scenario.Settings.IsZero() { // whose they are is decided before: see Settle
		return nil, fmt.Errorf("%w: the scenario %s has settings of its own, which are not part of the run's", ErrUsage, o.Scenario.Name)
	}
	o.Settings, o.Fsync = o.Resolved(), cmp.Or(o.Fsync, o.Scenario.Fsync)
	kind, known := workloads.Kind(workloads.Mode(o.Scenario.Workload))
	if !known {
		return nil, fmt.Errorf("%w: no workload is named %q", ErrUsage, o.Scenario.Workload)
	}
	if kind == history.Watchdog && o.SelfFence == workloads.FenceNone {
		o.SelfFence = workloads.FenceSession // its holder listens: that is what it is for
	}
	p := &plan{Options: o, mode: workloads.Mode(o.Scenario.Workload), entry: entry, lease: o.Scenario.Lease.Of(0), key: rand.Text()}
	free, err := p.limits()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(o.fits(entry), o.filesAlone()); err != nil {
		return nil, err
	}
	var servers []clusters.NodeSpec
	if !o.elsewhere() {
		if servers, p.told, err = o.loadProfile(ctx, entry.Profile); err != nil {
			return nil, err
		}
	}
	p.servers = servers
	if p.sum, err = composeSum(o.Compose); err != nil {
		return nil, err
	}
	if p.other, err = p.resourceNode(ctx); err != nil {
		return nil, err
	}
	own := o.Warm.keys()
	for n := range o.Scenario.Keys {
		p.keys = append(p.keys, fmt.Sprintf("key-%d", n+1)+own)
	}
	var names []string
	for n := range o.Scenario.Clients {
		name := clientName(n)
		names = append(names, name)
		p.clients = append(p.clients, clusters.NodeSpec{Name: name, Role: "client", Image: o.clientImage(),
			Mounts: o.adapterFiles(), Hosts: o.hosts(), Guest: true, Outside: o.elsewhere()})
	}
	if err := p.apart(); err != nil {
		return nil, err
	}
	p.setup = history.Setup{Promise: p.promise(entry), Lease: p.lease, Keys: p.keys, Clients: names, Fencing: o.Fencing,
		FenceOn: o.FenceOn, Servers: nodeNames(servers), SelfFence: o.SelfFence, Strict: o.Strict,
		FreeWithin: free, Expect: o.Scenario.Expect, Kind: kind, Permits: o.Scenario.Permits}
	p.setup.Use = o.Scenario.UseOf()
	p.setup.Sources = slices.Concat(names, p.setup.Servers, []string{p.other.Name})
	p.write()
	if err := errors.Join(p.serves(), p.draw()); err != nil {
		return nil, err
	}
	p.empower()
	return p, nil
}

// limits reads the settings that are times: the server's for a session that stands idle, and for how long a key may stay free.
func (p *plan) limits() (free time.Duration, err error) {
	if p.idle, err = p.Idle.Of(p.lease); err != nil {
		return 0, fmt.Errorf("%w: --idle-timeout %s: %w", ErrUsage, p.Idle, err)
	}
	if free, err = p.Free.Of(p.lease); err != nil {
		return 0, fmt.Errorf("%w: --free-within %s: %w", ErrUsage, p.Free, err)
	}
	if free > 0 && p.entry.Slow {
		free += p.lease // who waits asks once a lease
	}
	return free, nil
}

// clientName is that of a client's node, counted from 0.
func clientName(n int) string { return fmt.Sprintf("client-%d", n+1) }

// promise is that of a lock in this run: of servers that leave fsync to the operating system none survives a crash, and
// what those of the user's own compose file survive is not known.
func (p *plan) promise(entry locks.Lock) history.Promise {
	promise := entry.Bounded(p.lease)
	promise.Idles = p.idle > 0
	switch {
	case p.Compose != "" || p.elsewhere():
		promise.Survives = ""
	case promise.Survives == history.Restart && (!clusters.Durable(entry.Profile, p.Fsync) || slices.ContainsFunc(p.Scenario.Faults, losesAll)):
		promise.Survives = history.Absence
	}
	return promise
}

// losesAll says whether a fault takes what was fsynced, too.
func losesAll(f scenarios.Fault) bool { return f.Mode == "lose-all" }

// apart refuses servers that would be taken for a node of dlmtest's own, by a resolver or by their role.
func (p *plan) apart() error {
	err := clusters.Distinct(slices.Concat([]clusters.NodeSpec{p.other}, p.clients, p.servers))
	for _, s := range p.servers {
		if s.Role == "client" || s.Role == "resource" {
			err = errors.Join(err, fmt.Errorf("the service %s is called as a node of dlmtest's own", s.Name))
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w; give the service another name in the compose file", ErrUsage, err)
	}
	return nil
}

// ErrUsage says that what was asked for cannot be run as it is.
var ErrUsage = errors.New("wrong usage")

// empower gives every node what the faults of this scenario need, and no more.
func (p *plan) empower() {
	caps := nemesis.Capabilities(p.faults)
	if p.Warm != nil { // another run on the same nodes may need them
		caps = nemesis.AllCapabilities()
	}
	for i := range p.servers {
		p.servers[i].CapAdd = append(p.servers[i].CapAdd, caps...)
	}
	if p.disks() {
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

// resourceNode is a node of its own: the built-in store, or a PostgreSQL.
func (p *plan) resourceNode(ctx context.Context) (clusters.NodeSpec, error) {
	if p.Resource != "postgres" {
		return clusters.NodeSpec{Name: "resource", Role: "resource", Image: clusters.ClientImage, Guest: true}, nil
	}
	nodes, _, err := Options{}.loadProfile(ctx, "postgres")
	if err != nil {
		return clusters.NodeSpec{}, err
	}
	node := nodes[0]
	node.Name, node.Role = "resource", "resource"
	return node, nil
}

func (p *plan) fault(f scenarios.Fault) nemesis.Fault {
	interval := time.Duration(0)
	if f.On == "every" {
		interval = f.At.Of(p.lease)
	}
	if f.On == "at" || f.On == "every" { // a time is no checkpoint
		f.On = ""
	}
	params := agent.Params{Mode: lossy.Mode(f.Mode), Link: p.linkFault(f)}
	if c := f.Clock; c != (scenarios.Clock{}) {
		sign := time.Duration(1)
		if c.Back {
			sign = -1
		}
		params.Anyway = c.Anyway
		params.Skew = &vdso.Skew{Step: sign * c.Step.Of(p.lease), Drift: c.Drift, Slew: sign * c.Slew.Of(p.lease), SlewRate: c.SlewRate}
		params.Strobe = c.Every.Of(p.lease)
		params.Skew.Step += sign * c.Strobe.Of(p.lease)
	}
	return nemesis.Fault{Random: f.Optional, Stream: f.Stream, Name: f.Name, After: f.After.Fault, When: f.After.When,
		Interval: interval, Kind: f.Fault, Params: params, Every: f.Every.Of(p.lease), From: f.From,
		Direction: f.Direction, To: f.To, Target: f.Target, On: f.On, At: f.At.Of(p.lease), Count: f.Count,
		Until: f.For.Until, Min: f.For.Min.Of(p.lease), Max: f.For.Max.Of(p.lease)}
}

// oracle says how to start Porcupine in a process of its own.
func (p *plan) oracle() checker.Oracle {
	if p.Oracle == "off" || p.Oracle == "" {
		return checker.Oracle{}
	}
	return checker.Oracle{Self: []string{p.Self, "oracle"}, Full: p.Oracle == "full"}
}

// worker is what client number n is told. A client beyond the last is the one
// that acquires every key at the end.
func (p *plan) worker(n int, node string, mode workloads.Mode) workloads.Spec {
	s := workloads.Spec{Mode: mode, Backend: p.Backend, Settings: p.Settings, Number: n, Clients: len(p.clients), Node: node, Keys: p.keys, Seed: p.Seed,
		Renew: p.Scenario.Renew, Patience: locks.Patience(p.Scenario.Patient(n)), Work: p.Scenario.Work.Of(p.lease), Think: p.Scenario.Think.Of(p.lease),
		Wait: p.Scenario.Wait.Of(p.lease), ReleaseWait: p.Scenario.ReleaseWait.Of(p.lease), Kind: p.setup.Kind, Permits: p.setup.Permits, Use: p.setup.Use,
		Resource: workloads.ResourceSpec{Addr: p.resourceAddr(), Key: p.key},
		Lock:     locks.Config{Lease: p.lease, Client: node, Seed: p.Seed + uint64(n), IdleTimeout: p.idle, Wait: p.Settings.Wait}}
	s.Lock.Endpoints = p.Endpoints
	s.Lock.Bearer = p.bearer()
	for _, server := range p.serving() {
		s.Lock.Endpoints = append(s.Lock.Endpoints, fmt.Sprintf("%s:%d", server.Name, p.entry.Port))
	}
	if p.links() && n < len(p.clients) {
		p.reroute(&s)
	}
	if mode == workloads.Finally {
		s.Wait = checker.Patience(p.lease)
	}
	return s
}

// resourceAddr is where clients find the guarded resource: by its address, once it has one. Code under test shares a
// client's network and could answer in place of the name service; who is taken for the resource is told its key.
func (p *plan) resourceAddr() string {
	host, port := p.other.Name, storePort
	if p.stands.IsValid() {
		host = p.stands.String()
	}
	if p.Resource == "postgres" {
		port = postgresPort
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}
