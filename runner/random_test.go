package runner

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/scenarios"
)

// stormPlan is the plan of a storm, with the scenario changed first.
func stormPlan(t *testing.T, backend string, seed uint64, change func(*scenarios.Scenario)) (*plan, error) {
	t.Helper()
	s, err := scenarios.Load("storm")
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(s)
	}
	return newPlan(context.Background(), Options{Scenario: *s, Backend: backend, Seed: seed}, locks.Table[backend])
}

func TestDrawnIsWhatIsPlayed(t *testing.T) {
	// Written faults come first, and one that comes three times has three numbers.
	written := func(s *scenarios.Scenario) {
		f := scenarios.Fault{Fault: "pause", Target: "a-server", On: "at", Count: 3, For: scenarios.Span{Max: scenarios.Duration{Leases: 1}}}
		s.Faults = append(s.Faults, f)
	}
	for _, backend := range []string{"redis", "redlock", "zookeeper", "etcd", "postgres", "redis-replicated"} {
		p, err := stormPlan(t, backend, 7, written)
		if err != nil {
			t.Fatalf("%s: %v", backend, err)
		}
		again, err := stormPlan(t, backend, 7, written)
		if err != nil || !reflect.DeepEqual(p.drawn, again.drawn) || !reflect.DeepEqual(p.faults, again.faults) {
			t.Errorf("%s: the same seed planned another run", backend)
		}
		id := 4
		for i, d := range p.drawn {
			f := p.faults[i+1]
			if d.ID != id || d.At != f.At || d.Fault != f.Kind || d.Target != f.Target || d.Max != f.Max || !f.Random {
				t.Errorf("%s: fault %d is told as %+v and played as %+v", backend, id, d, f)
			}
			id += max(f.Count, 1)
		}
		if len(p.drawn) < 5 {
			t.Errorf("%s: only %d faults", backend, len(p.drawn))
		}
	}
	other, err := stormPlan(t, "redis", 8, nil)
	p, _ := stormPlan(t, "redis", 7, nil)
	if err != nil || reflect.DeepEqual(p.drawn, other.drawn) {
		t.Errorf("another seed planned the same run (%v)", err)
	}
}

// A schedule that is written out as it was drawn plans the very same faults, with the
// numbers and the streams that they were drawn with, also after a way through a file.
func TestAsDrawn(t *testing.T) {
	written := func(s *scenarios.Scenario) {
		f := scenarios.Fault{Fault: "pause", Target: "a-server", On: "at", Count: 3, For: scenarios.Span{Min: scenarios.Duration{Leases: 1}, Max: scenarios.Duration{Leases: 1}}}
		s.Faults = append(s.Faults, f)
	}
	for _, backend := range []string{"redis", "redlock", "zookeeper", "etcd", "postgres", "redis-replicated"} {
		for seed := range uint64(20) {
			p, err := stormPlan(t, backend, seed, written)
			if err != nil {
				t.Fatal(err)
			}
			drawn := p.asDrawn()
			read, err := scenarios.Parse("drawn.yaml", drawn.YAML())
			if err != nil {
				t.Fatalf("%s, seed %d: %v", backend, seed, err)
			}
			o := p.Options
			o.Scenario = *read
			q, err := newPlan(t.Context(), o, locks.Table[backend])
			if err != nil {
				t.Fatalf("%s, seed %d: %v", backend, seed, err)
			}
			id := 1
			for i, f := range q.faults {
				if f.Stream != 0 && f.Stream != id || f.Random != (f.Stream != 0) {
					t.Errorf("%s, seed %d: fault %d has the stream %d", backend, seed, id, f.Stream)
				}
				q.faults[i].Stream, q.faults[i].Item = 0, p.faults[i].Item
				id += max(f.Count, 1)
			}
			if len(read.Random.Mix) != 0 || len(p.faults) < 2 || !reflect.DeepEqual(p.faults, q.faults) || !reflect.DeepEqual(p.drawn, q.drawn) {
				t.Errorf("%s, seed %d: drawn\n%+v\nplanned of the file\n%+v", backend, seed, p.faults, q.faults)
			}
		}
	}
}

// What a backend cannot suffer is refused where it is written, and skipped where it is drawn.
func TestCannot(t *testing.T) {
	lease := scenarios.Span{Max: scenarios.Duration{Leases: 1}, Min: scenarios.Duration{Leases: 1}}
	for _, c := range []struct {
		backend string
		fault   scenarios.Fault
		why     string
	}{
		{"zookeeper", scenarios.Fault{Fault: "clock", Target: "a-server", On: "at", Clock: scenarios.Clock{Drift: 0.1}}, "JVM"},
		{"etcd", scenarios.Fault{Fault: "pause", Target: quorumMember, On: "acquired"}, "dlmtest.holds"},
		{"redlock", scenarios.Fault{Fault: "disk-stall", Target: "a-server", On: "at"}, "--fsync always"},
	} {
		c.fault.For = lease
		_, err := stormPlan(t, c.backend, 1, func(s *scenarios.Scenario) { s.Faults, s.Fsync = []scenarios.Fault{c.fault}, "" })
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s, written: %v", c.backend, err)
		}
		p, err := stormPlan(t, c.backend, 1, func(s *scenarios.Scenario) { s.Random.Mix, s.Fsync = []scenarios.Fault{c.fault}, "" })
		if err != nil || len(p.drawn) == 0 || !strings.Contains(p.drawn[0].Note, c.why) || !strings.Contains(p.faults[0].Refused, c.why) {
			t.Errorf("%s, drawn: %v", c.backend, err)
		}
	}
	_, err := stormPlan(t, "redis", 1, func(s *scenarios.Scenario) { s.Random.Mix[0].Target = "redis-9" })
	if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), `no node is named "redis-9"`) {
		t.Errorf("a node that is not there: %v", err)
	}
}

// A load is prolonged when its faults heal late; what is shown never falls.
func TestDoneNeverFalls(t *testing.T) {
	var far furthest
	last := 0.0
	for _, c := range []struct {
		gone, whole time.Duration
		healed      bool
	}{{1, 6, false}, {5, 6, false}, {6, 6, false}, {7, 6, false}, {7, 8, true}, {8, 8, true}} {
		done := far.at(c.gone*time.Second, c.whole*time.Second, c.healed)
		if done < last || done > 1 || done == 1 && !c.healed {
			t.Errorf("%+v: %v after %v", c, done, last)
		}
		last = done
	}
	if last != 1 {
		t.Errorf("at the end it is %v", last)
	}
}
