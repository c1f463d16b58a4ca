package runner

import (
	"context"
	"fmt"
	"strings"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// Refused says that a fault of the scenario cannot work where the nodes run. It is
// said before any client starts: what would silently be left out cannot be judged.
type Refused struct {
	What    string // the fault, as the scenario names it
	Runtime string // docker or local
	Need    string // what it takes, as dlmtest doctor names it
	Reason  string // how the trial failed
}

// Error says what cannot work, why, and what to do.
func (r *Refused) Error() string {
	other := ""
	if r.Runtime == "local" {
		other = "; or use --runtime docker"
	}
	return fmt.Sprintf("%s cannot work here with the runtime %s, which takes %s: %s. What to do: %s%s. Nothing was run; dlmtest doctor says what works",
		r.What, r.Runtime, r.Need, r.Reason, clusters.Fix(r.Need), other)
}

// disks says whether the servers' data lies on the lossy file system.
func (p *plan) disks() bool { return p.Scenario.Disk == "lossy" || nemesis.Disks(p.faults) }

// needs lists what this run takes of the machine that may be missing, and for what.
func (p *plan) needs() map[string]string {
	all := map[string]string{}
	if p.Scenario.Disk == "lossy" {
		all[agent.NeedFuse] = "disk: lossy"
	}
	for _, f := range p.faults {
		if need := nemesis.Need(f.Kind); need != "" && f.Refused == "" {
			all[need] = "the fault " + f.Kind
		}
	}
	return all
}

// lacks finds out from the trials that the runtime local makes in any case, before
// there is a cluster.
func (p *plan) lacks(l *clusters.Local) error {
	for need, what := range p.needs() {
		if reason := l.Lacks(need); reason != "" {
			return &Refused{what, "local", need, reason}
		}
	}
	return nil
}

// deviceMissing turns the daemon's word on a device that its machine lacks into a
// refusal: no container is there yet in which it could be tried.
func (p *plan) deviceMissing(err error) error {
	if what, ok := p.needs()[agent.NeedFuse]; ok && strings.Contains(err.Error(), agent.NeedFuse) {
		return &Refused{what, "docker", agent.NeedFuse, err.Error()}
	}
	return err
}

// tryAll has every node try what the faults need there, before anything is started in
// it: the agents do what they would do for the fault, in the node's own namespaces.
func (s *stage) tryAll(ctx context.Context) error {
	needs := s.needs()
	nodes := s.nodes()
	errs := make(chan error, len(nodes))
	for _, n := range nodes {
		go func() {
			for need, what := range needs {
				c := agent.Command{Do: agent.Try, Need: need, Child: s.trialOf(n)}
				if _, err := n.ask(ctx, c); err != nil {
					errs <- &Refused{what, s.where, need, err.Error()}
					return
				}
			}
			errs <- nil
		}()
	}
	var first error
	for range nodes {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // interrupted: that is no word on a fault
	}
	return first
}

// trialOf is the program of a clock's trial, as the user of the node's own, with the
// folder that a disk fault needs.
func (s *stage) trialOf(n *node) *agent.Child {
	c := &agent.Child{Argv: []string{binary, "trial"}, User: n.Spec.User}
	c.Data, c.Seed = s.diskOf(n.Spec)
	return c
}

// diskOf is the folder of a node that lies on the lossy file system; empty: none does.
func (p *plan) diskOf(n clusters.NodeSpec) (folder string, seed uint64) {
	if !p.disks() || n.Role == "resource" || n.Role == "client" {
		return "", 0
	}
	return n.Data, p.Seed
}

// settle makes durable what the servers have written so far. It stands for the time
// before the test: a kernel writes everything back within half a minute or so, and
// ZooKeeper, which never syncs its first snapshot, would not start again without it.
func (s *stage) settle(ctx context.Context) error {
	if !s.disks() {
		return nil
	}
	errs := make(chan error, len(s.servers))
	for _, n := range s.servers {
		go func() { errs <- n.Command(ctx, agent.Command{Do: agent.Sync}) }()
	}
	var first error
	for range s.servers {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}
