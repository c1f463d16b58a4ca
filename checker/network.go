package checker

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// network is what the open faults leave of a run's nodes.
type network struct {
	servers []string
	tiers   [][]string
	stopped map[string]int    // how many open faults keep a node from serving or waiting
	cut     map[[2]string]int // and part a pair of nodes, each pair sorted
}

func newNetwork(servers []string) network {
	return network{servers: servers, tiers: history.Tiers(servers), stopped: map[string]int{}, cut: map[[2]string]int{}}
}

// stops says whether a fault keeps its victim from serving or waiting. Of links that are
// slow, or cut once, the client is served.
func (n *network) stops(f *trace.Fault) bool {
	return len(f.Cut) == 0 && !history.FaultOf(f.Kind).Link &&
		(f.Kind != "partition" && f.Kind != "clock" || slices.Contains(n.servers, f.Target))
}

// serves says whether a client reaches a majority of the servers, of each tier, through
// one that reaches them too. A cut of one direction stops a connection as well.
func (n *network) serves(client string) bool {
	if len(n.servers) == 0 {
		return true // not known
	}
	var reached []string
	for _, s := range n.servers {
		if n.stopped[s] == 0 && n.cut[pair(client, s)] == 0 {
			reached = append(reached, s)
		}
	}
	return slices.ContainsFunc(reached, func(s string) bool {
		return n.majority(func(t string) bool { return slices.Contains(reached, t) && n.cut[pair(s, t)] == 0 })
	})
}

// majority says whether more than half of the servers of each tier are among some.
func (n *network) majority(among func(server string) bool) bool {
	for _, tier := range n.tiers {
		together := 0
		for _, s := range tier {
			if among(s) {
				together++
			}
		}
		if 2*together <= len(tier) {
			return false
		}
	}
	return true
}

func pair(a, b string) [2]string { return [2]string{min(a, b), max(a, b)} }

// change enters a fault, or takes it out again. A client whose clock is wrong, or
// that is cut off from who knows whom, can wait all the same; no such server counts.
func (n *network) change(f *trace.Fault, step int) {
	switch {
	case len(f.Cut) > 0:
		for _, peer := range f.Cut {
			n.cut[pair(f.Target, peer)] += step
		}
	case n.stops(f):
		n.stopped[f.Target] += step
	}
}
