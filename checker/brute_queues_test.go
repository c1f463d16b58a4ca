package checker

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// firstAsked is when the first hold of a grant was asked for, by its definition: of the acquires that were under way as its first answer came, and
// that were told of it, the one that was told the least depth; where none was told depth 1, an acquire of its client without an answer may be it.
func (b brute) firstAsked(g *trace.Grant) int64 {
	depth, first, unanswered := int32(math.MaxInt32), int64(trace.Forever), int64(trace.Forever)
	for i := range b.r.Ops[:g.Op] {
		asked := &b.r.Ops[i]
		if asked.Type != history.Invoke || asked.F != history.Acquire && asked.F != history.Try || asked.Node != g.Node || asked.Key != g.Key.Name {
			continue
		}
		var done *history.Op
		for j := i + 1; j < len(b.r.Ops) && done == nil; j++ {
			if op := &b.r.Ops[j]; op.Process == asked.Process && op.Type != history.Note {
				done = op
			}
		}
		switch {
		case done == nil || done.Type == history.Info:
			unanswered = min(unanswered, asked.Time)
		case done.Type == history.OK && done.Index >= g.Op && b.r.ByOwner[done.Owner] == g && max(done.Depth, 1) < depth:
			depth, first = max(done.Depth, 1), asked.Time
		}
	}
	if depth > 1 {
		return min(first, unanswered)
	}
	return first
}

// Threads of client-1 ask for a lock that is reentrant by process, and are answered in any order.
func TestFairnessOfThreadsAgrees(t *testing.T) {
	bothWays(t, 20, func(t *rapid.T) bool {
		number := func(name string, from, to int64) int64 { return rapid.Int64Range(from, to).Draw(t, name) }
		b := newBuilder().kind(history.Reentrant)
		b.setup.Promise.Order, b.setup.Promise.Reentry, b.setup.Servers = true, history.ByProcess, []string{"server-1"}
		h := &held{node: "client-1", key: "k", owner: "client-1/all"}
		b.setup.Promise.Token = false
		depths := rapid.Permutation([]int32{1, 2, 3}[:number("threads", 1, 3)]).Draw(t, "depths")
		for i, depth := range depths {
			thread := func(at int64, typ history.Type) *history.Op {
				op := b.op(at, "client-1", typ, history.Acquire, "k")
				op.Process = 90 + i
				return op
			}
			thread(number("asks", 0, 8)*sec/4, history.Invoke)
			at := 3*sec + int64(i)*ms
			if number("answered", 0, 3) == 0 {
				thread(at, history.Info)
				continue
			}
			ok := thread(at, history.OK)
			b.claim(ok, h, 2990*ms)
			ok.Depth = depth
		}
		b.grantOf(number("waits", 0, 4)*sec/4, 4*sec, "client-2", 0)
		r := newRun(b.done())
		want, o := brute{r}.overtaken(), fairness(r)
		if len(want) != o.found.certain || o.found.possible > 0 {
			t.Fatalf("%+v, want %v", o.found.list, want)
		}
		return len(want) > 0
	})
}
