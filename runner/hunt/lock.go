package hunt

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// ForLock fills in what a hunt of a lock needs: its space, and the reference lock beside it.
// It is ErrUsage where there is no such lock.
func (s *Spec) ForLock(ctx context.Context) error {
	lock, err := lockOf(s.Options)
	if err != nil {
		return fmt.Errorf("%w: %w", runner.ErrUsage, err)
	}
	s.Space = Of(lock, len(s.Options.Adapter) > 0 || libraries.Process(s.Options.Library))
	s.Space.Servers = len(s.Options.Endpoints) == 0
	if own, err := libraries.Find(s.Options.Backend, ""); err == nil && own.CheckLease != nil { // it runs each trial, too
		s.Space.Leases = slices.DeleteFunc(s.Space.Leases, func(d time.Duration) bool { return own.CheckLease(d) != nil })
	}
	s.Space.Cannot = cannot(ctx, s.Options, s.Applies)
	if s.Space = s.Space.Kept(); len(s.Space.Workloads) == 0 {
		return fmt.Errorf("%w: no workload can be run on %s: %s", runner.ErrUsage, s.Options.Label(),
			s.Space.trouble(s.Space.loop("guarded-write", s.Space.Leases[0])))
	}
	s.Reference = referenceOf(s.Options, lock)
	return nil
}

func lockOf(o runner.Options) (locks.Lock, error) {
	if len(o.Adapter) > 0 {
		return libraries.Adapter(o.Backend, o.Adapter)
	}
	return libraries.Find(o.Backend, o.Library)
}

// cannot asks the runner of each fault alone, and remembers: many differ in numbers only, and
// no refusal rests on two faults together.
func cannot(ctx context.Context, o runner.Options, applies Applies) func(scenarios.Scenario) string {
	known := map[string]string{}
	var mu sync.Mutex
	ask := func(t scenarios.Scenario, key string) string {
		mu.Lock()
		defer mu.Unlock()
		if why, asked := known[key]; asked {
			return why
		}
		o.Scenario = t
		why, err := applies(ctx, o)
		if err != nil {
			why = err.Error()
		}
		known[key] = why
		return why
	}
	return func(t scenarios.Scenario) string {
		loop := fmt.Sprint(t.Workload, t.Lease, t.Renew, t.Fsync)
		faults := t.Faults
		if t.Faults = nil; len(faults) == 0 {
			return ask(t, loop)
		}
		for _, f := range faults {
			t.Faults = []scenarios.Fault{f}
			t.Faults[0].After = scenarios.After{}
			if why := ask(t, loop+shape(f)); why != "" {
				return why
			}
		}
		return ""
	}
}

// shape is a fault without the numbers that no refusal rests on.
func shape(f scenarios.Fault) string {
	return fmt.Sprint("|", f.Fault, f.Target, f.On, f.From, f.To, f.Mode, f.When.Direction, f.When.Name,
		f.Clock.Drift != 0)
}

// beside is a trial as the reference lock runs it. Its clients renew where the session of the lock under test
// does: a lock that ends after its lease lets go of a key for which the other makes everybody wait.
func (s *Spec) beside(t scenarios.Scenario) scenarios.Scenario {
	t.Renew = t.Renew || s.Space.Renews
	return t
}

// referenceOf are the options of the lock that dlmtest has for the same servers; nil: the one
// under test is it, or the servers are the user's own.
func referenceOf(o runner.Options, lock locks.Lock) *runner.Options {
	own := len(o.Adapter) > 0 || o.Library != ""
	if len(o.Endpoints) > 0 || !own && lock.Broken == nil {
		return nil
	}
	o.Library, o.Adapter, o.Files, o.Image = "", nil, "", ""
	if lock.Broken == nil {
		return &o
	}
	for _, name := range locks.Names() {
		if l := locks.Table[name]; l.Broken == nil && l.Profile == lock.Profile && (name == l.Profile || !slices.Contains(locks.Names(), l.Profile)) {
			o.Backend = name
			return &o
		}
	}
	return nil
}
