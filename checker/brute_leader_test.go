package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// A leader's write is wrong if, in the log, it comes after one of a later leader. Where
// their order is open, who acted first is the earlier.
func TestOneLeaderAgrees(t *testing.T) {
	bothWays(t, 20, func(t *rapid.T) bool {
		b := newBuilder().kind(history.Leader)
		number := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
		b.setup.Keys = []string{"k", "l"}
		tokens := number("tokens", 2) // none, in order, in any order
		var leaders []*held
		for n := range 4 {
			h := b.grant(0, int64(1+3*n+number("answered", 2))*ms, fmt.Sprintf("client-%d", n+1), b.setup.Keys[number("key", 3)/3], []int64{0, int64(n + 1), int64(number("token", 4))}[tokens])
			b.sent(h, int64(number("sent", 3*n))*ms)
			leaders = append(leaders, h)
		}
		leaders = append(leaders, &held{node: "client-5", key: "k", owner: "unknown"})
		for i := range number("acts", 9) {
			b.decide(int64(i+2)*10*ms, leaders[number("leader", 4)], number("fenced", 1) == 0)
			if number("refused", 4) == 0 {
				b.ops[len(b.ops)-2].Unfenced.Accepted = false
			}
			if number("fenced copy only", 9) == 0 {
				b.ops[len(b.ops)-2].Unfenced = nil
			}
			if number("one copy", 4) == 0 {
				b.ops[len(b.ops)-2].Fenced = nil
			}
		}
		r := newRun(b.done())
		var log, want []int
		for i := range r.Ops {
			if op := &r.Ops[i]; op.F == history.Apply && op.Unfenced != nil && op.Unfenced.Accepted {
				log = append(log, i)
			}
		}
		refused, led := 0, map[string][]string{} // by key: the leaders so far, in the order in which they first acted
		for n, i := range log {
			op := &r.Ops[i]
			later := slices.ContainsFunc(log[:n], func(j int) bool {
				g, h := r.ByOwner[op.Owner], r.ByOwner[r.Ops[j].Owner]
				return g != nil && h != nil && g.Key == h.Key && trace.Surely(g, h)
			})
			place := slices.Index(led[op.Key], op.Owner)
			switch {
			case later || place >= 0 && place < len(led[op.Key])-1:
				if want = append(want, i); op.Fenced != nil && !op.Fenced.Accepted {
					refused++
				}
			case place < 0:
				led[op.Key] = append(led[op.Key], op.Owner)
			}
		}
		o := oneLeader(r)
		if terms := len(led["k"]) + len(led["l"]); (o.verdict == Holds) != (terms > 1) {
			t.Fatalf("%s of %d terms", o.verdict, terms)
		}
		var got []int
		for _, v := range o.found.list {
			i := slices.IndexFunc(v.Operations, func(i int) bool { return r.Ops[i].Time == v.At })
			got = append(got, v.Operations[i])
		}
		figures := fmt.Sprintf("of %d came from a leader after the next one had acted; the fenced copy refused %d of these.", len(log), refused)
		if slices.Sort(got); !slices.Equal(got, want) || !strings.Contains(o.summary, figures) {
			for _, op := range r.Ops {
				t.Logf("%d %d %s %s %s %s own=%s tok=%d sent=%d", op.Index, (op.Time-origin)/ms, op.Node, op.Type, op.F, op.Key, op.Owner, op.Token, (op.Sent-origin)/ms)
			}
			t.Fatalf("%v, want %v: %s", got, want, o.summary)
		}
		return len(want) > 0
	})
}
