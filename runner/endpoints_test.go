package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
	"github.com/dlmtest/dlmtest/scenarios"
	"github.com/dlmtest/dlmtest/workloads"
)

// at is the plan of a scenario against a service elsewhere.
func at(t *testing.T, scenario, backend string, change func(*Options), endpoints ...string) (*plan, error) {
	t.Helper()
	s, err := scenarios.Load(scenario)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Scenario: *s, Backend: backend, Settings: settings.Settings{Endpoints: endpoints}}
	if change != nil {
		change(&o)
	}
	return newPlan(context.Background(), o, locks.Table[backend])
}

// Each client has links of its own to a service elsewhere, and nothing else is started.
func TestEndpointsByLinks(t *testing.T) {
	p, err := at(t, "lost-answer", "http", nil, "http://locks.example:8080/v2", "192.0.2.7:80")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.servers) != 0 || len(p.setup.Servers) != 0 {
		t.Errorf("servers %v", p.servers)
	}
	for _, c := range p.clients {
		if !slices.Contains(c.Hosts, "host.docker.internal:host-gateway") {
			t.Errorf("%s does not know the machine: %v", c.Name, c.Hosts)
		}
	}
	ways := p.clientLinks()
	if len(ways) != 3 || ways[0].Upstream != "locks.example:8080" || ways[1].Upstream != "192.0.2.7:80" || ways[0].Protocol != wire.HTTP1 {
		t.Errorf("links %+v", ways)
	}
	w := p.worker(0, "client-1", workloads.Guarded)
	if want := []string{"http://127.0.0.1:21000/v2", "127.0.0.1:21001"}; !slices.Equal(w.Lock.Endpoints, want) {
		t.Errorf("endpoints %v", w.Lock.Endpoints)
	}
	if last := p.worker(len(p.clients), "final", workloads.Finally); !slices.Equal(last.Lock.Endpoints, p.Endpoints) {
		t.Errorf("the final acquire goes to %v", last.Lock.Endpoints)
	}
	if got := p.linkedServers(); !slices.Equal(got, []string{"endpoint-1", "endpoint-2"}) {
		t.Errorf("faults of links lead to %v", got)
	}
}

func TestEndpointsRefused(t *testing.T) {
	const far = "http://192.0.2.7:8080"
	for _, c := range []struct {
		scenario, backend, endpoint string
		change                      func(*Options)
		want                        string
	}{
		{"baseline", "etcd", far, nil, "--endpoint is for a lock service that you run, with --backend http or grpc"},
		{"baseline", "http", "http://localhost:8080", nil, "call this machine host.docker.internal"},
		{"baseline", "grpc", "[::1]:9090", nil, "is the node itself"},
		{"baseline", "grpc", "192.0.2.7", nil, "want host:port"},
		{"baseline", "http", far, func(o *Options) { o.Runtime = "local" }, "use --runtime docker"},
		{"baseline", "http", far, func(o *Options) { o.Fsync = "always" }, "dlmtest does not start the service"},
		{"baseline-lossy", "http", far, nil, "dlmtest does not start the service"},
		{"leader-crash", "http", far, nil, "is not dlmtest's to break"},
		{"partition-minority", "grpc", far, nil, "is not dlmtest's to break"},
		{"holder-isolated", "grpc", far, nil, "is not dlmtest's to break"},
		{"service-pause", "http", far, nil, "no node is named"},
	} {
		_, err := at(t, c.scenario, c.backend, c.change, c.endpoint)
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s on %s at %s: %v, want %q", c.scenario, c.backend, c.endpoint, err, c.want)
		}
	}
	for _, scenario := range []string{"baseline", "gc-pause", "gc-pause-read", "orphan", "lost-answer", "watchdog-stall", "half-open", "slow-links"} {
		for _, backend := range []string{"http", "grpc"} {
			if _, err := at(t, scenario, backend, nil, far); err != nil {
				t.Errorf("%s on %s: %v", scenario, backend, err)
			}
		}
	}
}

// The clients of the service in the cluster have links to its front and not to etcd.
func TestLinksOfTwoTiers(t *testing.T) {
	hold := scenarios.Fault{Fault: "hold-answer", Target: "holder", On: "waiting"}
	p, err := planned(t, "grpc", "store", hold)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.linkedServers(); !slices.Equal(got, []string{"lockservice-1", "lockservice-2", "lockservice-3"}) {
		t.Errorf("linked to %v", got)
	}
	for _, to := range []string{"etcd-1", "leader", "a-follower"} {
		hold.To = to
		if _, err := planned(t, "grpc", "store", hold); err == nil || !strings.Contains(err.Error(), "no client of grpc has a link to "+to) {
			t.Errorf("to %s: %v", to, err)
		}
	}
	named := func(backend, name string) error {
		_, err := planned(t, backend, "store", scenarios.Fault{Fault: "cut-link", Target: "clients", When: scenarios.When{Name: name}})
		return err
	}
	for backend, name := range map[string]string{"http": "HEADERS", "grpc": "POST"} {
		if err := named(backend, name); err == nil {
			t.Errorf("%s: no message is called %s", backend, name)
		}
	}
	for backend, name := range map[string]string{"grpc": "HEADERS", "http": "POST"} {
		if err := named(backend, name); err != nil {
			t.Errorf("%s: %v", backend, err)
		}
	}
}
