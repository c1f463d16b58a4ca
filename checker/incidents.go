package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// incident is one fault on all its victims.
type incident struct {
	kind     string
	victims  []string
	from, to int64
	begin    int // its first Begin note
}

// incidents are the faults that began.
func (r *run) incidents() []*incident {
	var all []*incident
	byID := map[int]*incident{}
	for _, f := range r.faults {
		if f.begin < 0 {
			continue
		}
		in := byID[f.id]
		if in == nil {
			in = &incident{kind: f.kind, from: f.from, to: f.to, begin: f.begin}
			byID[f.id] = in
			all = append(all, in)
		}
		in.victims = append(in.victims, f.target)
		in.from, in.to, in.begin = min(in.from, f.from), max(in.to, f.to), min(in.begin, f.begin)
	}
	return all
}

// on names the victims for a message.
func (in *incident) on() string {
	if len(in.victims) == 1 {
		return in.victims[0]
	}
	return fmt.Sprintf("%s and %s", in.victims[0], nouns.Count(len(in.victims)-1, "other"))
}

// minority says whether a client reached a majority of the servers at some time
// of the fault, so that the service still owed it grants.
func (r *run) minority(in *incident) bool {
	whole := span{from: in.from, to: max(min(in.to, r.end), in.from+1)}
	r.readOutages()
	served := func(node string) bool { return len(without(whole, r.unserved[node])) > 0 }
	return r.unparted && served("") || slices.ContainsFunc(r.parted, served)
}

// outages are the times, in order, in which nothing is owed to a client: it is
// stopped itself, or it reaches no majority of the servers.
func (r *run) outages(node string) []span {
	r.readOutages()
	spans, made := r.outage[node]
	if parted, waits := r.witness[node]; !made && waits {
		from := "" // those that no partition names are served alike
		if parted {
			from = node
		}
		spans = union(slices.Concat(r.unserved[from], r.off[node]))
		r.outage[node] = spans
	}
	return spans
}

// readOutages walks through the begins and ends of all faults, once.
func (r *run) readOutages() {
	if r.outage != nil {
		return
	}
	r.outage, r.unserved, r.off, r.witness = map[string][]span{}, map[string][]span{}, map[string][]span{}, map[string]bool{}
	r.findParted()
	var changes []change
	for _, f := range r.faults {
		if f.begin >= 0 {
			changes = append(changes, change{f.from, f, 1}, change{f.to, f, -1})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	n := newNetwork(r.setup.Servers)
	for i, c := range changes {
		n.change(c.fault, c.step)
		if i+1 < len(changes) && changes[i+1].at == c.at {
			continue
		}
		next := int64(forever)
		if i+1 < len(changes) {
			next = changes[i+1].at
		}
		for _, node := range append([]string{""}, r.parted...) {
			if !n.serves(node) {
				r.unserved[node] = extend(r.unserved[node], c.at, next)
			}
		}
	}
	r.findOff()
}

// change is the begin or the end of a fault.
type change struct {
	at    int64
	fault *fault
	step  int
}

// findParted tells those who wait and whom a partition names from all others, which are
// served alike.
func (r *run) findParted() {
	named := map[string]bool{}
	for _, f := range r.faults {
		for _, peer := range f.cut {
			named[peer], named[f.target] = true, true
		}
	}
	for _, node := range r.waiters() {
		r.witness[node] = named[node]
		if named[node] {
			r.parted = append(r.parted, node)
		} else {
			r.unparted = true
		}
	}
}

// findOff finds when each node was stopped itself.
func (r *run) findOff() {
	n := newNetwork(r.setup.Servers)
	for _, f := range r.faults {
		if _, waits := r.witness[f.target]; waits && f.begin >= 0 && f.from < f.to && n.stops(f) {
			r.off[f.target] = append(r.off[f.target], span{from: f.from, to: f.to})
		}
	}
}

// waiters are the clients, and whoever else waited for a key.
func (r *run) waiters() []string {
	names := slices.Clone(r.setup.Clients)
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for _, k := range r.keys {
		for _, w := range k.waits {
			if node := r.ops[w.invoke].Node; !known[node] {
				known[node] = true
				names = append(names, node)
			}
		}
	}
	return names
}

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

// change enters a fault, or takes it out again. A client whose clock is wrong, or
// that is cut off from who knows whom, can wait all the same; no such server counts.
func (n *network) change(f *fault, step int) {
	switch {
	case len(f.cut) > 0:
		for _, peer := range f.cut {
			n.cut[pair(f.target, peer)] += step
		}
	case n.stops(f):
		n.stopped[f.target] += step
	}
}

// stops says whether a fault keeps its victim from serving or waiting. Of links that are
// slow, or cut once, the client is served.
func (n *network) stops(f *fault) bool {
	return len(f.cut) == 0 && !onLinks[f.kind] && (f.kind != "partition" && f.kind != "clock" || slices.Contains(n.servers, f.target))
}

// onLinks are the faults of a client's links. Its program runs on in them.
var onLinks = map[string]bool{"latency": true, "bandwidth": true, "reset": true, "blackhole": true,
	"hold-request": true, "hold-answer": true, "cut-link": true}

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

// extend appends a span, joined to the last one if they touch.
func extend(spans []span, from, to int64) []span {
	if n := len(spans) - 1; n >= 0 && spans[n].to == from {
		spans[n].to = to
		return spans
	}
	return append(spans, span{from: from, to: to})
}

// without is what spans, which are in order, leave of s.
func without(s span, spans []span) []span {
	var left []span
	i, _ := slices.BinarySearchFunc(spans, s.from, func(x span, t int64) int {
		if x.to <= t {
			return -1
		}
		return 1
	})
	for ; i < len(spans) && spans[i].from < s.to; i++ {
		if spans[i].from > s.from {
			left = append(left, span{from: s.from, to: spans[i].from})
		}
		s.from = spans[i].to
	}
	if s.from < s.to {
		left = append(left, s)
	}
	return left
}
