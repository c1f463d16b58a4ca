package checker

import (
	"cmp"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// What is known of a grant as the fenced copy decides on a token of it.

// aboveAll says whether a refused write of g, while its lease ran and it believed in it, had a token above all that the copy
// had registered by its own word, or the same where fencing is at-least: no fence has a reason to refuse it, whoever was granted
// the key meanwhile.
func (r *run) aboveAll(g *trace.Grant, op *history.Op) bool {
	_, valid := r.ValidAt(g, op.Time)
	token, least := cmp.Or(op.Token, g.Token), op.Fenced.Token
	if r.Setup.Fencing != history.Strict && least > 0 {
		least--
	}
	return valid && op.Time < g.End && token > least
}

// validHolder says whether g certainly was the valid holder when op was decided:
// nobody else can have been granted the key, and its lease ran.
func (r *run) validHolder(g *trace.Grant, op *history.Op) bool {
	if op.Time >= g.End || r.supersededSent(g) < op.Time {
		return false
	}
	_, valid := r.ValidAt(g, op.Time)
	return valid
}

// supersededSent is the earliest time at which a later grant may have been made.
// A grant whose own lease had ended when its client was told of it supersedes
// nobody: it claims nothing, whatever its token says.
func (r *run) supersededSent(g *trace.Grant) int64 {
	k := r.logOf(g.Key)
	if k.valid == nil {
		counts := func(h *trace.Grant) bool { return !r.neverValid(h) }
		if k.valid = k.FirstLater(counts, sooner); !k.Sure {
			k.maybeValid = k.openAfter(counts)
		}
	}
	if !k.Sure && (k.maybeValid[g.Pos] != nil || g.Pos > 0 && k.Order[g.Pos-1].OK >= g.Sent) {
		return -trace.Forever // another was under way with it, and may have come after
	}
	if h := k.valid[g.Pos]; h != nil {
		return h.Sent
	}
	return trace.Forever
}

// neverValid says that the lease of g had ended when its client was told of it.
func (r *run) neverValid(g *trace.Grant) bool {
	to, known := r.DeadlineAt(g, r.Ops[g.Op].Deadline)
	return known && to <= g.OK
}
