package hunt

import (
	"slices"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// What came again in none of two runs is looked for once in a longer trial, and is a finding of that one.
func TestSeldomIsLookedForLonger(t *testing.T) {
	first, w := true, &world{}
	w.shows = func(o runner.Options) []string {
		switch seldom := o.Scenario.Duration.Leases < 6; {
		case o.Backend == "redis":
			return nil
		case seldom && !first:
			return nil
		}
		first = false
		return []string{"release-by-owner"}
	}
	h := hunting(t, w, t.TempDir(), 12)
	if err := h.Go(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := h.Report.Findings; len(all) != 1 || all[0].Property != "release-by-owner" || all[0].Found < Again {
		t.Errorf("%+v, said %q", all, h.Watch.(*listener).said)
	}
}

// What does not come again in a longer trial either is dismissed, and no trial is longer than another longer one.
func TestLongerIsLookedForOnce(t *testing.T) {
	ran, w := 0, &world{}
	w.shows = func(o runner.Options) []string {
		if ran++; o.Backend != "redis" && ran == 2 { // after the trial that learns
			return []string{"release-by-owner"}
		}
		return nil
	}
	h := hunting(t, w, t.TempDir(), 40)
	if err := h.Go(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := h.Report; len(r.Findings) != 0 || len(r.Left) != 1 || r.Left[0].Times != 1 || r.Left[0].Decision != Passing {
		t.Errorf("%+v, left %+v", r.Findings, r.Left)
	}
}

// The longer trial of each draw can be run, and has its faults as often or more often.
func TestLongerTrials(t *testing.T) {
	for _, backend := range []string{"redis", "etcd", "postgres"} {
		s := spaceOf(t, backend)
		more := 0
		for seed := range uint64(200) {
			short := Draw(seed, int(seed), s)
			long := s.longer(short)
			if why := s.trouble(long); why != "" || long.Duration.Leases < short.Duration.Leases || len(long.Faults) != len(short.Faults) {
				t.Fatalf("%s, seed %d: %s\n%s\n%s", backend, seed, why, short.YAML(), long.YAML())
			}
			if slices.ContainsFunc(long.Faults, func(f scenarios.Fault) bool { return f.Count == stretch }) {
				more++
			}
		}
		if more < 20 {
			t.Errorf("%s: faults come more often in %d of 200", backend, more)
		}
	}
}

// A trial whose load went on behind its time has that time as its own when it is run again.
func TestLingered(t *testing.T) {
	trial := Space{Leases: []time.Duration{time.Second}}.loop("guarded-write", time.Second)
	if same := lingered(trial, 0); same.Duration != trial.Duration || same.After != trial.After {
		t.Error(same.Duration, same.After)
	}
	if more := lingered(trial, 5*time.Second); more.Duration.Leases < trial.Duration.Leases+5 || more.After.Leases < trial.After.Leases+5 {
		t.Error(more.Duration, more.After)
	}
}

// What every lease allows gives up no violation that has the same cause and is not allowed.
func TestAllowedGivesUpNothing(t *testing.T) {
	h := &Hunt{Report: &Report{}}
	c := &candidate{cause: Cause{Name: "mutual-exclusion: zombie"}, Evidence: Evidence{Property: "mutual-exclusion"}}
	for range 3 * passingDismissed {
		h.dismiss(c, Allowed, "why")
	}
	h.dismiss(c, Shared, "why")
	if h.settled(c, scenarios.Scenario{}) || len(h.Report.Left) != 2 {
		t.Errorf("%+v", h.Report.Left)
	}
}

// What came again too seldom is looked into for longer than what the reference lock shows as well.
func TestSeldomIsNotGivenUpSoon(t *testing.T) {
	for decision, most := range map[Decision]int{Passing: passingDismissed, Shared: dismissals, Excused: dismissals} {
		h := &Hunt{Report: &Report{}}
		c := &candidate{cause: Cause{Name: "false-loss: told"}, Evidence: Evidence{Property: "false-loss"}}
		looks := 0
		for ; !h.settled(c, scenarios.Scenario{}); looks++ {
			h.dismiss(c, decision, "why")
		}
		if looks != most {
			t.Errorf("%s: looked into %d times, want %d", decision, looks, most)
		}
	}
}
