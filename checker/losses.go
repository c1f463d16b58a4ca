package checker

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// Loss is a time in which a fault took servers away, as availability sees it.
type Loss struct {
	Fault    int      // its number
	Kind     string   // kill, crash, pause or partition: what else a fault does leaves servers reachable
	Lost     []string // servers that nobody could use; see Served
	From, To int64    // raw: the fault was in force on all its victims
	// Served: some client reached a majority of the servers all the same.
	Served bool
	Seen   bool // the fault was observed at every victim
}

// Minority says that less than half of the servers were lost, and the rest served.
func (l Loss) Minority(servers int) bool {
	return l.Served && len(l.Lost) > 0 && 2*len(l.Lost) < servers
}

// Losses are the faults of a history that took servers away, each judged by itself,
// in the order of their begin. It needs a history that names its servers.
func Losses(setup history.Setup, ops []history.Op) []Loss {
	r := newRun(setup, ops)
	byID := map[int]int{}
	var all []Loss
	var networks []network
	for _, f := range r.Faults {
		if f.Begin < 0 || !history.FaultOf(f.Kind).Away {
			continue
		}
		i, ok := byID[f.ID]
		if !ok {
			i = len(all)
			byID[f.ID] = i
			all = append(all, Loss{Fault: f.ID, Kind: f.Kind, From: f.From, To: f.To, Seen: true})
			networks = append(networks, newNetwork(setup.Servers))
		}
		all[i].From, all[i].To = max(all[i].From, f.From), min(all[i].To, f.To, r.End)
		all[i].Seen = all[i].Seen && f.Observed && !f.Missed
		networks[i].change(f, 1)
	}
	for i := range all {
		for _, end := range r.ended() {
			if end.From < all[i].To && end.To > all[i].From {
				networks[i].change(end, 1)
			}
		}
		all[i].Lost = networks[i].lost(setup.Clients)
		all[i].Served = slices.ContainsFunc(setup.Clients, networks[i].serves)
	}
	return slices.DeleteFunc(all, func(l Loss) bool { return len(l.Lost) == 0 || l.From >= l.To })
}

// lost are the servers that are stopped, that no client reaches, or that are in no
// majority of the servers.
func (n *network) lost(clients []string) (lost []string) {
	for _, s := range n.servers {
		together := n.majority(func(t string) bool { return n.stopped[t] == 0 && n.cut[pair(s, t)] == 0 })
		reached := slices.ContainsFunc(clients, func(c string) bool { return n.cut[pair(c, s)] == 0 })
		if n.stopped[s] > 0 || !reached || !together {
			lost = append(lost, s)
		}
	}
	return lost
}
