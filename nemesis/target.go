package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/nemesis/agent/cut"
)

// all lists every node: clients, servers, the resource.
func (s Stage) all() []Victim {
	nodes := slices.Concat(s.Clients, s.Servers)
	if s.Resource != nil {
		nodes = append(nodes, s.Resource)
	}
	return nodes
}

// known refuses a target that is neither a role, nor a shape, nor a node.
func (s Stage) known(target string) error {
	if Targets[target] != "" || Shapes[target] != "" || slices.Contains(names(s.all()), target) {
		return nil
	}
	return fmt.Errorf("no node is named %q", target)
}

// candidates are the clients whose own agents can inject a fault at its checkpoint: all
// for the holder or for who is about to wait, one by its name; nil for servers and groups.
func (s Stage) candidates(f Fault) []Victim {
	if f.Target == "holder" || f.Target == "a-waiter" && f.On == "waiting" {
		return s.Clients
	}
	for _, c := range s.Clients {
		if c.Name() == f.Target {
			return []Victim{c}
		}
	}
	return nil
}

// targets resolves a role or a name. holder is the client that passed the
// trigger; nil when there was none.
func (s Stage) targets(ctx context.Context, role string, holder Victim) ([]Victim, error) {
	switch role {
	case "holder":
		if holder == nil {
			return nil, errors.New(`the target "holder" needs a trigger, such as on: before-write`)
		}
		return []Victim{holder}, nil
	case "a-waiter":
		if s.at != nil && s.at.Checkpoint == "waiting" {
			return []Victim{holder}, nil
		}
		return s.waiter(ctx, s.at)
	case quorumMember:
		return s.member(ctx, s.at)
	case "a-client":
		return s.some(s.Clients, 1)
	case "clients":
		return s.Clients, nil
	case "a-server":
		return s.some(s.Servers, 1)
	case "minority":
		return s.share(func(servers int) int { return (servers - 1) / 2 })
	case "majority":
		return s.share(func(servers int) int { return servers/2 + 1 })
	case "servers":
		return s.Servers, nil
	case "reached":
		return s.some(slices.DeleteFunc(slices.Clone(s.Servers), func(v Victim) bool { return s.Severed.has(v.Name()) }), 1)
	case "leader", "a-follower":
		return s.led(ctx, role)
	case "resource":
		return []Victim{s.Resource}, nil
	case "all":
		return s.all(), nil
	}
	for _, v := range s.all() {
		if v.Name() == role {
			return []Victim{v}, nil
		}
	}
	return nil, fmt.Errorf("no node is named %q", role)
}

// some picks n of the nodes.
func (s Stage) some(nodes []Victim, n int) ([]Victim, error) {
	if n < 1 || n > len(nodes) {
		return nil, fmt.Errorf("%d nodes are too few for this target", len(nodes))
	}
	picked := slices.Clone(nodes)
	s.Random.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
	return picked[:n], nil
}

// share picks so many servers of each tier.
func (s Stage) share(of func(servers int) int) (picked []Victim, err error) {
	for _, tier := range history.Tiers(names(s.Servers)) {
		n := of(len(tier))
		if n == 0 {
			continue // the other tier may have some
		}
		some, err := s.some(slices.DeleteFunc(slices.Clone(s.Servers), func(v Victim) bool { return !slices.Contains(tier, v.Name()) }), n)
		if err != nil {
			return nil, err
		}
		picked = append(picked, some...)
	}
	if len(picked) == 0 {
		return nil, fmt.Errorf("%d nodes are too few for this target", len(s.Servers))
	}
	return picked, nil
}

func (s Stage) led(ctx context.Context, role string) ([]Victim, error) {
	leader, err := s.Leader(ctx)
	if err != nil {
		return nil, err
	}
	if role == "leader" {
		return []Victim{leader}, nil
	}
	return s.some(slices.DeleteFunc(slices.Clone(s.Servers), func(v Victim) bool { return v.Name() == leader.Name() }), 1)
}

// strike is a fault on one victim.
type strike struct {
	victim Victim
	arm    agent.Arm
}

// strikes resolves a fault to what each victim suffers.
func (s Stage) strikes(ctx context.Context, f Fault, id int, holder Victim) ([]strike, error) {
	arm := agent.Arm{Fault: id, Kind: f.Kind, Min: f.Min, Max: f.Max, Limit: s.Limit, Lie: s.Lie, Optional: f.Random, Params: f.Params}
	if f.Kind == "partition" {
		return s.partition(ctx, f, arm, holder)
	}
	victims, err := s.targets(ctx, f.Target, holder)
	if err != nil {
		return nil, err
	}
	s.Severed.add(names(victims))
	var all []strike
	for _, v := range victims {
		if v == s.Resource && f.Kind == "kill" && f.Target == "all" {
			continue // what was written to it is the evidence
		}
		all = append(all, strike{v, arm})
	}
	return all, nil
}

// partition works out which node drops whose packets.
func (s Stage) partition(ctx context.Context, f Fault, arm agent.Arm, holder Victim) ([]strike, error) {
	grudges, err := s.grudges(ctx, f, holder)
	if err != nil {
		return nil, err
	}
	drops, err := cut.Drops(grudges)
	if err != nil {
		return nil, err
	}
	var all []strike
	for _, v := range s.all() {
		peers := drops[v.Name()]
		if len(peers) == 0 {
			continue
		}
		arm.Params.Peers, arm.Params.Cut = nil, peers
		for _, w := range s.all() {
			if slices.Contains(peers, w.Name()) {
				arm.Params.Peers = append(arm.Params.Peers, w.Address())
			}
		}
		all = append(all, strike{v, arm})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("so few nodes cannot be parted as %q", f.Target)
	}
	return all, nil
}

func (s Stage) grudges(ctx context.Context, f Fault, holder Victim) ([]cut.Grudge, error) {
	servers := names(s.Servers)
	switch f.Target {
	case "halves":
		return cut.Halves(servers, s.Random), nil
	case "ring":
		return cut.MajoritiesRing(servers, s.Random), nil
	case "bridge":
		return cut.Bridge(servers, s.Random), nil
	}
	targets, err := s.targets(ctx, f.Target, holder)
	if err != nil {
		return nil, err
	}
	others := s.all()
	if f.From != "" {
		if others, err = s.targets(ctx, f.From, holder); err != nil {
			return nil, err
		}
	}
	cutOff := names(targets)
	s.Severed.add(cutOff)
	rest := slices.DeleteFunc(names(others), func(n string) bool { return slices.Contains(cutOff, n) })
	return []cut.Grudge{{From: cutOff, To: rest, Direction: cut.Direction(f.Direction)}}, nil
}

// victims names those that are struck.
func victims(strikes []strike) []string {
	var all []string
	for _, x := range strikes {
		all = append(all, x.victim.Name())
	}
	return all
}

func names(nodes []Victim) []string {
	var all []string
	for _, v := range nodes {
		all = append(all, v.Name())
	}
	return all
}
