package checker

import (
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// inForce is when a fault that was seen keeps its victim's packets or programs back, after its begin was told, at the latest.
func (r *run) inForce() int64 { return max(int64(r.Setup.Lease)/4, 10*slowAnswer) }

// addUnreached finds grants, renewals, changes and releases that were asked for and told ok while their client reached no server at all: each was
// stopped, or cut off from it. Nobody can have answered but the library itself. It counts them. What a lock may answer by itself is no
// question to the service: a hold within a hold, a renewal of a session that it keeps alive, and an ok that says that the call returned.
func (r *run) addUnreached(f *found) (n int) {
	if len(r.Setup.Servers) == 0 || r.Setup.Kind == history.Reentrant {
		return 0
	}
	told := toldOf(f)
	for i := range r.Ops {
		op := &r.Ops[i]
		invoke, ended := r.Started(i)
		if !ended || told[i] || op.Type != history.OK || !slices.Contains(ofService, op.F) && op.F != history.Change ||
			op.F == history.Extend && !r.keepsLeases() || op.F == history.Release && r.Setup.Promise.Mute {
			continue
		}
		asked := r.Ops[invoke].Time
		if !slices.ContainsFunc(r.unreached(op.Node), func(s trace.Span) bool {
			return asked >= after(s.From, r.inForce()) && op.Time < s.To && !r.stalledSince(op.Node, s.From, asked)
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

// muteUntil is until when nothing that the holder of g sends has reached any server, where that is known of a time at which its own side told it of a
// loss, or that its lock may be lost; else that time. The service knows nothing of what such a client is told, and owes it what it did.
func (r *run) muteUntil(g *trace.Grant, t int64) int64 {
	if t == trace.Forever || len(r.Setup.Servers) == 0 || g.Release >= 0 && r.Ops[g.Release].Time <= t {
		return t
	}
	r.readAway()
	mute := once(&r.known.alone, "mute: "+g.Node, func() []trace.Span { return r.fromAll(r.known.mute[g.Node]) })
	for _, s := range mute {
		if after(s.From, r.inForce()) <= t && t < s.To && !r.stalledSince(g.Node, s.From, t) {
			return s.To
		}
	}
	return t
}

// validSpans are the times in which a claim on g was valid for the service: as long as its holder believed that, and, as that was told of a loss, or that its
// lock may be lost, while nothing that it sent reached a server, until the deadline that it had been told.
func (r *run) validSpans(spans []trace.Span, g *trace.Grant, owner int) ([]trace.Span, bool) {
	spans, known := r.Validity(spans, g, owner)
	if !known || r.Setup.Promise.Renews && r.Deadline(g) == 0 {
		return spans, known
	}
	deadline, known := r.DeadlineAt(g, r.Ops[g.Op].Deadline)
	claimed := known && deadline < trace.Forever
	told := func(at int64) {
		if to := min(deadline, r.muteUntil(g, at)); claimed && to > at {
			spans = append(spans, trace.Span{From: at, To: to, Owner: owner})
		}
	}
	for _, c := range g.Claims {
		if c.Cut {
			told(c.At)
			continue
		}
		deadline, known = r.DeadlineAt(g, c.Deadline)
		claimed = known && deadline < trace.Forever
	}
	if g.Told < trace.Forever {
		told(g.Told)
	}
	return spans, true
}

// readAway finds, once, when each server was stopped, under the name "", when it was cut off from each client, in one direction or both, and
// when it dropped what that client sent.
func (r *run) readAway() {
	if r.known.away != nil {
		return
	}
	r.known.away, r.known.mute = map[string]map[string][]trace.Span{}, map[string]map[string][]trace.Span{}
	add := func(all map[string]map[string][]trace.Span, node, server string, f *trace.Fault) {
		if all[node] == nil {
			all[node] = map[string][]trace.Span{}
		}
		all[node][server] = append(all[node][server], trace.Span{From: f.From, To: f.To})
	}
	for _, f := range r.Faults {
		switch seen := f.Begin >= 0 && f.Observed && !f.Missed && !f.Skipped; {
		case !seen || !history.FaultOf(f.Kind).Away:
		case len(f.Cut) == 0 && r.isServer(f.Target):
			add(r.known.away, "", f.Target, f)
		case r.isServer(f.Target):
			for _, client := range f.Cut {
				add(r.known.away, client, f.Target, f)
				add(r.known.mute, client, f.Target, f)
			}
		default:
			for _, server := range f.Cut {
				add(r.known.away, f.Target, server, f)
			}
		}
	}
	for _, all := range []map[string]map[string][]trace.Span{r.known.away, r.known.mute} {
		for _, servers := range all {
			for server, spans := range servers {
				servers[server] = trace.Union(spans)
			}
		}
	}
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
		alone = inCommon(alone, away)
	}
	return alone
}

// inCommon are the times that two lists of spans, each in order, have in common.
func inCommon(a, b []trace.Span) (both []trace.Span) {
	for _, s := range a {
		first := sort.Search(len(b), func(i int) bool { return b[i].To > s.From })
		for _, o := range b[first:] {
			if o.From >= s.To {
				break
			}
			both = append(both, trace.Span{From: max(s.From, o.From), To: min(s.To, o.To)})
		}
	}
	return both
}
