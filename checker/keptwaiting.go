package checker

import (
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// waitedForItself says whether who validly held a key asked for it again, and for most of
// a lease got no answer, and then none that gave it what it held: what it waited for was
// its own hold. A fault may keep anybody waiting.
func (n *nested) waitedForItself(g *trace.Grant, from, i int) bool {
	op, at := &n.Ops[i], n.Ops[from].Time
	if g == nil || op.Busy || op.Type == history.Info || op.Depth > 1 {
		return false
	}
	valid := min(n.owedUntil(g, at), op.Time)
	refused := op.Type == history.Fail || valid < op.Time
	clear := longestOf(without(trace.Span{From: at, To: max(at, valid)}, n.faultsFor(op.Node)))
	return refused && clear > int64(n.Setup.Lease)/2 && !n.disturbed([]int{from, i})
}

// keptWaiting finds a holder that asked for its key again, and had no answer for longer than a lease and the stated bound, and a second, while it
// validly held it: it is owed what it asks for at once, whoever else waits.
func (n *nested) keptWaiting(g *trace.Grant, w trace.Wait) {
	if g == nil {
		return
	}
	w.To = min(w.To, n.owedUntil(g, w.From))
	limit := max(n.aftermath(), int64(time.Second))
	if w.To <= w.From || longestOf(without(trace.Span{From: w.From, To: w.To}, n.faultsFor(n.Ops[w.Invoke].Node))) <= limit {
		return
	}
	n.again++
	n.found.add(n.run, Violation{Key: g.Key.Name, At: w.From + limit, Operations: []int{g.Op, w.Invoke, w.Done},
		lasts: trace.Span{From: w.From, To: w.To}, limit: limit},
		"%s held %q since %s, asked for it again at %s, and had no answer until %s, though nobody but itself held it.", g.Who(), g.Key.Name,
		n.seconds(g.OK), n.seconds(w.From), n.seconds(w.To))
}
