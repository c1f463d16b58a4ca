package checker

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// What a fault of servers may excuse, by what the service says that it survives (history.Promise.Survives): as long as
// a majority of the servers stands together all the while, it changes nothing that was answered, and so excuses no
// broken word. What comes late, as a new leader is elected, it may explain all the same.

// survived says whether the service outlives a fault of its servers or, for a node, one that cuts it off from some.
func (r *run) survived(f *trace.Fault, node string) bool {
	kind, p := history.FaultOf(f.Kind), r.Setup.Promise
	switch {
	case p.Survives == "" || f.Begin < 0 || kind.Link || !kind.Away && !kind.Disk || kind.EndsLeases && p.Survives != history.Restart:
		return false
	case p.Session && !p.Leased: // a hold ends with its connection, to whichever server that is
		return false
	case !r.isServer(f.Target) && (f.Target != node || len(f.Cut) == 0):
		return false
	}
	r.readOutages()
	return !trace.Meets(r.unserved[""], f.From, f.To) && (node == "" || !trace.Meets(r.outages(node), f.From, f.To))
}

// shaken are the times in which faults of servers that the service does not survive may end holds.
func (r *run) shaken() []trace.Span {
	return r.endingUpon("shake", "", func(f *trace.Fault) bool { return r.hitsServers(f) && !r.survived(f, "") })
}

// shakenFor are the times of faults that may keep from a node what it has, without what the service survives.
func (r *run) shakenFor(node string) []trace.Span {
	return r.faultyUpon("shake", node, func(f *trace.Fault) bool { return !r.survived(f, node) })
}

// moved is the first time from which the session of g may have ended as a fault that the service survives keeps it from
// the server that it spoke to. What that server had heard of it last is lost, which may be most of half a lease.
func (r *run) moved(g *trace.Grant) int64 {
	lease, first := int64(r.Setup.Lease), int64(trace.Forever)
	for _, node := range []string{"", g.Node} {
		froms := r.moves()[node]
		if i, _ := slices.BinarySearch(froms, g.Sent-lease/2); i < len(froms) {
			first = min(first, max(froms[i], g.Sent)+lease/2)
		}
	}
	return first
}

// moves are the times from which faults keep the sessions of a node from the server that they spoke to; "": of every node.
func (r *run) moves() map[string][]int64 {
	if r.known.moves != nil {
		return r.known.moves
	}
	r.known.moves = map[string][]int64{}
	for _, f := range slices.Concat(r.Faults, r.shocks()) {
		node := f.Target
		if r.isServer(node) {
			node = ""
		} else if !r.survived(f, node) {
			continue
		}
		if f.Begin >= 0 {
			r.known.moves[node] = append(r.known.moves[node], f.From)
		}
	}
	for _, froms := range r.known.moves {
		slices.Sort(froms)
	}
	return r.known.moves
}
