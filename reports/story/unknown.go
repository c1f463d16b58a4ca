package story

import (
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports/say"
)

// asks says what a client asks of its lock.
var asks = map[history.F]string{history.Acquire: "asks for", history.Try: "tries to take", history.Extend: "asks to renew",
	history.Release: "asks to release", history.Change: "asks to change its hold of"}

// tellUnknown tells the last thing that the loser g asked of its lock and was never told the outcome of, in the
// lease before its grant or under it: that may have been done before the grant h, after it, or never.
func (s *telling) tellUnknown(g, h *trace.Grant) {
	last, why := -1, ""
	for i := range s.Ops {
		op := &s.Ops[i]
		if op.Time >= h.OK {
			break
		}
		if op.Node != g.Node || op.Key != g.Key.Name || op.Type != history.Invoke || asks[op.F] == "" || op.Time < g.OK-int64(s.Setup.Lease) {
			continue
		}
		switch end, ended := s.Ended(i); {
		case !ended:
			last, why = i, ""
		case s.Ops[end].Type == history.Info && (op.F != history.Release || s.ByOwner[op.Owner] != g): // its own release is told as such
			last, why = i, ": "+strings.TrimSuffix(say.Error(s.Ops[end].Error), ".")
		}
	}
	if last >= 0 {
		op := &s.Ops[last]
		s.add(op.Time, last, op.Node, op.Node, StepOther, "%s %q%s, and is never told what came of it%s.", asks[op.F], op.Key, s.askedAs(op.Mode), why)
	}
}
