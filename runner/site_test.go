package runner

import (
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/scenarios"
)

// siteOf is a cluster of this shape with so many clients.
func siteOf(shape string, clients int) *site {
	s := &site{shape: shape}
	for n := range clients {
		s.every = append(s.every, &node{channel: &channel{Node: &clusters.Node{Spec: clusters.NodeSpec{Name: clientName(n), Role: "client"}}}})
	}
	return s
}

// The cluster that waits longest goes first, and a run takes one of its own shape that has enough clients.
func TestWarmKeepsTheNewest(t *testing.T) {
	w := &Warm{Most: 2}
	small, large, other := siteOf("a", 2), siteOf("a", 5), siteOf("b", 9)
	for _, c := range []struct{ given, goes *site }{{small, nil}, {large, nil}, {other, small}} {
		if goes := w.give(c.given); goes != c.goes {
			t.Fatalf("%v goes", goes)
		}
	}
	for _, c := range []struct {
		shape   string
		clients int
		want    *site
	}{{"", 1, nil}, {"c", 1, nil}, {"a", 6, nil}, {"a", 3, large}, {"a", 3, nil}, {"b", 3, other}} {
		got, begun := w.take(c.shape, c.clients)
		if begun(); got != c.want {
			t.Errorf("%q with %d clients: %v", c.shape, c.clients, got)
		}
	}
	if got, _ := (*Warm)(nil).take("a", 1); got != nil {
		t.Error("no clusters are kept, and one is taken")
	}
	if err := w.Close(t.Context()); err != nil || w.give(small) != small {
		t.Errorf("%v, or a cluster waits for a run that never comes", err)
	}
}

// Whoever finds no cluster has a turn to start one, and while others have theirs takes one that comes to wait.
func TestWarmStartsFewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, others := &Warm{Most: 2}, []func(){}
		for range max(runtime.NumCPU()/2, 1) {
			_, begun := w.take("a", 1)
			others = append(others, begun)
		}
		got := make(chan *site, 2)
		for _, shape := range []string{"a", "b"} {
			go func() {
				s, begun := w.take(shape, 1)
				got <- s
				begun()
			}()
		}
		if synctest.Wait(); len(got) != 0 {
			t.Fatal("too many start")
		}
		own := siteOf("a", 1)
		if w.give(own); <-got != own {
			t.Error("it does not take the cluster that came")
		}
		if synctest.Wait(); len(got) != 0 {
			t.Fatal("too many start")
		}
		if others[0](); <-got != nil {
			t.Error("it takes a cluster that is not of its shape")
		}
	})
}

// Faults of clocks and disks need programs that were started for them, and no run has the cluster of another lock or
// other settings. The names of a run's keys are nobody else's.
func TestWhoSharesACluster(t *testing.T) {
	warm := &Warm{Most: 1}
	shape := func(backend string, s settings.Settings, faults ...scenarios.Fault) (string, string) {
		t.Helper()
		p := &plan{Options: Options{Backend: backend, Settings: s, Warm: warm}, clients: []clusters.NodeSpec{{Name: "client-1"}}}
		for _, f := range faults {
			p.faults = append(p.faults, p.fault(f))
		}
		return p.shapeOf(), warm.keys()
	}
	plain, _ := shape("redis", settings.Settings{})
	if same, _ := shape("redis", settings.Settings{}, scenarios.Fault{Fault: "partition"}); plain == "" || same != plain {
		t.Errorf("%q and %q", plain, same)
	}
	keys := map[string]bool{}
	for name, c := range map[string]struct {
		backend  string
		settings settings.Settings
		fault    string
		none     bool
	}{
		"a clock":         {"redis", settings.Settings{}, "clock", true},
		"a crash":         {"redis", settings.Settings{}, "crash", true},
		"a compose file":  {"redis", settings.Settings{Compose: "mine.yaml"}, "pause", true},
		"postgres":        {"redis", settings.Settings{Resource: "postgres"}, "pause", true},
		"another lock":    {"etcd", settings.Settings{}, "pause", false},
		"another library": {"redis", settings.Settings{Library: "redislock"}, "pause", false},
		"another fsync":   {"redis", settings.Settings{Fsync: "always"}, "pause", false},
	} {
		got, key := shape(c.backend, c.settings, scenarios.Fault{Fault: c.fault})
		if got == plain || (got == "") != c.none {
			t.Errorf("%s: %q", name, got)
		}
		if keys[key] {
			t.Errorf("%s: %q ends the keys of another run, too", name, key)
		}
		keys[key] = true
	}
	if (*Warm)(nil).keys() != "" {
		t.Error("a run with a cluster of its own has other keys than it says")
	}
}

// Servers that depend on each other are spoilt by each fault of one; others only by one that ends it.
func TestSpoilt(t *testing.T) {
	for name, c := range map[string]struct {
		leads  bool
		kind   string
		target string
		lost   int
		open   bool
		spoilt bool
	}{
		"nothing":                  {},
		"a client is killed":       {kind: "kill", target: "client-1"},
		"a lone server is paused":  {kind: "pause", target: "server-1"},
		"a lone server is killed":  {kind: "kill", target: "server-1", spoilt: true},
		"one of several is paused": {leads: true, kind: "pause", target: "server-1", spoilt: true},
		"a server has ended":       {lost: 1, spoilt: true},
		"records are missing":      {open: true, spoilt: true},
	} {
		spec := clusters.NodeSpec{Name: "server-1"}
		if c.leads {
			spec.Leads = []string{"leads"}
		}
		s := &stage{lost: c.lost, open: c.open, rec: &recorder{}, servers: []*node{{channel: &channel{Node: &clusters.Node{Spec: spec}}}}}
		if c.kind != "" {
			s.rec.ops = []history.Op{{F: history.Fault, Fault: &history.FaultNote{Kind: c.kind, Target: c.target}}}
		}
		if s.spoilt() != c.spoilt {
			t.Errorf("%s: spoilt is %v", name, s.spoilt())
		}
	}
}
