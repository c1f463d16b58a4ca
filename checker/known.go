package checker

import (
	"cmp"
	"slices"
	"sort"
)

// known is what checkers look up again and again, each part made when it is first asked
// for: whoever walks over all faults for each grant takes the square of a history's length.
type known struct {
	clients  map[string]bool
	spans    map[string][]span   // of faults, by a name for what matches
	own      map[string][]span   // of each node, the faults that may keep it from the service
	stopped  map[string][]span   // of each node, the faults that stop its programs
	kills    map[string][]*fault // of each node, those that were not missed, by their begin
	begun    map[int]*fault      // by its Begin note
	stalls   map[string][]stall  // of each client, by their begin
	servers  []stall             // of whoever takes part in everything
	hinders  []span              // faults by their end; from is the first begin of this one and all after it
	overs    []span              // see run.over
	abstains map[string][]int    // by owner, the notes of it
	asked    *meetings           // of all keys; see run.keysIn
	faulty   []span              // those of faulty that two faults or more share
}

// isClient says whether a node is one of the clients.
func (r *run) isClient(node string) bool {
	if r.known.clients == nil {
		r.known.clients = map[string]bool{}
		for _, c := range r.setup.Clients {
			r.known.clients[c] = true
		}
	}
	return r.known.clients[node]
}

// faultyAs is faulty, made once for a name.
func (r *run) faultyAs(name string, match func(*fault) bool) []span {
	spans, made := r.known.spans[name]
	if !made {
		if r.known.spans == nil {
			r.known.spans = map[string][]span{}
		}
		spans = r.faulty(match)
		r.known.spans[name] = spans
	}
	return spans
}

// anyFault are the times of all faults, with their aftermath.
func (r *run) anyFault() []span { return r.faultyAs("any", func(*fault) bool { return true }) }

// ownFaults are the times in which a fault of a node or of its links may keep it from
// the service, with their aftermath. Where the servers are not known any fault may.
func (r *run) ownFaults(node string) []span {
	hinders := func(f *fault) bool { // four round trips and more fit into a lease: that is in reach
		return f.kind != "latency" || f.slow <= 0 || f.slow > int64(r.setup.Lease)/4
	}
	if len(r.setup.Servers) == 0 {
		return r.faultyAs("not slight", hinders)
	}
	if r.known.own == nil {
		r.known.own = map[string][]span{}
		for _, f := range r.faults {
			if f.begin < 0 || !hinders(f) {
				continue
			}
			s := span{from: f.from, to: after(f.to, r.aftermath())}
			for _, node := range append([]string{f.target}, f.cut...) {
				r.known.own[node] = append(r.known.own[node], s)
			}
		}
		for node, spans := range r.known.own {
			r.known.own[node] = union(spans)
		}
	}
	return r.known.own[node]
}

// stopping are the times in which faults stop the programs of each node.
func (r *run) stopping() map[string][]span {
	all := map[string][]span{}
	for _, f := range r.faults {
		if f.begin >= 0 && stops[f.kind] {
			all[f.target] = append(all[f.target], span{from: f.from, to: f.to})
		}
	}
	for node, spans := range all {
		all[node] = union(spans)
	}
	return all
}

// killsOf are the kills of a node, by their begin.
func (r *run) killsOf(node string) []*fault {
	if r.known.kills == nil {
		r.known.kills = map[string][]*fault{}
		for _, f := range r.faults {
			if f.kind == "kill" && f.begin >= 0 && !f.missed {
				r.known.kills[f.target] = append(r.known.kills[f.target], f)
			}
		}
		for _, all := range r.known.kills {
			slices.SortStableFunc(all, func(a, b *fault) int { return cmp.Compare(a.from, b.from) })
		}
	}
	return r.known.kills[node]
}

// diedAfter is the first kill of a node that began after an operation; nil: there is none.
func (r *run) diedAfter(node string, op int) *fault {
	kills := r.killsOf(node) // by their begin, in time and in the history
	if i := sort.Search(len(kills), func(i int) bool { return kills[i].begin > op }); i < len(kills) {
		return kills[i]
	}
	return nil
}

// beganBy is the fault of a Begin note; nil: it is none.
func (r *run) beganBy(note int) *fault {
	if r.known.begun == nil {
		r.known.begun = map[int]*fault{}
		for _, f := range r.faults {
			if _, twice := r.known.begun[f.begin]; !twice {
				r.known.begun[f.begin] = f
			}
		}
	}
	return r.known.begun[note]
}

// firstHindered is the earliest begin of the faults that lasted until t or longer.
func (r *run) firstHindered(t int64) int64 {
	if r.known.hinders == nil {
		r.known.hinders = []span{}
		for _, f := range r.faults {
			if f.begin >= 0 {
				r.known.hinders = append(r.known.hinders, span{from: f.from, to: f.to})
			}
		}
		all := r.known.hinders
		slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.to, b.to) })
		for i := len(all) - 2; i >= 0; i-- {
			all[i].from = min(all[i].from, all[i+1].from)
		}
	}
	all := r.known.hinders
	if i := sort.Search(len(all), func(i int) bool { return all[i].to >= t }); i < len(all) {
		return all[i].from
	}
	return forever
}

// overs are the times, in order, from the begin of each fault until it is over.
func (r *run) overs() []span {
	if r.known.overs == nil {
		spans := []span{}
		for _, f := range r.faults {
			if f.begin >= 0 {
				spans = append(spans, span{from: f.from, to: r.over(f)})
			}
		}
		r.known.overs = union(spans)
	}
	return r.known.overs
}

// stalled files the stalls by who was stalled, each list with its reach.
func (r *run) stalled() {
	if r.known.stalls != nil {
		return
	}
	r.known.stalls = map[string][]stall{}
	reach := func(all []stall, s stall) []stall {
		if s.reach = s.to; len(all) > 0 {
			s.reach = max(s.to, all[len(all)-1].reach)
		}
		return append(all, s)
	}
	for _, s := range r.stalls { // they are in order
		if s.server {
			r.known.servers = reach(r.known.servers, s)
		} else {
			r.known.stalls[s.node] = reach(r.known.stalls[s.node], s)
		}
	}
}

// stalledIn says whether one of stalls touches [from, to].
func stalledIn(stalls []stall, from, to int64) bool {
	n := sort.Search(len(stalls), func(i int) bool { return stalls[i].from > to })
	return n > 0 && stalls[n-1].reach >= from
}

// firstAfter is the first of some operations, which are in order, after another; -1: none.
func firstAfter(ops []int, op int) int {
	if i := sort.SearchInts(ops, op+1); i < len(ops) {
		return ops[i]
	}
	return -1
}

// abstainsOf are the notes that say that an owner did not write.
func (r *run) abstainsOf(owner string) []int {
	if r.known.abstains == nil {
		r.known.abstains = map[string][]int{}
		for _, i := range r.abstained {
			r.known.abstains[r.ops[i].Owner] = append(r.known.abstains[r.ops[i].Owner], i)
		}
	}
	return r.known.abstains[owner]
}
