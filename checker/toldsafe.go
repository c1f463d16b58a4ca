package checker

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// toldSafe is a holder that was told that its lock is safe again, although another had been granted it.
type toldSafe struct {
	grant, by *trace.Grant
	cut, op   int   // the notes that it may be lost, and that it is safe
	after     int64 // the session was not found alive before
}

// toldSafe finds them. The session was found alive after its client had lost its link, and while it reached a majority of the
// servers. Had that been before the grant of the other, the session's lease was still owed then; else there was no session
// left to find, or it had lost its lock. Who did not run as it was told may have lost its link long before, but not before a
// pause that was the first fault for a while: no link breaks by itself.
func (r *run) toldSafe() (all []toldSafe) {
	r.stalled()
	late := int64(r.Setup.Lease) / 4 // what a client is told has happened so long before, at most
	for _, g := range r.Grants {
		for n, c := range g.Claims {
			if r.Ops[c.Op].F != history.Resumed || n == 0 || !g.Claims[n-1].Cut {
				continue
			}
			by, cut := r.supersededBy(g), g.Claims[n-1]
			told := trace.Span{From: cut.At - late, To: cut.At}
			from, sure := r.lostLinkAfter(g.Node, told)
			if !r.Setup.Promise.Session || by == nil || r.mayForget(g.Sent, c.At) || !sure || stalledIn(r.known.stalls[g.Node], told.From, told.To) {
				continue
			}
			safe := toldSafe{grant: g, by: by, cut: cut.Op, op: c.Op, after: from}
			for _, out := range r.outages(g.Node) {
				if out.From <= cut.At && cut.At < out.To {
					safe.after = out.To - late
				}
			}
			if shown := (trace.Span{From: c.At - late, To: c.At}); !stalledIn(r.known.stalls[g.Node], shown.From, shown.To) &&
				!slices.ContainsFunc(r.faultsOf(g.Node), func(f timed) bool { // who ran was told at once
					return f.fault.Target == g.Node && history.FaultOf(f.fault.Kind).Stops && f.fault.From <= shown.To && f.fault.To >= shown.From
				}) {
				safe.after = max(safe.after, shown.From)
			}
			owed := safe.after
			if r.Setup.Promise.Leased {
				owed += r.shortest(r.LeaseOf(&r.Ops[g.Op])) - trace.ClockNoise
			}
			if by.OK < min(c.At-late, owed) {
				all = append(all, safe)
			}
		}
	}
	return all
}

// lostLinkAfter is a time before which a client had not lost the link of which it was told that it may be lost, in a span of time, and
// whether that can be said: it ran all the while, or it was paused, and nothing had touched the link when the pause began.
func (r *run) lostLinkAfter(node string, told trace.Span) (from int64, sure bool) {
	stops := func(f *trace.Fault) bool {
		return f.Target == node && history.FaultOf(f.Kind).Stops && f.From <= told.To && f.To >= told.From
	}
	i := slices.IndexFunc(r.Faults, stops)
	if i < 0 {
		return told.From, true
	}
	pause := r.Faults[i]
	before := func(f *trace.Fault) bool {
		return f != pause && f.Begin >= 0 && f.From <= told.To && r.faded(f, f.To) >= pause.From
	}
	if pause.Kind != "pause" || pause.To > told.To || slices.ContainsFunc(r.faultsUpon(node), before) {
		return 0, false
	}
	return max(told.From, pause.To-(told.To-told.From)), true
}

// addToldSafe records them.
func (r *run) addToldSafe(f *found) {
	for _, s := range r.toldSafe() {
		f.add(r, Violation{Key: s.grant.Key.Name, At: r.Ops[s.op].Time, Possible: r.both(s.grant, s.by),
			Operations: []int{s.grant.Op, s.by.Op, s.cut, s.op}},
			"%s was told at %s that its session has survived, and %q with it, but %s had been granted it at %s, within a lease of the earliest time "+
				"at which it can have been found alive: in either order, one of the two was wrong.",
			s.grant.Who(), r.seconds(r.Ops[s.op].Time), s.grant.Key.Name, s.by.Who(), r.seconds(s.by.OK))
	}
}
