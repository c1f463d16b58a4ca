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

// watched draws holders that renew, are told of this and that, and are stopped or not.
func watched(t *rapid.T) *run {
	b := newBuilder().kind(history.Watchdog)
	number := func(name string, least, most int) int64 { return int64(rapid.IntRange(least, most).Draw(t, name)) }
	b.setup.Expect.Faults = int(number("faults wanted", 0, 1))
	b.setup.Servers = []string{"server-1", "server-2", "server-3"}
	b.setup.Promise.Renews = number("renews by itself", 0, 1) == 1
	for n := range number("clients", 1, 2) {
		node, at := fmt.Sprintf("client-%d", n+1), int64(0)
		step := func() int64 { at += number("step", 1, 8) * 125 * ms; return at }
		h := b.grantOf(step(), step(), node, n+1)
		if number("has no end", 0, 9) == 0 {
			b.ops[len(b.ops)-1].Deadline = 0
		}
		for range number("steps", 0, 4) {
			switch number("what", 0, 9) {
			case 0, 1:
				b.note(step(), h, history.Suspended)
			case 2:
				b.note(step(), h, history.Resumed)
			case 3:
				b.note(step(), h, history.Lost)
			case 4:
				b.write(step(), h)
			case 5:
				b.does(step(), h, history.Extend, history.OK)
				b.ops[len(b.ops)-1].Deadline = 0
			default:
				b.does(step(), h, history.Extend, history.OK)
			}
		}
		if number("gives back", 0, 1) == 0 {
			b.does(step(), h, history.Release, history.OK)
		}
	}
	for id := range number("faults", 0, 2) {
		from := number("from", 1, 30) * 125 * ms
		kind := rapid.SampledFrom([]string{"pause", "stall-worker", "partition"}).Draw(t, "fault")
		var cut []string
		if kind == "partition" {
			cut = b.setup.Servers[:number("servers cut", 1, 3)]
		}
		b.fault(from, from+number("length", 1, 20)*125*ms, int(id)+1, kind, fmt.Sprintf("client-%d", number("target", 1, 2)), cut...)
	}
	setup, ops := b.done()
	if err := history.Validate(setup, ops); err != nil {
		t.Fatal(err)
	}
	return newRun(setup, ops)
}

// unnoticed are the operations that made a claim whose holder believed in it beyond its
// end, not warned and not stopped; renewed and told count renewals and warnings.
func (b brute) unnoticed() (late []int, renewed, told, parted int) {
	for _, g := range b.r.Grants {
		until := min(g.End, g.Told)
		var said []int // all that it was told of its claim, in order
		for i := range b.r.Ops {
			op := &b.r.Ops[i]
			renewal := op.F == history.Extend && op.Type == history.OK
			if op.Owner == g.Owner && op.Time <= until && (i == g.Op || renewal || op.F == history.Suspended || op.F == history.Resumed) {
				said = append(said, i)
			}
		}
		if g.Told < trace.Forever {
			told++
		}
		var deadline int64 // what is claimed, by the clock of the node
		for n, i := range said {
			op, next := &b.r.Ops[i], until
			if n+1 < len(said) {
				next = b.r.Ops[said[n+1]].Time
			}
			switch op.F {
			case history.Suspended:
				if b.r.Ops[said[n-1]].F != history.Suspended {
					told++
				}
				continue
			case history.Extend:
				renewed++
				deadline = op.Deadline
			case history.Acquire:
				deadline = op.Deadline
			}
			end, ends := deadline-ahead, deadline != 0
			if b.r.Setup.Promise.Renews && op.F != history.Extend { // the last that anybody can have heard of
				if end, ends = b.cutOff(g.Node, op.Time, next); !ends {
					continue
				}
				parted++
				end += ms
			}
			if ends && next > end && !b.stoppedBefore(g.Node, end-ms, next) {
				late = append(late, i)
			}
		}
	}
	return late, renewed, told, parted
}

// cutOff is when the last lease ends that a client can have heard of between two times, as two servers at least were cut
// off from it then, and for a lease.
func (b brute) cutOff(node string, from, to int64) (end int64, cut bool) {
	end = trace.Forever
	for _, f := range b.r.Faults {
		if last := max(f.From+sec/4, from); f.Target == node && len(f.Cut) > 1 && last < to && last+sec < f.To-sec/4 {
			end, cut = min(end, last+sec), true
		}
	}
	return end, cut
}

