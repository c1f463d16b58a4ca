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

// The definitions of same-reads and starvation, each asked of every pair.

// looked draws holders that look, write and are told of their loss, beside others that write.
func looked(t *rapid.T) *run {
	b := newBuilder().kind(history.ReadWrite)
	b.setup.SelfFence = rapid.SampledFrom([]string{"none", "check-session"}).Draw(t, "self-fence")
	for n := range rapid.IntRange(1, 3).Draw(t, "clients") {
		node, at := fmt.Sprintf("client-%d", n+1), int64(0)
		step := func() int64 { at += rapid.Int64Range(1, 12).Draw(t, "step") * 2 * ms; return at }
		for range rapid.IntRange(1, 2).Draw(t, "holds") {
			h := b.as(step(), step(), node, rapid.SampledFrom([]history.Mode{shared, exclusive}).Draw(t, "mode"), int64(n+1))
			for range rapid.IntRange(0, 5).Draw(t, "acts") {
				switch rapid.IntRange(0, 7).Draw(t, "act") {
				case 0:
					b.write(step(), h)
				case 1:
					b.note(step(), h, history.Lost)
				case 2:
					b.read(step(), h) // what it saw is not known
				case 3:
					b.read(step(), h)
					b.ops[len(b.ops)-1].Type = history.Fail
					b.ops[len(b.ops)-1].Unfenced = &history.Copy{Value: "nothing"}
				case 4:
					b.look(step(), &held{node: node, key: "k", owner: "nobody"})
				default:
					b.look(step(), h)
					b.ops[len(b.ops)-1].Unfenced.Value = rapid.SampledFrom([]string{"", "v1", "v1"}).Draw(t, "value")
				}
			}
			if rapid.Bool().Draw(t, "gives back") {
				b.does(step(), h, history.Release, history.OK)
			}
		}
	}
	return newRun(b.done())
}

func TestSameReadsAgrees(t *testing.T) {
	bothWays(t, 10, func(t *rapid.T) bool {
		r := looked(t)
		invoked := func(i int) *history.Op {
			for j := i - 1; ; j-- {
				if r.Ops[j].Process == r.Ops[i].Process && r.Ops[j].Type == history.Invoke {
					return &r.Ops[j]
				}
			}
		}
		var want []int
		twice := 0
		for i := range r.Ops {
			last := -1 // its look before
			for j := range r.Ops[:i+1] {
				op := &r.Ops[j]
				g := r.ByOwner[op.Owner]
				switch {
				case op.Owner != r.Ops[i].Owner || g == nil:
				case op.F != history.Read || op.Type != history.OK || op.Unfenced == nil || invoked(j).Time > g.End:
				case j < i:
					last = j
				case last >= 0:
					own := slices.ContainsFunc(r.Ops, func(w history.Op) bool {
						return w.F == history.Write && w.Type == history.Invoke && w.Owner == op.Owner && w.Value == op.Unfenced.Value
					})
					if twice++; r.Ops[last].Unfenced.Value != op.Unfenced.Value && !own {
						want = append(want, i)
					}
				}
			}
		}
		o := sameReads(r)
		var got []int
		for _, v := range o.found.list {
			got = append(got, v.Operations[len(v.Operations)-1])
		}
		if slices.Sort(got); !slices.Equal(got, want) || (o.verdict == Unknown) != (twice == 0) || !strings.Contains(o.summary, fmt.Sprintf("%d of %d second look", len(want), twice)) {
			t.Fatalf("%v, want %v of %d: %s", got, want, twice, o.summary)
		}
		return len(want) > 0
	})
}

// starved are the waits of writers beyond all patience, without a fault, during which a
// reader was let in that had asked as much later, and how many waited. open are those in which the service had answered
// a release late before each such reader, and excused is how many a fault alone excuses.
func (b brute) starved() (waits, open []int, all, excused int, longest int64) {
	for _, k := range b.r.keys {
		written := slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
			return o.Type == history.Invoke && (o.F == history.Acquire || o.F == history.Try) && o.Key == k.Name && o.Mode != shared
		})
		for _, w := range k.Waits {
			op := &b.r.Ops[w.Invoke]
			to := w.To
			if w.Done < 0 {
				if to = b.until(w); to == 0 {
					to = b.r.End
				}
			}
			if op.F != history.Acquire || !written || w.Done >= 0 && b.r.Ops[w.Done].Type == history.Info {
				continue
			}
			all++
			longest = max(longest, to-w.From)
			clear := func(by *trace.Grant) (from, placed int64) { // since when nothing was at fault, and it has had a place
				begin, end := b.noiseBefore(op.Node, by.OK)
				switch {
				case end <= w.From:
					return w.From, w.From
				case end == trace.Forever:
					return end, end
				}
				return end, end + end - begin
			}
			passedSince := func(by *trace.Grant, from, placed int64) bool {
				return (op.Mode != shared || by.Mode != shared) && by.OK > from && by.OK < to && by.Invoked > placed && by.Invoked-placed > 5*sec
			}
			passed := func(by *trace.Grant) bool { from, placed := clear(by); return passedSince(by, from, placed) }
			certain := func(by *trace.Grant) bool { from, _ := clear(by); return passed(by) && !b.lateBefore(from, by.OK) }
			switch {
			case slices.ContainsFunc(k.Grants, certain):
				waits = append(waits, w.Invoke)
			case slices.ContainsFunc(k.Grants, passed):
				open = append(open, w.Invoke)
			case slices.ContainsFunc(k.Grants, func(by *trace.Grant) bool { return passedSince(by, w.From, w.From) }):
				excused++
			}
		}
	}
	return waits, open, all, excused, longest
}

