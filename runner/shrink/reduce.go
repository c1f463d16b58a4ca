package shrink

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/scenarios"
)

// withFaults is the scenario with these of its faults, by their places. What comes
// after a fault that is left out goes with it.
func withFaults(s scenarios.Scenario, places []int) scenarios.Scenario {
	var kept []scenarios.Fault
	for _, i := range places {
		kept = append(kept, s.Faults[i])
	}
	for before := -1; before != len(kept); {
		before = len(kept)
		names := map[string]bool{"": true}
		for _, f := range kept {
			names[f.Name] = true
		}
		kept = slices.DeleteFunc(kept, func(f scenarios.Fault) bool { return !names[f.After.Fault] })
	}
	s.Faults = kept
	return tidy(s)
}

// withCount is the scenario with one of its faults coming n times.
func withCount(s scenarios.Scenario, fault, n int) scenarios.Scenario {
	s.Faults = slices.Clone(s.Faults)
	s.Faults[fault].Count = n
	if n == 1 {
		s.Faults[fault].Every = scenarios.Duration{}
	}
	return tidy(s)
}

// earlier is the scenario with all faults moved to the front by as much as the first
// has to wait; false: none waits. The distances between them stay.
func earlier(s scenarios.Scenario) (scenarios.Scenario, bool) {
	lease := s.Lease.Of(0)
	first := time.Duration(-1)
	for _, f := range s.Faults {
		if at := f.At.Of(lease); !repeated(f) && f.After == (scenarios.After{}) && (first < 0 || at < first) {
			first = at
		}
	}
	if first <= 0 {
		return s, false
	}
	s.Faults = slices.Clone(s.Faults)
	for i, f := range s.Faults {
		if !repeated(f) && f.After == (scenarios.After{}) {
			s.Faults[i].At = scenarios.Duration{Fixed: f.At.Of(lease) - first}
		}
	}
	return s, true
}

// repeated says that At of a fault is an interval and no moment.
func repeated(f scenarios.Fault) bool { return f.On == "every" }

// plain is the scenario with faults as a person writes them: none is optional, and
// each chooses with its own number; false: they are.
func plain(s scenarios.Scenario) (scenarios.Scenario, bool) {
	changed := false
	s.Faults = slices.Clone(s.Faults)
	for i, f := range s.Faults {
		changed = changed || f.Optional || f.Stream != 0
		s.Faults[i].Optional, s.Faults[i].Stream = false, 0
	}
	return s, changed
}

// half is the unit in which the load is shortened.
const half = 0.5

// halves is how many half leases a time is, rounded up.
func halves(d scenarios.Duration, lease time.Duration) int {
	unit := lease / 2
	return int((d.Of(lease) + unit - 1) / unit)
}

func leases(halves int) scenarios.Duration {
	return scenarios.Duration{Leases: half * float64(halves)}
}

// tidy lowers what must have been seen to what can be: one client alone contends with
// nobody, and what was removed cannot be seen.
func tidy(s scenarios.Scenario) scenarios.Scenario {
	if s.Clients == 1 {
		s.Expect.Contention = 0
	}
	faults := 0
	for _, f := range s.Faults {
		faults += max(f.Count, 1)
	}
	if len(s.Random.Mix) == 0 {
		s.Expect.Faults = min(s.Expect.Faults, faults)
		if faults == 0 {
			s.Expect.GrantsDuringFault, s.Expect.StaleWrites = 0, 0
		}
	}
	return s
}

// Size is how large a scenario is, in words: "1 fault (clock of majority), 2 clients, 1 key, 2 leases of load".
func Size(s scenarios.Scenario) string {
	faults := fmt.Sprintf("%d faults", len(s.Faults))
	switch {
	case len(s.Faults) == 1:
		faults = fmt.Sprintf("1 fault (%s)", faultName(s.Faults[0]))
	case len(s.Faults) > 1 && len(s.Faults) <= 3:
		var names []string
		for _, f := range s.Faults {
			names = append(names, faultName(f))
		}
		faults += " (" + strings.Join(names, ", ") + ")"
	case len(s.Random.Mix) > 0:
		faults += " and a random mix"
	}
	return fmt.Sprintf("%s, %s, %s, load %s + %s", faults, nouns.Count(s.Clients, "client"), nouns.Count(s.Keys, "key"), s.Duration, s.After)
}

func faultName(f scenarios.Fault) string {
	name := f.Fault + " of " + f.Target
	if f.Count > 1 {
		name += fmt.Sprintf(" × %d", f.Count)
	}
	return name
}
