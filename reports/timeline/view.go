// Package timeline lays the trace of a history out for showing: stretches of time, faults as they struck
// together, and lanes with what each node did.
//
// Three drawings are made of it, and they stay three, for their readers do different things: a run's page
// draws in JavaScript, which zooms and finds every operation; a comparison puts many runs on one axis,
// joins what is closer than a pixel and titles each mark; a picture is one violation as SVG and PNG, with
// fonts of its own and no browser. One of them for all would put a browser behind each PNG, or take the
// zoom and the titles away, so they share what must not differ: the trace, Tracks and Scale.
package timeline

import (
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// View is the trace of a history, with what its stories and drawings look up again and
// again. What happened is said by the trace alone.
type View struct {
	*trace.Trace
}

// New interprets a history.
func New(setup history.Setup, ops []history.Op) *View {
	return &View{Trace: trace.New(setup, ops)}
}

// Span is a stretch of raw time, in nanoseconds, with its end.
type Span struct{ From, To int64 }

// Holds says whether a span lasts at an instant.
func (s Span) Holds(at int64) bool { return s.From <= at && at <= s.To }

// Meets says whether two spans have an instant in common.
func (s Span) Meets(x Span) bool { return s.From <= x.To && x.From <= s.To }

// Length is how long a span lasts.
func (s Span) Length() time.Duration { return time.Duration(s.To - s.From) }

// Belief is how long the holder of a grant believed in it.
func Belief(g *trace.Grant) Span { return Span{g.OK, g.Until} }

// Valid are the times in which the lease of a grant was valid.
func (t *View) Valid(g *trace.Grant) (all []Span) {
	for _, s := range t.Leased(g) {
		all = append(all, Span{s.From, s.To})
	}
	return all
}

// Lasted is the raw time that a fault lasted.
func (t *View) Lasted(f *trace.Fault) Span { return Span{f.From, min(f.To, t.End)} }

// GrantsOf are the grants of a key, by the time of their ok.
func (t *View) GrantsOf(key string) []*trace.Grant {
	if k := t.ByKey[key]; k != nil {
		return k.Grants
	}
	return nil
}

// Recorded are the writes that a client has recorded, in the order of their invokes.
func (t *View) Recorded() (all []*trace.Write) {
	for i := range t.Writes {
		if w := &t.Writes[i]; w.Invoke >= 0 {
			all = append(all, w)
		}
	}
	slices.SortStableFunc(all, func(a, b *trace.Write) int { return a.Invoke - b.Invoke })
	return all
}

// WriteOf is the write of a value that a client has recorded; nil: there is none.
func (t *View) WriteOf(value string) *trace.Write {
	if i, ok := t.ByValue[value]; ok && t.Writes[i].Invoke >= 0 {
		return &t.Writes[i]
	}
	return nil
}

// IsAcquire says whether a lock is asked for.
func IsAcquire(f history.F) bool { return f == history.Acquire || f == history.Try }

// IsClient says whether a node is a client of the lock.
func (t *View) IsClient(node string) bool { return slices.Contains(t.Setup.Clients, node) }
