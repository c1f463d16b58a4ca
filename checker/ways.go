package checker

import (
	"slices"

	"github.com/dlmtest/dlmtest/history/trace"
)

// Whom a fault hits: servers, a node, or its way to them.

// serversFaults are the times of faults that are not of clients, their links and their clocks alone, each until what it has left behind is over.
func (r *run) serversFaults() []trace.Span {
	return once(&r.known.spans, "servers'", func() []trace.Span {
		return faultsUntil(slices.Concat(r.Faults, r.shocks()), r.hitsServers, r.served)
	})
}

func (r *run) hitsServers(f *trace.Fault) bool {
	return r.serves(f.Target) && (len(f.Cut) == 0 || slices.ContainsFunc(f.Cut, r.serves))
}

// serves says whether a node may be one of the service's: a server or, where these are not known, no client.
func (r *run) serves(node string) bool {
	if len(r.Setup.Servers) > 0 {
		return r.isServer(node)
	}
	return !r.isClient(node)
}

// isServer says whether a node is a server of the run.
func (r *run) isServer(node string) bool { return slices.Contains(r.Setup.Servers, node) }

// mayHinder says that a fault may keep from a node what the service owes it: it hit servers, or the node, its clock or
// its links to them. Where the servers are not known it may be of one of theirs, and a lock may measure its leases by the clock of any client.
func (r *run) mayHinder(f *trace.Fault, node string) bool {
	return r.hitsWay(f, node) || r.hitsServers(f) || r.mayBeOfAll(f)
}

// mayBeOfAll says that, as the servers are not known, a fault may be of one of theirs, or of a clock that all leases are measured by.
// One of a client alone is its own.
func (r *run) mayBeOfAll(f *trace.Fault) bool {
	return len(r.Setup.Servers) == 0 && (!r.isClient(f.Target) || f.Kind == "clock")
}

// hitsWay says that a fault hit a node or its links to the service. One of its links to others, such as the resource or another
// client, keeps no request of it from a server.
func (r *run) hitsWay(f *trace.Fault, node string) bool {
	at := f.Target == node
	switch {
	case len(r.Setup.Servers) == 0 || r.isServer(node):
		return at || slices.Contains(f.Cut, node)
	case at:
		return len(f.Cut) == 0 || slices.ContainsFunc(f.Cut, r.isServer)
	}
	return r.isServer(f.Target) && slices.Contains(f.Cut, node)
}

// faultsUpon are the faults that may hinder a node, see mayHinder. Of many clients each is looked through for its own.
func (r *run) faultsUpon(node string) []*trace.Fault {
	if r.known.faultsOfAll == nil {
		r.known.faultsOfAll = []*trace.Fault{}
		for _, f := range slices.Concat(r.Faults, r.shocks()) {
			if r.hitsServers(f) || r.mayBeOfAll(f) {
				r.known.faultsOfAll = append(r.known.faultsOfAll, f)
			}
		}
	}
	upon := slices.Clip(r.known.faultsOfAll)
	for _, f := range r.faultsOf(node) {
		upon = append(upon, f.fault)
	}
	return upon
}

// faultsFor are the times of the faults that may hinder a node by more than a slight delay, with their aftermath.
func (r *run) faultsFor(node string) []trace.Span {
	return r.faultyUpon("for", node, func(f *trace.Fault) bool { return !r.slight(f) })
}

// slight says that a fault is a delay of which many round trips fit into a lease.
func (r *run) slight(f *trace.Fault) bool {
	return f.Kind == "latency" && f.Slow > 0 && f.Slow <= int64(r.Setup.Lease)/slightOf
}

// slows says that a fault is more than a slight delay: where four round trips and more fit into a lease all is in reach.
func (r *run) slows(f *trace.Fault) bool {
	return f.Kind != "latency" || f.Slow <= 0 || f.Slow > int64(r.Setup.Lease)/4
}