// stoppedBefore says whether a program of a node was stopped in the half of a lease before a time,
// and did not run again for a lease before another.
func (b brute) stoppedBefore(node string, at, believed int64) bool {
	return slices.ContainsFunc(b.r.Faults, func(f *trace.Fault) bool {
		return f.Target == node && f.Kind != "partition" && f.From <= at && at <= f.To+sec/2 && believed <= max(f.To, at)+sec
	})
}

func TestLossNoticedAgrees(t *testing.T) {
	seen := map[Verdict]int{}
	bothWays(t, 10, func(t *rapid.T) bool {
		r := watched(t)
		late, renewed, told, parted := brute{r}.unnoticed()
		want, reason := Holds, fmt.Sprintf("%d holder", told)
		switch {
		case len(late) > 0:
			want, reason = Violated, fmt.Sprintf("%d were told", told)
		case renewed+parted == 0 && r.Setup.Promise.Renews:
			want, reason = Unknown, "Nobody records"
		case renewed+parted == 0:
			want, reason = Unknown, "Nothing was renewed"
		case told == 0 && r.Setup.Expect.Faults == 0:
			want, reason = NA, fmt.Sprintf("No claim ran out: all of %d renewal", renewed)
		case told == 0:
			want, reason = Unknown, "No claim ran out while its holder ran"
		}
		p := lossNoticed(r).property("loss-noticed")
		if p.Verdict != want || !strings.Contains(p.Reason, reason) || len(p.Violations) != len(late) {
			t.Fatalf("%s: %s; want %s: %s %v", p.Verdict, p.Reason, want, reason, late)
		}
		for n, i := range late {
			if !slices.ContainsFunc(p.Violations, func(v Violation) bool { return slices.Contains(v.Operations, i) }) {
				t.Fatalf("%+v, want one of %d", p.Violations, late[n])
			}
		}
		seen[want]++
		return len(late) > 0
	})
	if len(seen) < 4 {
		t.Errorf("not all verdicts: %v", seen)
	}
}

// reads has client-1 ask for another key, which is told what its clock says.
func (b *builder) reads(t int64) {
	b.process["client-1"] = 50
	b.op(t, "client-1", history.Invoke, history.Try, "other")
	b.op(t+ms, "client-1", history.Fail, history.Try, "other")
}

// The last renewal is sent at 0.3 s, so its claim ends at 1.3 s, less what clocks leave open.
func TestLossNoticedAtItsLimits(t *testing.T) {
	held := func(b *builder) {
		b.kind(history.Watchdog)
		b.setup.Expect.Faults = 1
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.does(300*ms, h, history.Extend, history.OK)
		b.does(2*sec, h, history.Release, history.OK)
	}
	stopped := func(from, to int64) func(*builder) {
		return func(b *builder) { held(b); b.fault(from, to, 1, "pause", "client-1") }
	}
	ends := 1300*ms - trace.ClockNoise
	atLimits(t, "loss-noticed", lossNoticed, []limit{
		{"stopped until half a lease before", stopped(100*ms, ends-500*ms), Unknown, "(1 ran out while it was stopped)"},
		{"not so long", stopped(100*ms, ends-500*ms-1), Violated, "1 holder was not told before the claim ended; 0 were told"},
		{"stopped as the claim ends", stopped(ends, 2*sec), Unknown, "(1 ran out while it was stopped)"},
		{"just after", stopped(ends+1, 2*sec), Violated, "1 holder was not told"},
		{"its clock was moved", func(b *builder) { held(b); b.bend("client-1", sec, 3*sec, sec) }, Unknown, "The deadlines of 1 claim cannot be converted"},
		{"and read before", func(b *builder) { held(b); b.reads(1200 * ms); b.bend("client-1", sec, 3*sec, sec) }, Violated, "1 holder was not told"},
		{"its clock stood still", func(b *builder) { held(b); b.reads(1900 * ms); b.bend("client-1", sec, 3*sec, -900*ms) }, Unknown, "The deadlines of 1 claim"},
		{"and a server's, too", func(b *builder) {
			held(b)
			b.reads(1200 * ms)
			b.bend("client-1", sec, 3*sec, sec)
			b.fault(sec, 3*sec, 1, "clock", "redis")
		}, Unknown, "The deadlines of 2 claims"},
	})
}
