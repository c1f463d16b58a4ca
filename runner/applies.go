package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/near"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/scenarios"
	"github.com/dlmtest/dlmtest/workloads"
)

// Applies says whether a run makes sense, before anything is started: the reason
// why it does not, in one line, or "". Run refuses the same with ErrUsage. An error
// says that this could not be found out.
func Applies(ctx context.Context, o Options) (reason string, err error) {
	entry, err := o.lock()
	if err == nil {
		_, err = newPlan(ctx, o, entry)
	}
	var m misfit
	if errors.As(err, &m) {
		return string(m), nil
	}
	return "", err
}

// Told is what the user must know of the run's compose file before anything is started:
// what of it reaches the host, and what of it changes nothing. None for a run that makes
// no sense.
func Told(ctx context.Context, o Options) ([]string, error) {
	entry, err := o.lock()
	if err != nil || o.elsewhere() {
		return nil, nil // Applies says why
	}
	_, told, err := o.loadProfile(ctx, entry.Profile)
	return told, err
}

// lock is the one under test. A library on a backend that it does not run on is a misfit.
func (o Options) lock() (locks.Lock, error) {
	if len(o.Adapter) > 0 {
		return libraries.Adapter(o.Backend, o.Adapter)
	}
	entry, err := libraries.Find(o.Backend, o.Library)
	switch {
	case errors.Is(err, libraries.ErrElsewhere):
		return entry, misfit(err.Error())
	case err != nil:
		return entry, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return entry, nil
}

// misfit is the reason why a scenario, its options and a backend make no sense
// together. It is an ErrUsage.
type misfit string

func (m misfit) Error() string        { return string(m) }
func (m misfit) Is(target error) bool { return target == ErrUsage }

func misfitf(format string, args ...any) error { return misfit(fmt.Sprintf(format, args...)) }

// fits checks what can be told from the options and the lock alone.
func (o Options) fits(entry locks.Lock) error {
	if err := knownBackends(o.Scenario); err != nil {
		return err
	}
	s := &o.Scenario
	switch {
	case !s.Concerns(o.Backend):
		return misfitf("%s is about %s alone", s.Name, strings.Join(s.Backends, ", "))
	case o.Wait != 0 && o.Backend != "redis-replicated":
		return misfitf("--wait is for the backend redis-replicated, not for %s", o.Backend)
	case o.SelfFence == workloads.FenceDeadline && entry.Promise.Validity != history.Told && entry.Promise.Validity != history.Unproven:
		return misfitf("--self-fence check-deadline: %s tells its user no deadline", o.Label())
	case o.Etcd != "" && entry.Profile != "etcd" && entry.Profile != "lockservice":
		return misfitf("--etcd is for backends on etcd, not for %s", o.Backend)
	case o.Idle != "off" && entry.Profile != "postgres":
		return misfitf("--idle-timeout is a setting of PostgreSQL; the backend %s has none", o.Backend)
	}
	if kind, _ := workloads.Kind(workloads.Mode(s.Workload)); !locks.Offers(entry.Promise, kind) {
		return misfitf("%s needs a lock of the kind %s, and %s offers none", s.Name, kind, history.LockName(o.Backend, o.Library))
	}
	if err := o.reaches(entry); err != nil || entry.CheckLease == nil {
		return err
	}
	if err := entry.CheckLease(s.Lease.Of(0)); err != nil {
		return misfit(err.Error())
	}
	return nil
}

// knownBackends refuses a scenario that is about a lock that does not exist.
func knownBackends(s scenarios.Scenario) error {
	for i, pattern := range s.Backends {
		known := slices.ContainsFunc(locks.Names(), func(name string) bool {
			match, _ := path.Match(pattern, name) // the loader has refused a bad one
			return match
		})
		if !known {
			return fmt.Errorf("%w: scenario %s: backends[%d]: no backend is %q%s", ErrUsage, s.Name, i, pattern, near.Hint(pattern, locks.Names()))
		}
	}
	return nil
}

// serves checks what the cluster must be able to do for this run.
func (p *plan) serves() error {
	for _, n := range p.servers {
		if n.MaxLease > 0 && (p.lease < n.MinLease || p.lease > n.MaxLease) {
			return misfitf("%s is configured for leases from %v to %v, not for %v", n.Name, n.MinLease, n.MaxLease, p.lease)
		}
		if p.Scenario.Disk == "lossy" && n.Data == "" {
			return misfitf("%s has no label dlmtest.data in the compose file, the folder of its data", n.Name)
		}
	}
	for _, f := range p.Scenario.Faults {
		if err := p.named(f); err != nil {
			return err
		}
		if f.Optional {
			continue // skipped, where it cannot be
		}
		if why := cmp.Or(p.cannot(f), p.passes(f)); why != "" {
			return misfit(why)
		}
	}
	return nil
}

// named refuses a fault on a node that this run does not have.
func (p *plan) named(f scenarios.Fault) error {
	nodes := nodeNames(slices.Concat([]clusters.NodeSpec{p.other}, p.servers, p.clients))
	for _, target := range []string{f.Target, f.From, f.To} {
		if _, role := scenarios.Targets[target]; target != "" && !role && !slices.Contains(nodes, target) {
			return misfitf("fault %s: no node is named %q%s", f.Fault, target, near.Hint(target, nodes))
		}
	}
	return nil
}

// fewest is how many servers a role or a shape needs for there to be anybody to hit.
var fewest = map[string]int{"minority": 3, "a-follower": 2, "halves": 2, "ring": 3, "bridge": 3}

// cannot says why the nodes of this run cannot suffer a fault, or "". What depends
// on the moment, such as who leads, is not known yet. A written fault is then
// refused before the run, a drawn one is skipped.
func (p *plan) cannot(f scenarios.Fault) string {
	if why := p.outOfReach(f); why != "" {
		return why
	}
	for _, target := range []string{f.Target, f.From, f.To} {
		switch {
		case len(p.servers) < fewest[target]:
			return fmt.Sprintf("the target %q needs at least %d servers, and %s has %d", target, fewest[target], p.Backend, len(p.servers))
		case (target == "leader" || target == "a-follower") && !p.led():
			return fmt.Sprintf("the target %q: no server of %s leads", target, p.Backend)
		}
	}
	onServers := !p.isClient(f.Target)
	switch {
	case f.Fault == "partition" && f.From == "servers" && len(p.servers) == 1 && onServers && f.Target != "resource":
		return "one server cannot be cut off from the other servers"
	case f.Clock.Drift != 0 && !f.Clock.Anyway && p.ruined(onServers) != "":
		return fmt.Sprintf("%s does not survive a drift of its clocks: its waits end at absolute times, which the kernel keeps by the true clock. "+
			"Slew REALTIME instead, let %s alone, or say clock: {drift: %v, anyway: true}", p.ruined(onServers), f.Target, f.Clock.Drift)
	case f.Target == quorumMember && len(p.servers[0].Holds) == 0:
		return fmt.Sprintf("no server of %s can be asked which client it keeps the lock for (label dlmtest.holds)", p.Backend)
	case f.Fault == "disk-stall" && !clusters.Writes(p.entry.Profile, p.Fsync):
		return fmt.Sprintf("a server of %s writes nothing to its disk, so none can stall it; try --fsync always", p.Backend)
	}
	return cmp.Or(p.linked(f), p.diskless(f))
}

// ruined names the program that a drift of the servers or of the clients would ruin; "":
// none that can be told now. The agent looks at the executables again.
func (p *plan) ruined(servers bool) string {
	programs := slices.Clone(p.Adapter)
	if l, ok := libraries.Table[p.Library]; ok && len(l.Tells) > 0 {
		programs = append(programs, l.Image, l.Tells[0])
	}
	if servers {
		programs = clusters.Programs(p.entry.Profile)
	}
	for _, word := range programs {
		if name := agent.Ruined(word); name != "" {
			return name
		}
	}
	return ""
}

// quorumMember is the role that needs servers which tell whose lock they keep.
const quorumMember = "a-quorum-member-of-the-holder"

// diskless says which server has no data folder that a crash could hit, or "".
func (p *plan) diskless(f scenarios.Fault) string {
	for _, n := range p.servers {
		if nemesis.OnDisk(f.Fault) && n.Data == "" {
			return fmt.Sprintf("%s has no label dlmtest.data in the compose file, the folder that a %s hits", n.Name, f.Fault)
		}
	}
	return ""
}

// led says whether one of the servers leads and can be asked.
func (p *plan) led() bool {
	return slices.ContainsFunc(p.servers, func(n clusters.NodeSpec) bool { return len(n.Leads) > 0 })
}

func (p *plan) isClient(target string) bool {
	return slices.Contains([]string{"holder", "a-client", "a-waiter", "clients"}, target) || slices.Contains(nodeNames(p.clients), target)
}

// passes says that no client of this lock ever passes the trigger of a fault, or "".
func (p *plan) passes(f scenarios.Fault) string {
	renews := (p.Scenario.Renew || p.setup.Kind == history.Watchdog) && p.entry.Promise.Extends && p.entry.Promise.Leased
	switch {
	case f.On == "between" && !p.entry.Between:
		return fmt.Sprintf("a client of %s takes its lock by one request: there is nothing between", p.Label())
	case f.On == "renewing" && !renews:
		return fmt.Sprintf("no client of %s renews its lock in this scenario", p.Label())
	case f.On == "renewing" && f.Fault == "stall-worker" && p.entry.Renews:
		return fmt.Sprintf("a session of %s renews itself, whether its client is stalled or not", p.Label())
	}
	return ""
}