// lateBefore says whether a release had no answer for a quarter of a lease, begun by to and answered since from, of a client
// without a fault of its own.
func (b brute) lateBefore(from, to int64) bool {
	for i, asked := range b.r.Ops {
		if asked.Type != history.Invoke || asked.F != history.Release || asked.Time > to {
			continue
		}
		done := slices.IndexFunc(b.r.Ops[i+1:], func(op history.Op) bool { return op.Type != history.Note && op.Process == asked.Process })
		if done < 0 {
			continue
		}
		if at := b.r.Ops[i+1+done].Time; at >= from && at-asked.Time > sec/4 && !b.faultAt(asked.Time, at, b.felt(asked.Node)) {
			return true
		}
	}
	return false
}

// felt matches the faults of some nodes; where nobody says which are servers, any that is no client's may be one of theirs.
func (b brute) felt(nodes ...string) func(*trace.Fault) bool {
	return func(f *trace.Fault) bool {
		return b.anybodys(f) || slices.Contains(nodes, f.Target) || slices.ContainsFunc(nodes, func(n string) bool { return slices.Contains(f.Cut, n) })
	}
}

func TestStarvationAgrees(t *testing.T) {
	bothWays(t, 10, func(t *rapid.T) bool {
		b := newBuilder().kind(history.ReadWrite)
		b.setup.Promise.Order = true
		for n := range rapid.IntRange(1, 4).Draw(t, "clients") {
			node, at := fmt.Sprintf("client-%d", n+1), int64(0)
			step := func() int64 { at += rapid.Int64Range(1, 14).Draw(t, "step") * sec / 2; return at }
			for range rapid.IntRange(1, 3).Draw(t, "attempts") {
				mode := rapid.SampledFrom([]history.Mode{shared, exclusive}).Draw(t, "mode")
				switch rapid.IntRange(0, 7).Draw(t, "attempt") {
				case 0:
					b.op(step(), node, history.Invoke, history.Acquire, "k").Mode = mode
					b.op(step(), node, rapid.SampledFrom([]history.Type{history.Fail, history.Info}).Draw(t, "answer"), history.Acquire, "k")
				case 1:
					b.op(step(), node, history.Invoke, history.Try, "k").Mode = mode
					b.op(step(), node, history.Fail, history.Try, "k")
				default:
					h := b.as(step(), step(), node, mode, int64(len(b.ops)+1))
					b.op(step(), node, history.Invoke, history.Release, "k").Owner = h.owner
					if rapid.IntRange(0, 9).Draw(t, "late") == 0 {
						at += sec / 2
					}
					b.op(at+ms, node, history.OK, history.Release, "k").Owner = h.owner
				}
			}
			if rapid.IntRange(0, 3).Draw(t, "waits on") == 0 {
				b.op(step(), node, history.Invoke, history.Acquire, "k").Mode = rapid.SampledFrom([]history.Mode{shared, exclusive}).Draw(t, "mode")
			}
		}
		if rapid.Bool().Draw(t, "servers are named") {
			b.setup.Servers = []string{"server-1"}
		}
		if from := rapid.Int64Range(1, 60).Draw(t, "fault") * sec / 2; from < 20*sec {
			b.fault(from, from+sec, 1, "pause", rapid.SampledFrom([]string{"server-1", "client-1"}).Draw(t, "victim"))
		}
		r := newRun(b.done())
		want, open, all, excused, longest := brute{r}.starved()
		o := starvation(r)
		if o.found.certain != len(want) || o.found.possible != len(open) || (o.verdict == Unknown) != (all == 0 || excused > 0) || !strings.Contains(o.summary, fmt.Sprintf("%d of %d wait", len(want), all)) ||
			all > 0 && excused == 0 && !strings.Contains(o.reason, "took "+length(longest)) {
			t.Fatalf("%+v, want %v and perhaps %v of %d: %s, %s", o.found.list, want, open, all, o.summary, o.reason)
		}
		for _, i := range append(want, open...) {
			if !slices.ContainsFunc(o.found.list, func(v Violation) bool { return slices.Contains(v.Operations, i) }) {
				t.Fatalf("%+v, want %v", o.found.list, want)
			}
		}
		return len(want) > 0
	})
}

// A writer has waited for too long after 5 s, and a reader asked so much later.
func TestStarvationAtItsLimits(t *testing.T) {
	passed := func(asked, from, to int64) func(*builder) {
		return func(b *builder) {
			b.kind(history.ReadWrite)
			b.as(from, to, "client-1", exclusive, 9)
			b.as(asked, asked+1, "client-2", shared, 1)
		}
	}
	atLimits(t, "starvation", starvation, []limit{
		{"5 s", passed(4*sec, 0, 5*sec), Holds, "2 waits"},
		{"asked as it had waited for 5 s", passed(5*sec, 0, 9*sec), Holds, ""},
		{"asked just after", passed(5*sec+1, 0, 9*sec), Violated, "1 of 2 waits"},
	})
}

// A semaphore whose holders' clocks cannot be converted is not judged, nor is a reader's.
func TestSharedLeasesOfBentClocks(t *testing.T) {
	for _, k := range []history.Kind{history.ReadWrite, history.Semaphore} {
		b := newBuilder().kind(k)
		h := b.as(0, 10*ms, "client-1", "", 1)
		b.does(300*ms, h, history.Release, history.OK)
		g := b.as(20*ms, 400*ms, "client-2", "", 2)
		b.does(500*ms, g, history.Release, history.OK)
		b.bend("client-2", 390*ms, 9*sec, sec)
		if p := leaseExclusion(newRun(b.done())).property("lease-exclusion"); p.Verdict != Unknown || !strings.Contains(p.Reason, "The deadlines of 1 grant cannot be converted: the clock of client-2 moved") {
			t.Errorf("%s: %s: %s", k, p.Verdict, p.Reason)
		}
	}
}
