package checker

import (
	"cmp"
	"slices"

	"github.com/dlmtest/dlmtest/history/trace"
)

// unsaid is a holder whose lock was granted to another, and whose client was not told so although its lock tells of losses.
type unsaid struct {
	grant, other *trace.Grant
	ordered      bool       // other was granted it later; else one of the two has lost it, and neither was told
	quiet        trace.Span // in which they ran, reached the service, and were told nothing
}

// unsaidLosses finds them, where grants last as long as their session. Whose session has ended learns so with the first answer that it
// has from the service, so two leases and 3 s within its reach, with nothing about that could keep an answer back, are enough for any
// client that asks at all. Who was told that its lock may be lost has been warned, until it is told that it is not.
func (r *run) unsaidLosses() (all []unsaid) {
	if !r.tellsLosses() {
		return nil
	}
	r.stalled()
	var long []*trace.Grant // of one key, that were believed in for long enough, by their answers
	for _, k := range r.keys {
		long = long[:0]
		for _, g := range k.Grants {
			if !g.Silent && g.OK <= r.heard(g)-r.patience() {
				long = append(long, g)
			}
		}
		slices.SortStableFunc(long, func(a, b *trace.Grant) int { return cmp.Compare(a.OK, b.OK) })
		for i, g := range long {
			if u, ok := r.unsaidOf(g, r.supersededBy(g), true); ok {
				all = append(all, u)
				continue
			}
			for _, h := range long[i+1:] {
				if h.OK > r.heard(g) || r.Setup.Kind.Shares() {
					break
				}
				if u, ok := r.unsaidOf(g, h, false); ok {
					all = append(all, u)
					break
				}
			}
		}
	}
	return all
}

// tellsLosses says whether the lock owes its holders word of a loss.
func (r *run) tellsLosses() bool { return r.Setup.Promise.TellsLosses() }

// heard is until when a holder believed in a grant and was not told that it has lost it.
func (r *run) heard(g *trace.Grant) int64 { return min(g.End, g.Told, r.End) }

// unsaidOf asks about a grant and one of another client, which is later for certain if they are ordered; nil: there is none. Of two
// whose order is open both must have been told nothing, as it may be either that has lost the lock.
func (r *run) unsaidOf(g, other *trace.Grant, ordered bool) (u unsaid, ok bool) {
	if other == nil || other.Node == g.Node || r.mayForget(min(g.Sent, other.Sent), other.OK) {
		return u, false
	}
	lost := trace.Span{From: max(g.OK, other.OK), To: r.heard(g)}
	if !ordered {
		lost.To = min(lost.To, r.heard(other))
	}
	if lost.To-lost.From < r.patience() {
		return u, false
	}
	off := r.mayNotHear(g, lost)
	if !ordered {
		off = trace.Union(append(off, r.mayNotHear(other, lost)...))
	}
	for _, quiet := range without(lost, off) {
		if quiet.To-quiet.From >= r.patience() {
			return unsaid{g, other, ordered, quiet}, true
		}
	}
	return u, false
}

// mayNotHear are the times within a span in which a holder has been warned, or something may keep an answer of the service from it.
func (r *run) mayNotHear(g *trace.Grant, within trace.Span) []trace.Span {
	spans := slices.Clone(r.hindering(""))
	for _, f := range r.faultsOf(g.Node) { // it may ask as soon as it runs, and its connections flow
		spans = append(spans, trace.Span{From: f.fault.From, To: flows(f.fault)})
	}
	spans = append(spans, r.feltOutages(g.Node)...)
	for _, stalls := range [][]trace.Stall{r.known.stalls[g.Node], r.known.servers} {
		for _, s := range stalls {
			spans = append(spans, trace.Span{From: s.From, To: after(s.To, int64(r.Setup.Lease))})
		}
	}
	for n, c := range g.Claims {
		if !c.Cut {
			continue
		}
		warned := trace.Span{From: c.At, To: within.To}
		if n+1 < len(g.Claims) {
			warned.To = g.Claims[n+1].At
		}
		spans = append(spans, warned)
	}
	return trace.Union(slices.DeleteFunc(spans, func(s trace.Span) bool { return s.To <= within.From || s.From >= within.To }))
}

// addUnsaid records them.
func (r *run) addUnsaid(f *found) (n int) {
	before := f.certain
	for _, u := range r.unsaidLosses() {
		g, h := u.grant, u.other
		v := Violation{Key: g.Key.Name, At: u.quiet.To, Possible: r.both(g, h), Operations: []int{g.Op, h.Op}}
		for _, end := range []int{g.EndOp, h.EndOp} {
			if end >= 0 && !slices.Contains(v.Operations, end) {
				v.Operations = append(v.Operations, end)
			}
		}
		if u.ordered {
			f.add(r, v, "%s was not told that it has lost %q, which %s had been granted at %s, although its lock tells of losses: it ran, "+
				"reached the service, and believed in it, from %s to %s.",
				g.Who(), g.Key.Name, h.Who(), r.seconds(h.OK), r.seconds(u.quiet.From), r.seconds(u.quiet.To))
			continue
		}
		f.add(r, v, "%s and %s were both granted %q, and neither was told that it has lost it, although their lock tells of losses: both ran, "+
			"reached the service, and believed in it, from %s to %s. In either order, one of them had lost it.",
			g.Who(), h.Who(), g.Key.Name, r.seconds(u.quiet.From), r.seconds(u.quiet.To))
	}
	return f.certain - before
}
