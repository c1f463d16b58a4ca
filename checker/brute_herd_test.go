package checker

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// herded are the releases between the first count of wake-ups and the last, and those who
// waited at each as it was asked, all asked of every pair.
func (b brute) herded() (releases, waiting int, woken int64) {
	var counted []*history.Op
	for i := range b.r.Ops {
		if op := &b.r.Ops[i]; op.F == history.Woken && op.Error == "" {
			counted = append(counted, op)
		}
	}
	if len(counted) < 2 {
		return 0, 0, -1
	}
	first, last := counted[0], counted[len(counted)-1]
	for _, g := range b.r.Grants {
		asked, answered := int64(-1), int64(-1)
		for i := range b.r.Ops {
			if op := &b.r.Ops[i]; op.Owner == g.Owner && op.F == history.Release && op.Type == history.Invoke {
				asked = op.Time
			} else if op.Owner == g.Owner && op.F == history.Release && op.Type == history.OK {
				answered = op.Time
			}
		}
		if answered < 0 || asked < first.Time || answered > last.Time {
			continue
		}
		releases++
		for _, w := range g.Key.Waits {
			if w.From <= asked && asked < w.To && w.Done >= 0 {
				waiting++
			}
		}
	}
	return releases, waiting, last.Length - first.Length
}

// wokenOtherwise is how many wake-ups between the first count and the last may come of others than these releases:
// three of each hold that may have ended in any other way meanwhile, and one of each who gave up.
func (b brute) wokenOtherwise() (n int64) {
	from, to := int64(-1), int64(-1)
	for i := range b.r.Ops {
		if op := &b.r.Ops[i]; op.F == history.Woken && op.Error == "" {
			if to = op.Time; from < 0 {
				from = op.Time
			}
		}
	}
	for _, g := range b.r.Grants {
		asked, answered := int64(trace.Forever), int64(-1)
		for i := range b.r.Ops {
			if op := &b.r.Ops[i]; op.Owner == g.Owner && op.F == history.Release && op.Type == history.Invoke {
				asked = op.Time
			} else if op.Owner == g.Owner && op.F == history.Release && op.Type == history.OK {
				answered = op.Time
			}
		}
		switch {
		case g.OK > to, answered >= 0 && (answered < from || asked > to), answered >= 0 && asked >= from && answered <= to:
		default:
			n += 3
		}
	}
	for _, k := range b.r.keys {
		for _, w := range k.Waits {
			switch {
			case w.From > to, w.Done >= 0 && w.To < from, w.Done >= 0 && b.r.Ops[w.Done].Type == history.OK:
			case w.Done < 0:
				n += 3
			default:
				n++
			}
		}
	}
	return n
}

func TestHerdAgrees(t *testing.T) {
	seen := map[Verdict]int{}
	bothWays(t, 20, func(t *rapid.T) bool {
		b := newBuilder().kind(history.Herd)
		number := func(name string, least, most int) int64 { return int64(rapid.IntRange(least, most).Draw(t, name)) }
		b.setup.Promise.WakesOne = number("promised", 0, 2) > 0
		b.setup.Keys = []string{"k", "l"}
		for i := range number("waiters", 0, 16) {
			from, node := number("from", 0, 10)*5*ms, fmt.Sprintf("waiter-%d", i)
			b.op(from, node, history.Invoke, history.Acquire, b.setup.Keys[number("key", 0, 9)/9])
			if number("waits on", 0, 9) > 0 {
				b.op(from+number("waits", 0, 50)*5*ms, node, history.Fail, history.Acquire, "")
			}
		}
		for i := range number("releases", 0, 4) {
			at := 20*ms + i*25*ms
			h := b.grant(at-10*ms, at, fmt.Sprintf("client-%d", i), b.setup.Keys[number("key", 0, 9)/9], i+1)
			b.op(at+10*ms, h.node, history.Invoke, history.Release, h.key).Owner = h.owner
			b.op(at+15*ms, h.node, []history.Type{history.OK, history.OK, history.OK, history.Info, history.Fail}[number("answer", 0, 4)], history.Release, h.key).Owner = h.owner
		}
		woken := int64(7)
		for range number("counts", 0, 3) {
			b.woken(number("at", 0, 30)*5*ms, 0)
			if number("failed", 0, 5) == 0 {
				b.ops[len(b.ops)-1].Error = "not reached"
			}
		}
		setup, ops := b.done()
		for i := range ops {
			if ops[i].F == history.Woken {
				ops[i].Length = woken
				woken += number("woken", 0, 30)
			}
		}
		r := newRun(setup, ops)
		n, waiting, woken := brute{r}.herded()
		figures := fmt.Sprintf("The servers woke %.1f waiters per release (%d in %s), while %.1f waited on average", float64(woken)/float64(n), woken, nouns.Count(n, "release"), float64(waiting)/float64(n))
		want := Holds
		switch {
		case woken < 0:
			want, figures = NA, "The servers of this lock do not tell"
		case n == 0:
			want, figures = Unknown, "Nobody gave the lock back"
		case waiting < 6*n:
			want = Unknown
		case int(woken) <= 3*n:
		case !setup.Promise.WakesOne:
			want = NA
		case woken-(brute{r}).wokenOtherwise() <= 3*int64(n):
			want = Unknown
		default:
			want = Violated
		}
		p := herd(r).property("herd")
		if p.Verdict != want || !strings.HasPrefix(p.Reason, figures) {
			t.Fatalf("%s: %s; want %s: %s", p.Verdict, p.Reason, want, figures)
		}
		seen[want]++
		return want == Violated
	})
	if len(seen) < 4 {
		t.Errorf("not all verdicts: %v", seen)
	}
}
