package runner

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/nemesis/agent/cut"
	"github.com/dlmtest/dlmtest/scenarios"
)

func options(t *testing.T, scenario, backend string) Options {
	t.Helper()
	s, err := scenarios.Load(scenario)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Scenario: *s, Backend: backend, Seed: 1}
}

func lasts(d time.Duration) func(*Options) {
	return func(o *Options) { o.Scenario.Lease = scenarios.Duration{Fixed: d} }
}

// unlabelled is a user's compose file that does not say where data lies.
func unlabelled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "compose.yml")
	text := bytes.ReplaceAll(clusters.Compose, []byte("dlmtest.data:"), []byte("other.data:"))
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestApplies(t *testing.T) {
	for _, c := range []struct {
		scenario, backend string
		change            func(*Options)
		want              string // in the reason; "": it applies
	}{
		{"baseline", "redis", nil, ""},
		{"gc-pause", "postgres", nil, ""},
		{"partition-majority", "redis", nil, ""},
		{"partition-leader", "etcd", nil, ""},
		{"partition-leader", "redis-replicated", nil, ""},
		{"partition-ring", "etcd", nil, ""},
		{"watchdog-stall", "etcd", nil, ""},
		{"disk-stall", "zookeeper", nil, ""},
		{"orphan-between", "broken/setnx-expire", nil, ""},
		{"clock-drift", "etcd", nil, ""},
		{"clock-jump-client", "zookeeper", nil, ""},
		{"leader-crash", "redis", nil, "no server of redis leads"},
		{"partition-minority", "redis", nil, `"minority" needs at least 3 servers, and redis has 1`},
		{"partition-ring", "postgres", nil, `"ring" needs at least 3 servers`},
		{"token-amnesia", "redis", func(o *Options) { o.Compose = unlabelled(t) }, "no label dlmtest.data"},
		{"clock-drift", "zookeeper", nil, "a JVM (java) does not survive"},
		{"orphan-between", "redis", nil, "nothing between"},
		{"token-gap", "broken/quorum-two", nil, "nothing between"},
		{"watchdog-stall", "postgres", nil, "renews its lock"},
		{"watchdog-stall", "zookeeper", nil, "renews itself"},
		{"crash-amnesia", "etcd", nil, "crash-amnesia is about redlock alone"},
		{"baseline", "etcd", func(o *Options) { o.Fsync = "memory" }, `no fsync policy "memory"`},
		{"baseline", "redis", func(o *Options) { o.Wait = 1 }, "--wait is for"},
		{"baseline", "redis", func(o *Options) { o.Idle = "1s" }, "a setting of PostgreSQL"},
		{"baseline", "redis", func(o *Options) { o.Etcd = "3.6" }, "--etcd is for"},
		{"baseline", "etcd", lasts(time.Second), ""},
		{"baseline", "etcd", lasts(500 * time.Millisecond), "whole seconds"},
		{"baseline", "etcd", lasts(2500 * time.Millisecond), "ask for 3s"},
		{"baseline", "zookeeper", lasts(200 * time.Millisecond), "leases from 400ms to 1m0s"},
		{"baseline", "redlock", lasts(200500 * time.Microsecond), "whole milliseconds"},
		{"gc-pause", "etcd", func(o *Options) { o.Scenario.Faults[0].Target = "redis-1" }, `no node is named "redis-1"`},
	} {
		o := options(t, c.scenario, c.backend)
		if c.change != nil {
			c.change(&o)
		}
		reason, err := Applies(t.Context(), o)
		if err != nil || !strings.Contains(reason, c.want) || (reason == "") != (c.want == "") {
			t.Errorf("%s × %s: %q, %v; want %q", c.scenario, c.backend, reason, err, c.want)
		}
		if reason == "" {
			continue
		}
		if _, err := Run(t.Context(), o, nil); !errors.Is(err, ErrUsage) || err.Error() != reason {
			t.Errorf("%s × %s: the run itself says %v", c.scenario, c.backend, err)
		}
	}
}

// unheard is a Progress that tells nobody.
type unheard struct{}

func (unheard) Phase(string)         {}
func (unheard) Line(string)          {}
func (unheard) Live(Counts, float64) {}

// What is refused only where the nodes run, before any of them, leaves no folder behind.
func TestRefusedLeavesNothing(t *testing.T) {
	o := options(t, "baseline", "redis")
	o.Runtime, o.Image, o.Out = "local", "mine:1", t.TempDir()
	if _, err := Run(t.Context(), o, unheard{}); !errors.Is(err, ErrUsage) {
		t.Fatalf("%v", err)
	}
	if left, err := os.ReadDir(o.Out); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A scenario about a lock that does not exist is a slip, not a cell without sense.
func TestAppliesRefusesUnknownBackends(t *testing.T) {
	o := options(t, "baseline", "redis")
	o.Scenario.Backends = []string{"redis", "relock"}
	if reason, err := Applies(t.Context(), o); !errors.Is(err, ErrUsage) || reason != "" || !strings.Contains(err.Error(), `backends[1]: no backend is "relock"; did you mean "redlock"?`) {
		t.Errorf("%q, %v", reason, err)
	}
}

// Every built-in scenario applies to a lock at least, and to each that it has an
// expectation for.
func TestEveryScenarioAppliesSomewhere(t *testing.T) {
	for _, scenario := range scenarios.Names() {
		somewhere := false
		for _, backend := range locks.Names() {
			o := options(t, scenario, backend)
			reason, err := Applies(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			somewhere = somewhere || reason == ""
			if _, expected := o.Scenario.Expected[backend]; expected && reason != "" {
				t.Errorf("%s expects something of %s, and does not apply to it: %s", scenario, backend, reason)
			}
		}
		if !somewhere {
			t.Errorf("%s applies to no lock", scenario)
		}
	}
}

// The numbers of fewest are those of the cuts themselves.
func TestFewest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	servers := []string{"a", "b", "c", "d"}
	for shape, part := range map[string]func([]string, *rand.Rand) []cut.Grudge{
		"halves": cut.Halves, "ring": cut.MajoritiesRing, "bridge": cut.Bridge,
	} {
		n := fewest[shape]
		if len(part(servers[:n], r)) == 0 || len(part(servers[:n-1], r)) != 0 {
			t.Errorf("%s: %d servers are not the fewest", shape, n)
		}
	}
}
