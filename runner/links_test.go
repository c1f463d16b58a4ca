package runner

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
	"github.com/dlmtest/dlmtest/scenarios"
	"github.com/dlmtest/dlmtest/workloads"
)

// planned is the plan of baseline with some faults.
func planned(t *testing.T, backend, resource string, faults ...scenarios.Fault) (*plan, error) {
	t.Helper()
	s, err := scenarios.Load("baseline")
	if err != nil {
		t.Fatal(err)
	}
	s.Faults = faults
	return newPlan(context.Background(), Options{Scenario: *s, Backend: backend, Settings: settings.Settings{Resource: resource}}, locks.Table[backend])
}

func TestClientsGoThroughTheirLinks(t *testing.T) {
	p, err := planned(t, "redlock", "store", scenarios.Fault{Fault: "latency", Target: "clients", Latency: scenarios.Duration{Leases: 0.1}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.faults[0].Params.Link.RTT, p.lease/10; got != want {
		t.Errorf("latency %v, want %v", got, want)
	}
	ways := p.clientLinks()
	if len(ways) != 6 || ways[4].Upstream != "redlock-5:6379" || ways[4].Protocol != wire.Redis || ways[5].Upstream != "resource:7000" || ways[5].Protocol != wire.None {
		t.Errorf("links %+v", ways)
	}
	w := p.worker(0, "client-1", workloads.Guarded)
	if want := []string{"127.0.0.1:21000", "127.0.0.1:21001", "127.0.0.1:21002", "127.0.0.1:21003", "127.0.0.1:21004"}; !slices.Equal(w.Lock.Endpoints, want) || w.Resource.Addr != "127.0.0.1:21005" {
		t.Errorf("%v, resource %s", w.Lock.Endpoints, w.Resource.Addr)
	}
	// The final acquire is no victim, and its node has no agent that knows of links.
	if last := p.worker(len(p.clients), "final", workloads.Finally); last.Lock.Endpoints[0] != "redlock-1:6379" || last.Resource.Addr != "resource:7000" {
		t.Errorf("the final acquire goes to %v and %s", last.Lock.Endpoints, last.Resource.Addr)
	}
}

// Code under test shares its client's network, and could answer in place of the name service: who is taken for the
// resource is told its key, and with that the verdict can be forged.
func TestResourceIsFoundByItsAddress(t *testing.T) {
	for _, resource := range []string{"store", "postgres"} {
		p, err := planned(t, "redlock", resource, scenarios.Fault{Fault: "latency", Target: "clients", Latency: scenarios.Duration{Leases: 0.1}})
		if err != nil {
			t.Fatal(err)
		}
		at, dir := &site{cluster: &clusters.Cluster{Nodes: []*clusters.Node{{Spec: p.other, Addr: netip.MustParseAddr("10.77.0.7"),
			Stdin: nopCloser{io.Discard}, Stdout: strings.NewReader(""), Stderr: strings.NewReader("")}}}}, t.TempDir()
		if err := errors.Join(os.Mkdir(filepath.Join(dir, logsDir), 0o755), at.attach(&recorder{}, dir)); err != nil {
			t.Fatal(err)
		}
		s := p.stage(at, nil, dir)
		addr := s.worker(len(p.clients), "final", workloads.Finally).Resource.Addr
		if way := s.clientLinks()[5]; !strings.HasPrefix(addr, "10.77.0.7:") || way.Upstream != addr {
			t.Errorf("%s: a client finds it at %s, a link at %s", resource, addr, way.Upstream)
		}
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// Sentinels name the primary by its own address: clients find it by its link all the same.
func TestLinksToServersThatOthersName(t *testing.T) {
	p, err := planned(t, "redis-replicated", "store", scenarios.Fault{Fault: "reset", Target: "clients"})
	if err != nil {
		t.Fatal(err)
	}
	w := p.worker(0, "client-1", workloads.Guarded)
	if want := []string{"127.0.0.1:21000", "127.0.0.1:21001", "127.0.0.1:21002"}; !slices.Equal(w.Lock.Endpoints, want) || w.Resource.Addr != "127.0.0.1:21006" {
		t.Errorf("%v, resource %s", w.Lock.Endpoints, w.Resource.Addr)
	}
	links := map[string]string{}
	for _, l := range p.clientLinks() {
		links[l.Listen] = l.Upstream
	}
	for _, server := range []string{"sentinel-1:26379", "sentinel-3:26379", "replicated-1:6379", "replicated-3:6379"} {
		if way := w.Lock.Ways[server]; links[way] != server {
			t.Errorf("the way to %s is %q, a link to %q", server, way, links[way])
		}
	}
	if last := p.worker(len(p.clients), "final", workloads.Finally); len(last.Lock.Ways) > 0 || last.Lock.Endpoints[0] != "sentinel-1:26379" {
		t.Errorf("the final acquire goes by %v", last.Lock.Ways)
	}
}

func TestNoLinksWithoutAFaultOfThem(t *testing.T) {
	p, err := planned(t, "etcd", "store", scenarios.Fault{Fault: "pause", Target: "a-server"})
	if err != nil {
		t.Fatal(err)
	}
	if w := p.worker(0, "client-1", workloads.Guarded); p.clientLinks() != nil || w.Lock.Endpoints[0] != "etcd-1:2379" {
		t.Errorf("%+v", w.Lock.Endpoints)
	}
}

func TestProtocols(t *testing.T) {
	for backend, want := range map[string]wire.Protocol{"redis": wire.Redis, "zookeeper": wire.ZooKeeper, "etcd": wire.HTTP2, "postgres-advisory": wire.Postgres, "broken/lease-put": wire.HTTP2} {
		p, err := planned(t, backend, "postgres", scenarios.Fault{Fault: "reset", Target: "a-client"})
		if err != nil {
			t.Fatal(err)
		}
		ways := p.clientLinks()
		if last := ways[len(ways)-1]; ways[0].Protocol != want || last.Protocol != wire.Postgres || last.Upstream != "resource:5432" {
			t.Errorf("%s: %+v", backend, ways)
		}
	}
}

func TestLinkFaultsThatWouldMiss(t *testing.T) {
	for _, c := range []struct {
		backend, resource string
		fault             scenarios.Fault
		want              string // "": none
	}{
		{"redis-replicated", "store", scenarios.Fault{Fault: "reset", Target: "clients", To: "replicated-2"}, ""},
		{"redis-replicated", "store", scenarios.Fault{Fault: "hold-request", Target: "holder", To: "resource"}, ""},
		{"redis", "store", scenarios.Fault{Fault: "hold-request", Target: "holder", To: "resource", When: scenarios.When{Name: "Query"}}, "messages have no names"},
		{"redis", "postgres", scenarios.Fault{Fault: "hold-request", Target: "holder", To: "resource", When: scenarios.When{Name: "Query"}}, ""},
		{"redis", "postgres", scenarios.Fault{Fault: "hold-request", Target: "holder", To: "resource", When: scenarios.When{Name: "EVAL"}}, `no request of postgres is called "EVAL"; if the servers have it`},
		{"zookeeper", "store", scenarios.Fault{Fault: "hold-request", Target: "holder", When: scenarios.When{Name: "EVAL"}}, `no request of zookeeper is called "EVAL"`},
		{"zookeeper", "store", scenarios.Fault{Fault: "hold-request", Target: "holder", When: scenarios.When{Name: "create"}}, ""},
		{"redis", "store", scenarios.Fault{Fault: "reset", Target: "holder", To: "client-2"}, "lead to servers and to the resource, not to client-2"},
		{"redis", "store", scenarios.Fault{Fault: "reset", Target: "holder", To: "redis-9"}, `no node is named "redis-9"`},
		{"redis", "store", scenarios.Fault{Fault: "reset", Target: "client-99"}, `no node is named "client-99"`},
	} {
		_, err := planned(t, c.backend, c.resource, c.fault)
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %+v: %v, want %q", c.backend, c.fault, err, c.want)
		}
	}
}

// TestPatienceReachesClients: which clients wait for late answers, and how long for that to a release, is the scenario's word.
func TestPatienceReachesClients(t *testing.T) {
	p, err := planned(t, "redlock", "store")
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string][2]locks.Patience{"": {locks.Waits, locks.GivesUp}, scenarios.Impatient: {locks.GivesUp, locks.GivesUp}} {
		p.Scenario.Patience = word
		got := [2]locks.Patience{p.worker(0, "client-1", workloads.Guarded).Patience, p.worker(1, "client-2", workloads.Guarded).Patience}
		if got != want {
			t.Errorf("%q: %v, want %v", word, got, want)
		}
	}
	p.Scenario.ReleaseWait = scenarios.Duration{Leases: 0.5}
	if got := p.worker(0, "client-1", workloads.Guarded).ReleaseWait; got != p.lease/2 {
		t.Errorf("a release is waited for %v", got)
	}
}
