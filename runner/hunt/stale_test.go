package hunt

import (
	"slices"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/runner"
)

// Whoever acts after its lease breaks one property or another, as chance has it; beside a lock that ends no lease nobody
// does; and there clients that wait for each other's keys do not do so until one ends. None is a finding.
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
		"the reference lock has no lease that ends a circle of waits": {endless: func(o runner.Options) bool { return o.Backend == "redis" }, shows: func(o runner.Options) []string {
			if o.Backend == "redis" || o.Scenario.Workload != history.TwoKeys {
				return nil
			}
			return []string{"no-deadlock"}
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
