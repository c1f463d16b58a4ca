package nemesis

import (
	"context"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// OnLinks are the faults of a client's links to its servers.
var OnLinks = history.FaultsThat(func(k history.FaultKind) bool { return k.Link })

// OnMessages are those of them that can strike at one message.
var OnMessages = history.FaultsThat(func(k history.FaultKind) bool { return k.Message })

// Ones are the clients that a fault of links can be aimed at, beside those by name. No message is waited for on the links of
// a waiter, as it is known at the trigger only who that is.
var Ones = []string{"holder", "a-waiter", "a-client", "clients"}

// FarEnds are the nodes to which faulty links lead, beside nodes by name.
var FarEnds = Words{
	"servers":    Targets["servers"],
	"a-server":   Targets["a-server"],
	"minority":   Targets["minority"],
	"majority":   Targets["majority"],
	"leader":     Targets["leader"],
	"a-follower": Targets["a-follower"],
	"resource":   Targets["resource"],
}

// Links says whether the clients need links of their own for these faults. Without
// one they have none: a proxy in the path lies.
func Links(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool { return f.onLinks() })
}

func (f Fault) onLinks() bool { return slices.Contains(OnLinks, f.Kind) }

// waits says that the fault begins with a message on a link.
func (f Fault) waits() bool { return f.Params.Link != nil && !f.Params.Link.When.Now() }

// aim resolves the far ends of a fault of links, before it is armed: at its trigger
// there is no time to ask who leads.
func (s Stage) aim(ctx context.Context, f Fault) (Fault, error) {
	if !f.onLinks() {
		return f, nil
	}
	if !slices.Contains(Ones, f.Target) && !slices.Contains(names(s.Clients), f.Target) {
		return f, fmt.Errorf("%s: %q is no client, and only clients have links that can be faulted", f.Kind, f.Target)
	}
	role := f.To
	if role == "" {
		role = "servers"
	}
	far, err := s.farEnds(ctx, role)
	if err != nil {
		return f, err
	}
	link := agent.LinkFault{}
	if f.Params.Link != nil {
		link = *f.Params.Link
	}
	link.To = far
	f.Params.Link = &link
	if history.FaultOf(f.Kind).Silent {
		f.Params.Cut = link.To // the client is not served there; slow links serve, and a cut one is made again
	}
	return f, nil
}

// farEnds names the nodes of a role to which clients have links.
func (s Stage) farEnds(ctx context.Context, role string) ([]string, error) {
	if role == "servers" && s.Linked != nil {
		return s.Linked, nil
	}
	if s.Linked != nil {
		s.Servers = slices.DeleteFunc(slices.Clone(s.Servers), func(v Victim) bool { return !slices.Contains(s.Linked, v.Name()) })
	}
	far, err := s.targets(ctx, role, nil)
	return names(far), err
}

// trigger is what an arming waits for, in words.
func trigger(arm agent.Arm) string {
	if arm.Checkpoint != "" {
		return fmt.Sprintf("the checkpoint %q", arm.Checkpoint)
	}
	return "the message of the " + arm.Kind
}

// own says that an event may be the doing of the one victim itself. A message on a
// link has no grant by which to tell, only its node: what the resource tells, which
// names the grant alone, is then left out, and its writer tells the same.
func (f Fault) own(e Event, hit *agent.Hit, strikes []strike) bool {
	if !f.onLinks() || hit.Owner != "" || len(strikes) != 1 {
		return false
	}
	return e.Node == strikes[0].victim.Name() || e.Op.F == history.Apply
}
