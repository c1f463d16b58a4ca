package checker

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// addUnreached finds grants, renewals, changes and releases that were asked for and told ok while their client reached no server at all: each was
// stopped, or cut off from it, or its links to it delivered nothing. Nobody can have answered but the library itself. It counts
// them. What a lock may answer by itself is no question to the service: a hold within a hold, a renewal of a session that it keeps
// alive, and an ok that says that the call returned.
func (r *run) addUnreached(f *found) (n int) {
	if len(r.Setup.Servers) == 0 {
		return 0
	}
	told, nests := toldOf(f), nested{run: r}
	for i := range r.Ops {
		op := &r.Ops[i]
		invoke, ended := r.Started(i)
		if !ended || told[i] || op.Type != history.OK || !slices.Contains(ofService, op.F) && op.F != history.Change ||
			op.F == history.Extend && !r.keepsLeases() || op.F == history.Release && r.Setup.Promise.Mute ||
			r.Setup.Kind == history.Reentrant && !nests.outermost(i) {
			continue
		}
		asked := r.Ops[invoke].Time
		if !slices.ContainsFunc(r.unreached(op.Node), func(s trace.Span) bool {
			return asked >= after(s.From, r.InForce()) && op.Time < s.To && !r.stalledSince(op.Node, s.From, asked)
		}) {
			continue
		}
		n++
		f.add(r, Violation{Key: r.Ops[invoke].Key, At: op.Time, Operations: []int{invoke, i}},
			"%s was told ok at %s to its %s of %q, which it had asked for at %s, and it reached no server in that time.",
			r.client(invoke), r.seconds(op.Time), op.F, r.Ops[invoke].Key, r.seconds(r.Ops[invoke].Time))
	}
	return n
}

// stalledSince says that a client or a server stood still by no fault between two times, so that a fault may have been in force late.
func (r *run) stalledSince(node string, from, to int64) bool {
	r.stalled()
	return stalledIn(r.known.servers, from, to) || stalledIn(r.known.stalls[node], from, to)
}

// unreached are the times, in order, in which each server was stopped, or cut off from a client, by a fault that was seen.
func (r *run) unreached(node string) []trace.Span {
	r.readAway()
	cut := r.known.away[node]
	if cut == nil {
		node = "" // those whom no partition names reach the same
	}
	return once(&r.known.alone, node, func() []trace.Span { return r.fromAll(cut) })
}

// cutsOff says that a fault lets nothing through between its victim and those whom it names, whatever connections are made: a link that takes all
// and delivers nothing, or breaks as often as it is made, does as a partition does.
func cutsOff(f *trace.Fault) bool {
	kind := history.FaultOf(f.Kind)
	return kind.Away || kind.Silent && !f.OneConn && len(f.Cut) > 0
}

// readAway finds, once, when each server was stopped, under the name "", and when it was cut off from each client.
func (r *run) readAway() {
	if r.known.away != nil {
		return
	}
	all := map[string]map[string][]trace.Span{}
	add := func(node, server string, f *trace.Fault) {
		if all[node] == nil {
			all[node] = map[string][]trace.Span{}
		}
		all[node][server] = append(all[node][server], trace.Span{From: f.From, To: f.To})
	}
	for _, f := range r.Faults {
		switch seen := f.Begin >= 0 && f.Observed && !f.Missed && !f.Skipped; {
		case !seen || !cutsOff(f):
		case len(f.Cut) == 0 && r.isServer(f.Target):
			add("", f.Target, f)
		case r.isServer(f.Target):
			for _, client := range f.Cut {
				add(client, f.Target, f)
			}
		default:
			for _, server := range f.Cut {
				add(f.Target, server, f)
			}
		}
	}
	for _, servers := range all {
		for server, spans := range servers {
			servers[server] = trace.Union(spans)
		}
	}
	r.known.away = all
}

// fromAll are the times, in order, in which each server was stopped or one of these, by server.
func (r *run) fromAll(cut map[string][]trace.Span) (alone []trace.Span) {
	for i, server := range r.Setup.Servers {
		away := r.known.away[""][server]
		if len(cut[server]) > 0 {
			away = trace.Union(slices.Concat(away, cut[server]))
		}
		if i == 0 {
			alone = away
		}
		alone = trace.Common(alone, away)
	}
	return alone
}
