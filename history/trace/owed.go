package trace

import (
	"slices"
	"sort"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// What the service owes a holder that nothing but its own side has told of a loss.

// Common are the times that two lists of spans, each in order, have in common.
func Common(a, b []Span) (both []Span) {
	for _, s := range a {
		first := sort.Search(len(b), func(i int) bool { return b[i].To > s.From })
		for _, o := range b[first:] {
			if o.From >= s.To {
				break
			}
			both = append(both, Span{From: max(s.From, o.From), To: min(s.To, o.To)})
		}
	}
	return both
}

// InForce is when a fault that was seen keeps its victim's packets or programs back, after its begin was told, at the latest.
func (t *Trace) InForce() int64 {
	return max(int64(t.Setup.Lease)/4, int64(500*time.Millisecond))
}

// muted are the times, in order, in which nothing that a node sends reaches any server: each is stopped, or drops what that node
// sends, or the link to it takes all and delivers nothing.
func (t *Trace) muted(node string) (all []Span) {
	if spans, made := t.mute[node]; made {
		return spans
	}
	for n, server := range t.Setup.Servers {
		var away []Span
		for _, f := range t.Faults {
			seen := f.Begin >= 0 && f.Observed && !f.Missed && !f.Skipped
			kind := history.FaultOf(f.Kind)
			atServer := f.Target == server && kind.Away && (len(f.Cut) == 0 || slices.Contains(f.Cut, node))
			atLink := f.Target == node && kind.Swallows && !f.OneConn && slices.Contains(f.Cut, server)
			if seen && (atServer || atLink) {
				away = append(away, Span{From: f.From, To: f.To})
			}
		}
		if away = Union(away); n == 0 {
			all = away
		}
		all = Common(all, away)
	}
	if t.mute == nil {
		t.mute = map[string][]Span{}
	}
	t.mute[node] = all
	return all
}

// MuteUntil is until when nothing that the holder of g sends has reached any server, where that is known of a time at which its own side told it
// of a loss, or that its lock may be lost; else that time. The service knows nothing of what such a client is told, and owes it what it did.
func (t *Trace) MuteUntil(g *Grant, at int64) int64 {
	if at == Forever || len(t.Setup.Servers) == 0 || g.Release >= 0 && t.Ops[g.Release].Time <= at {
		return at
	}
	for _, s := range t.muted(g.Node) {
		late := func(stall Stall) bool { // by a stall that no fault planned a drop may have been late
			return !stall.Planned && (stall.Server || stall.Node == g.Node) && stall.From <= at && stall.To >= s.From
		}
		if s.From+t.InForce() <= at && at < s.To && !slices.ContainsFunc(t.Stalls, late) {
			return s.To
		}
	}
	return at
}

// OwedValidity is Validity, and what the service owes beyond it: as the holder was told of a loss, or that its lock may be lost, while nothing
// that it sent reached a server, until the deadline that it had been told.
func (t *Trace) OwedValidity(spans []Span, g *Grant, owner int) ([]Span, bool) {
	spans, known := t.Validity(spans, g, owner)
	if !known || len(t.Setup.Servers) == 0 {
		return spans, known
	}
	deadline, known := t.DeadlineAt(g, t.Ops[g.Op].Deadline)
	told := func(at int64) {
		if to := min(deadline, t.MuteUntil(g, at)); known && deadline < Forever && to > at {
			spans = append(spans, Span{From: at, To: to, Owner: owner})
		}
	}
	for _, c := range g.Claims {
		if c.Cut {
			told(c.At)
			continue
		}
		deadline, known = t.DeadlineAt(g, c.Deadline)
	}
	if g.Told < Forever {
		told(g.Told)
	}
	return spans, true
}
