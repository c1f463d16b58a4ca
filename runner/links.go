package runner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/nemesis/agent/links"
	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
	"github.com/dlmtest/dlmtest/scenarios"
	"github.com/dlmtest/dlmtest/workloads"
)

// linkPort is where the first link of a client listens, on its loopback; the others
// follow.
const linkPort = 21000

// speaks is what the servers of this run speak to clients. The two backends of the lock service
// speak differently to the same servers.
func (p *plan) speaks() wire.Protocol {
	switch p.Backend {
	case "http":
		return wire.HTTP1
	case "grpc":
		return wire.HTTP2
	}
	return clusters.Speaks(p.entry.Profile)
}

// links says whether the clients of this run reach their servers by links.
func (p *plan) links() bool { return nemesis.Links(p.faults) }

// serving are the servers that clients are told of.
func (p *plan) serving() []clusters.NodeSpec {
	return slices.DeleteFunc(slices.Clone(p.servers), func(n clusters.NodeSpec) bool {
		return p.entry.Endpoints != "" && n.Role != p.entry.Endpoints
	})
}

// learnt are the servers that clients learn of from those that they are told of.
func (p *plan) learnt() []clusters.NodeSpec {
	return slices.DeleteFunc(slices.Clone(p.servers), func(n clusters.NodeSpec) bool {
		return p.entry.Named == 0 || n.Role == p.entry.Endpoints
	})
}

// clientLinks are the links of each client: to the servers that it is told of, in
// their order, to those that these name, and last to the resource. Every node has a
// loopback of its own.
func (p *plan) clientLinks() []agent.Link {
	if !p.links() {
		return nil
	}
	all := p.endpointLinks()
	add := func(name, upstream string, speaks wire.Protocol) {
		all = append(all, agent.Link{Name: name, Upstream: upstream, Protocol: speaks, Listen: fmt.Sprintf("127.0.0.1:%d", linkPort+len(all))})
	}
	for _, n := range p.serving() {
		add(n.Name, fmt.Sprintf("%s:%d", n.Name, p.entry.Port), p.speaks())
	}
	for _, n := range p.learnt() {
		add(n.Name, fmt.Sprintf("%s:%d", n.Name, p.entry.Named), p.speaks())
	}
	speaks := wire.None
	if p.Resource == "postgres" {
		speaks = wire.Postgres
	}
	add(p.other.Name, p.resourceAddr(), speaks)
	return all
}

// linkedServers names the servers, or endpoints, to which a client has links.
func (p *plan) linkedServers() []string {
	var all []string
	for _, l := range p.clientLinks() {
		if l.Name != p.other.Name {
			all = append(all, l.Name)
		}
	}
	return all
}

// reroute leads a client's ways through its links, those too of which it learns.
func (p *plan) reroute(s *workloads.Spec) {
	ways := p.clientLinks()
	last := len(ways) - 1
	s.Lock.Endpoints, s.Lock.Ways = nil, map[string]string{}
	for i, l := range ways[:last] {
		if i < len(p.Endpoints) {
			s.Lock.Endpoints = append(s.Lock.Endpoints, through(p.Endpoints[i], l.Listen))
		} else if i < len(p.serving()) {
			s.Lock.Endpoints = append(s.Lock.Endpoints, l.Listen)
		}
		s.Lock.Ways[l.Upstream] = l.Listen
	}
	s.Resource.Addr = ways[last].Listen
}

// linked says why a fault of links would miss what it is aimed at, or "".
func (p *plan) linked(f scenarios.Fault) string {
	if !slices.Contains(nemesis.OnLinks, f.Fault) {
		return ""
	}
	far := f.To == "resource"
	if far && f.When.Name != "" && p.Resource != "postgres" {
		return fmt.Sprintf("fault %s: the built-in store's messages have no names; use when: {contains: …} or {bytes: …}, or --resource postgres", f.Fault)
	}
	if why := p.unnamed(f, far); why != "" {
		return fmt.Sprintf("fault %s: when: %s", f.Fault, why)
	}
	if slices.Contains(nodeNames(p.clients), f.To) {
		return fmt.Sprintf("fault %s: a client's links lead to servers and to the resource, not to %s", f.Fault, f.To)
	}
	reached := append(p.serving(), p.learnt()...)
	if slices.Contains(nodeNames(p.servers), f.To) && !slices.Contains(nodeNames(reached), f.To) ||
		(f.To == "leader" || f.To == "a-follower") && !slices.ContainsFunc(reached, func(n clusters.NodeSpec) bool { return len(n.Leads) > 0 }) {
		return fmt.Sprintf("fault %s: no client of %s has a link to %s, only to %s", f.Fault, p.Label(), f.To, strings.Join(nodeNames(reached), ", "))
	}
	return ""
}

// unnamed says why no message on the links of this run has the name that a fault
// waits for, or "": the loader knows the names of all protocols, and here is one.
func (p *plan) unnamed(f scenarios.Fault, far bool) string {
	speaks := p.speaks()
	if far {
		speaks = wire.Postgres
	}
	if f.When.Name == "" {
		return ""
	}
	return scenarios.Unnamed(f.When, speaks)
}

// linkFault is what an agent is told of a fault of links; nil: it is none.
func (p *plan) linkFault(f scenarios.Fault) *agent.LinkFault {
	if !slices.Contains(nemesis.OnLinks, f.Fault) {
		return nil
	}
	w := f.When
	return &agent.LinkFault{RTT: f.Latency.Of(p.lease), Jitter: f.Jitter.Of(p.lease), Rate: int64(f.Rate),
		When: links.When{Direction: links.Direction(w.Direction), Name: w.Name, Contains: w.Contains, Bytes: int64(w.Bytes), Skip: w.Skip, After: w.After}}
}
