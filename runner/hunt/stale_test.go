package hunt

import (
	"slices"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Whoever acts after its lease breaks one property or another, as chance has it; and beside a lock that ends no
// lease nobody does. Neither is a finding.
func TestAZombieIsNoFinding(t *testing.T) {
	for name, w := range map[string]*world{
		"the reference lock breaks another property": {shows: func(o runner.Options) []string {
			if o.Backend == "redis" {
				return []string{"mutual-exclusion"}
			}
			return []string{"one-leader"}
		}},
		"the reference lock has no lease": {endless: func(o runner.Options) bool { return o.Backend == "redis" }, shows: func(o runner.Options) []string {
			if o.Backend == "redis" {
				return nil
			}
			return []string{"mutual-exclusion"}
		}},
	} {
		h := hunting(t, w, t.TempDir(), 30)
		if err := h.Go(t.Context()); err != nil {
			t.Fatal(err)
		}
		left := slices.ContainsFunc(h.Report.Left, func(d *Dismissed) bool { return d.Decision == Shared || d.Decision == Excused })
		if len(h.Report.Findings) > 0 || !left {
			t.Errorf("%s: %d findings, left %+v", name, len(h.Report.Findings), h.Report.Left)
		}
	}
}

// Once the reference lock has broken data under faults of some victims in a few trials, it is not asked again about what they
// break of data; under faults of others it is, and about what the service owes.
func TestZombiesAreKnownByTheirVictims(t *testing.T) {
	h := &Hunt{Report: &Report{}, shared: map[string]int{"holder": dismissals}}
	at := func(target, on string) scenarios.Scenario {
		return scenarios.Scenario{Faults: []scenarios.Fault{{Fault: "pause", Target: target, On: on}}}
	}
	zombie := &candidate{cause: Cause{Name: "a"}, Evidence: Evidence{Property: "mutual-exclusion", Owed: checker.Unleased}}
	lost := &candidate{cause: Cause{Name: "b"}, Evidence: Evidence{Property: "no-lost-update/fenced", Owed: checker.Data}}
	owed := &candidate{cause: Cause{Name: "c"}, Evidence: Evidence{Property: "lease-exclusion", Owed: checker.Service}}
	for _, test := range []struct {
		c    *candidate
		t    scenarios.Scenario
		want bool
	}{
		{zombie, at("holder", "before-write"), true}, {lost, at("holder", "renewing"), true}, {owed, at("holder", "before-write"), false},
		{zombie, at("holder", "waiting"), false}, {zombie, at("a-server", "acquired"), false}, {zombie, scenarios.Scenario{}, false},
	} {
		if got := h.settled(test.c, test.t); got != test.want {
			t.Errorf("%s under %q: %v", test.c.Property, victims(test.t), got)
		}
	}
	if len(h.Report.Left) != 2 || h.Report.Left[0].Decision != Shared {
		t.Errorf("%+v", h.Report.Left)
	}
}
