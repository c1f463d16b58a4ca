package hunt

import (
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/stats"
	"github.com/dlmtest/dlmtest/runner/gate"
	"github.com/dlmtest/dlmtest/scenarios"
)

func rate(seen, of int) stats.Rate { return stats.Rate{Seen: seen, Of: of} }

// What every leased lock shows is no finding, and what this one alone shows is.
func TestDecide(t *testing.T) {
	for name, c := range map[string]struct {
		e    Evidence
		want Decision
	}{
		"this lock alone": {Evidence{Owed: checker.Unleased, Compared: true, Found: rate(2, 3),
			Reference: rate(0, 3)}, Worse},
		"two of two are enough": {Evidence{Owed: checker.Data, Compared: true, Found: rate(2, 2),
			Reference: rate(0, 3)}, Worse},
		"a zombie, as everywhere": {Evidence{Owed: checker.Unleased, Compared: true,
			Reference: rate(1, 1)}, Shared},
		"the reference shows it once": {Evidence{Owed: checker.Data, Compared: true, Found: rate(3, 3),
			Reference: rate(1, 3)}, Shared},
		"a promise that both break": {Evidence{Owed: checker.Service, Compared: true, Found: rate(3, 3),
			Reference: rate(3, 3)}, Worse},
		"an excuse, and both break it": {Evidence{Owed: checker.Service, Compared: true, Excuse: "crash",
			Found: rate(3, 3), Reference: rate(3, 3)}, Shared},
		"an excuse, and only this breaks it": {Evidence{Owed: checker.Service, Compared: true, Excuse: "crash",
			Found: rate(3, 3), Reference: rate(0, 3)}, Worse},
		"it came once of three": {Evidence{Owed: checker.Service, Compared: true, Found: rate(1, 3),
			Reference: rate(0, 3)}, Passing},
		"not asked often enough": {Evidence{Owed: checker.Service, Compared: true, Found: rate(1, 2),
			Reference: rate(0, 3)}, Open},
		"the reference not yet": {Evidence{Owed: checker.Unleased, Compared: true, Found: rate(2, 2),
			Reference: rate(0, 1)}, Open},
		"nothing to compare, owed": {Evidence{Owed: checker.Service, Found: rate(2, 2)}, Worse},
		"nothing to compare, an excuse": {Evidence{Owed: checker.Service, Excuse: "clock", Found: rate(3, 3)},
			Excused},
		"nothing to compare, not owed": {Evidence{Owed: checker.Data, Found: rate(3, 3)}, Excused},
		"a long outage, as everywhere": {Evidence{Owed: checker.Nobody, Compared: true, Found: rate(2, 2),
			Reference: rate(1, 1)}, Shared},
		"nothing was run yet": {Evidence{Owed: checker.Service, Compared: true}, Open},
	} {
		got, why := Decide(c.e)
		if got != c.want || (why == "") != (got == Open) {
			t.Errorf("%s: %s (%q), want %s", name, got, why, c.want)
		}
	}
}

func TestExcuse(t *testing.T) {
	for want, f := range map[string]scenarios.Fault{
		"crash of a-server": {Fault: "crash", Target: "a-server"}, "clock of holder": {Fault: "clock",
			Target: "holder", Clock: scenarios.Clock{Drift: 0.1}},
		"clock of servers": {Fault: "clock", Target: "servers"},
		"kill of all":      {Fault: "kill", Target: "all"},
	} {
		if got := excuse(scenarios.Scenario{Faults: []scenarios.Fault{{Fault: "pause", Target: "servers"}, f}},
			nil); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, f := range []scenarios.Fault{{Fault: "kill", Target: "holder"}, {Fault: "clock", Target: "clients"}, {Fault: "kill", Target: "client-2"},
		{Fault: "pause", Target: "servers"}, {Fault: "partition", Target: "majority"}} {
		if got := excuse(scenarios.Scenario{Faults: []scenarios.Fault{f}},
			[]string{"client-1", "client-2"}); got != "" {
			t.Errorf("%+v is no excuse, and %q is said", f, got)
		}
	}
}

// What a gate accepts is accepted under the kinds of faults that it was seen with, of the
// same lock; no more.
func TestKnown(t *testing.T) {
	c, err := gate.Parse("gate.yaml", []byte(`
name: g
cells:
  - {scenario: gc-pause, backend: redis, expect: {mutual-exclusion: {is: known-weakness, reason: a lease, link: "https://example.org"}, lease-exclusion: holds}}
`))
	if err != nil {
		t.Fatal(err)
	}
	k, err := Known(c, "redis")
	if err != nil {
		t.Fatal(err)
	}
	trial := func(kinds ...string) (s scenarios.Scenario) {
		for _, kind := range kinds {
			s.Faults = append(s.Faults, scenarios.Fault{Fault: kind})
		}
		return s
	}
	if why := k.accepts("mutual-exclusion", trial("pause", "pause")); !strings.Contains(why, "a lease") {
		t.Errorf("a pause is accepted, and %q is said", why)
	}
	if why := k.accepts("mutual-exclusion", trial()); why == "" {
		t.Error("less than what is accepted is not")
	}
	for _, c := range []struct {
		property string
		trial    scenarios.Scenario
	}{{"mutual-exclusion", trial("pause", "reset")}, {"lease-exclusion", trial("pause")}, {"fenced-writes", trial()}} {
		if why := k.accepts(c.property, c.trial); why != "" {
			t.Errorf("%s under %v is accepted: %s", c.property, kindsOf(c.trial), why)
		}
	}
	if other, err := Known(c, "redis/redislock"); err != nil || len(other) > 0 {
		t.Errorf("another lock: %v %v", other, err)
	}
}
