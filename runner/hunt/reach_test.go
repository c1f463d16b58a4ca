package hunt

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// In so many draws each class must come at least this often.
const (
	draws   = 2000
	rarest  = 100
	reached = draws / rarest
)

// drawn are the trials of a hunt of the lock.
func (c schedule) drawn(t *testing.T) (all []scenarios.Scenario) {
	t.Helper()
	spec := Spec{Options: runner.Options{Backend: c.backend, Settings: settings.Default()}, Applies: runner.Applies}
	spec.Options.Library = c.library
	if err := spec.ForLock(t.Context()); err != nil {
		t.Fatal(c.library, err)
	}
	spec.Space.Messages, spec.Space.Usual = c.messages, c.messages
	for seed := range uint64(draws) {
		all = append(all, Draw(seed, int(seed), spec.Space))
	}
	return all
}

// TestReach computes, without a cluster, how many trials hold what each class of bugs needs.
func TestReach(t *testing.T) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	drawn := map[string][]scenarios.Scenario{}
	for _, c := range schedules {
		lock := fmt.Sprint(c.backend, c.library, len(c.messages))
		if drawn[lock] == nil {
			drawn[lock] = c.drawn(t)
		}
		n := 0
		for _, trial := range drawn[lock] {
			if c.has(trial) {
				n++
			}
		}
		fmt.Fprintf(w, "%s\t%s\t1 in %.0f\n", c.name, cmp.Or(c.library, c.backend), float64(draws)/max(float64(n), 0.5))
		if n < reached {
			t.Errorf("%s (%s): %d of %d trials, want %d", c.name, cmp.Or(c.library, c.backend), n, draws, reached)
		}
	}
	w.Flush()
	t.Logf("trials that hold the least schedule of a class:\n%s", table.String())
}
