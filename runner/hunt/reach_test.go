package hunt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/nemesis/agent/links"
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

func stopsHolder(f scenarios.Fault, length float64) bool {
	return among(f.Fault, away...) && f.Target == "holder" && among(f.On, "acquired", "before-write", "writing", "renewing", "releasing") && length > 1
}

// cutsShort has a fault hit a client, for so many leases, while a message of its acquire is held up.
func cutsShort(t scenarios.Scenario, kind string, long float64) bool {
	return contended(t) && hit(t, func(f scenarios.Fault, n float64) bool {
		return f.Fault == kind && n >= long && slices.ContainsFunc(t.Faults, func(held scenarios.Fault) bool {
			return f.After.Fault == held.Name && held.Target == f.Target && held.On == "waiting" && among(held.Fault, "hold-answer", "hold-request")
		})
	})
}

func holderDies(f scenarios.Fault, _ float64) bool {
	return f.Fault == "kill" && f.Target == "holder" && among(f.On, "acquired", "before-write", "writing", "renewing", "releasing")
}

func waiterAway(t scenarios.Scenario) bool {
	return contended(t) && t.Clients >= 3 && of(t, t.Wait) >= 2 && of(t, t.Work) > 0.4 && hit(t, func(f scenarios.Fault, n float64) bool {
		return among(f.Fault, away...) && n > 1.05 && (f.Target == "a-waiter" || f.Target == "holder" && f.On == "waiting" || among(f.Target, "a-client", "clients") && f.On != "releasing")
	})
}

var (
	zkMessages = []links.Passed{{Direction: links.Request, Name: "create"}, {Direction: links.Request, Name: "getChildren2"},
		{Direction: links.Request, Name: "delete"}, {Direction: links.Request, Name: "ping"}, {Direction: links.Answer, Name: "reply"}}
	etcdMessages = []links.Passed{{Direction: links.Request, Name: "HEADERS", Contains: "/etcdserverpb.KV/Txn"},
		{Direction: links.Request, Name: "HEADERS", Contains: "/etcdserverpb.Lease/LeaseGrant"}, {Direction: links.Request, Name: "DATA"}, {Direction: links.Answer, Name: "DATA"}}
)

// breaksLongHold has a connection of a holder break while it works on, and others wait for what it has.
func breaksLongHold(t scenarios.Scenario) bool {
	return contended(t) && of(t, t.Work) > 1.2 && of(t, t.Wait) > 2 && hit(t, func(f scenarios.Fault, n float64) bool {
		return among(f.Fault, "reset", "cut-link") && among(f.Target, "holder", "clients") && among(f.On, "acquired", "before-write", "writing") && n < 1
	})
}
