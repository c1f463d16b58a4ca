package reports

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// view is the trace of a history, with what its stories and drawings look up again and
// again. What happened is said by the trace alone.
type view struct {
	*trace.Trace
	latency *latency       // once it was measured
	losing  []*trace.Write // see lossy
	sought  bool
}

func newView(setup history.Setup, ops []history.Op) *view {
	return &view{Trace: trace.New(setup, ops)}
}

// span is a stretch of raw time, in nanoseconds, with its end.
type span struct{ from, to int64 }

func (s span) holds(at int64) bool { return s.from <= at && at <= s.to }

// belief is how long the holder of a grant believed in it.
func belief(g *trace.Grant) span { return span{g.OK, g.Until} }

// valid are the times in which the lease of a grant was valid.
func (t *view) valid(g *trace.Grant) (all []span) {
	for _, s := range t.Leased(g) {
		all = append(all, span{s.From, s.To})
	}
	return all
}

// lasted is the raw time that a fault lasted.
func (t *view) lasted(f *trace.Fault) span { return span{f.From, min(f.To, t.End)} }

// grantsOf are the grants of a key, by the time of their ok.
func (t *view) grantsOf(key string) []*trace.Grant {
	if k := t.ByKey[key]; k != nil {
		return k.Grants
	}
	return nil
}

// writes are those that a client has recorded, in the order of their invokes.
func (t *view) writes() (all []*trace.Write) {
	for i := range t.Writes {
		if w := &t.Writes[i]; w.Invoke >= 0 {
			all = append(all, w)
		}
	}
	slices.SortStableFunc(all, func(a, b *trace.Write) int { return a.Invoke - b.Invoke })
	return all
}

// write is the write of a value that a client has recorded; nil: there is none.
func (t *view) write(value string) *trace.Write {
	if i, ok := t.ByValue[value]; ok && t.Writes[i].Invoke >= 0 {
		return &t.Writes[i]
	}
	return nil
}

func isAcquire(f history.F) bool { return f == history.Acquire || f == history.Try }
