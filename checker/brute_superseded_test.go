package checker

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// supersedes says that h was made after g, and that g left it no room at any instant at which it can have been made.
func (b brute) supersedes(h, g *trace.Grant) bool {
	if h.Sent <= g.OK {
		return false
	}
	instants := []int64{h.Sent, h.OK}
	for _, op := range b.r.Ops {
		if op.Time > h.Sent && op.Time < h.OK {
			instants = append(instants, op.Time)
		}
	}
	return !slices.ContainsFunc(instants, func(at int64) bool {
		if b.r.Setup.Kind == history.Semaphore {
			return h.Permits+b.permitsAt(g, at) <= b.r.Setup.Permits
		}
		return h.Mode == shared && (b.modeAt(g, at) == shared || b.modeAt(g, at-1) == shared)
	})
}

// Of a lock that several may hold the first grant that must not be beside an older one, asked of every pair.
func TestSupersededAgrees(t *testing.T) {
	for _, k := range []history.Kind{history.ReadWrite, history.Semaphore} {
		bothWays(t, 1, func(t *rapid.T) bool {
			r := newRun(sharing(t, k))
			b, turned := brute{r}, false
			for _, g := range r.Grants {
				var want *trace.Grant
				for _, h := range r.Grants {
					if b.supersedes(h, g) && (want == nil || h.OK < want.OK) {
						want = h
					}
				}
				if got := r.supersededBy(g); (got == nil) != (want == nil) || got != nil && (got.OK != want.OK || !b.supersedes(got, g)) {
					t.Fatalf("%s: of %+v by %+v, want %+v", k, g, got, want)
				}
				turned = turned || want != nil && len(g.Turns) > 0
			}
			return turned
		})
	}
}
