// Package shrink makes a scenario smaller while a violation stays: delta debugging
// over what the scenario consists of, with runs on a real cluster as the oracle.
package shrink

import (
	"github.com/dlmtest/dlmtest/internal/delta"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Oracle says whether a scenario still violates. What makes no sense does not. An
// error ends the search, as when a budget is spent.
type Oracle func(scenarios.Scenario) (bool, error)

// Smallest takes away of a scenario what can go while the violation stays: faults,
// how often they come, clients, keys, then time. It begins anew until nothing more
// goes, as what one pass takes away may free another thing. s must violate. After an
// error the smallest so far comes back beside it.
func Smallest(s scenarios.Scenario, violates Oracle) (scenarios.Scenario, error) {
	for {
		before := string(s.YAML())
		for _, pass := range passes {
			smaller, err := pass(s, violates)
			s = smaller
			if err != nil {
				return s, err
			}
		}
		if string(s.YAML()) == before {
			return s, nil
		}
	}
}

// passes are what is taken away, what a reader must understand first.
var passes = []func(scenarios.Scenario, Oracle) (scenarios.Scenario, error){
	fewerFaults, fewerTimes, fewerClients, fewerKeys, sooner, shorter, shorterAfter, plainer,
}

func fewerFaults(s scenarios.Scenario, violates Oracle) (scenarios.Scenario, error) {
	var all []int
	for i := range s.Faults {
		all = append(all, i)
	}
	kept, err := delta.Reduce(all, nil, func(part []int) (bool, error) { return violates(withFaults(s, part)) })
	return withFaults(s, kept), err
}

func fewerTimes(s scenarios.Scenario, violates Oracle) (scenarios.Scenario, error) {
	for i, f := range s.Faults {
		low := 1
		if repeated(f) {
			low = 2 // once is no "every"
		}
		n, err := delta.Least(low, max(f.Count, low), func(n int) (bool, error) { return violates(withCount(s, i, n)) })
		if n < f.Count {
			s = withCount(s, i, n)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

func fewerClients(s scenarios.Scenario, violates Oracle) (scenarios.Scenario, error) {
	return number(s, 1, s.Clients, violates, func(s *scenarios.Scenario, n int) { s.Clients = n })
}

func fewerKeys(s scenarios.Scenario, violates Oracle) (scenarios.Scenario, error) {
	return number(s, 1, s.Keys, violates, func(s *scenarios.Scenario, n int) { s.Keys = n })
}

func shorter(s scenarios.Scenario, violates Oracle) (scenarios.Scenario, error) {
	return number(s, 1, halves(s.Duration, s.Lease.Of(0)), violates, func(s *scenarios.Scenario, n int) { s.Duration = leases(n) })
}

func shorterAfter(s scenarios.Scenario, violates Oracle) (scenarios.Scenario, error) {
	return number(s, 0, halves(s.After, s.Lease.Of(0)), violates, func(s *scenarios.Scenario, n int) { s.After = leases(n) })
}

// number makes one number of a scenario as small as can be; high is what it is.
func number(s scenarios.Scenario, low, high int, violates Oracle, set func(*scenarios.Scenario, int)) (scenarios.Scenario, error) {
	with := func(n int) scenarios.Scenario {
		c := s
		set(&c, n)
		return tidy(c)
	}
	n, err := delta.Least(low, high, func(n int) (bool, error) { return violates(with(n)) })
	if n < high {
		s = with(n)
	}
	return s, err
}

func sooner(s scenarios.Scenario, violates Oracle) (scenarios.Scenario, error) {
	return once(s, violates, earlier)
}

func plainer(s scenarios.Scenario, violates Oracle) (scenarios.Scenario, error) {
	return once(s, violates, plain)
}

// once tries one change of a scenario.
func once(s scenarios.Scenario, violates Oracle, change func(scenarios.Scenario) (scenarios.Scenario, bool)) (scenarios.Scenario, error) {
	c, changed := change(s)
	if !changed {
		return s, nil
	}
	yes, err := violates(c)
	if err != nil || !yes {
		return s, err
	}
	return c, nil
}
