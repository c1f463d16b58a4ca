package checker

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// The definition of a holder whose renewals nobody answers, asked of every two of its renewals.

// renewing draws holders of a key each that ask for renewals, answered or not, beside faults.
func renewing(t *rapid.T) *run {
	number := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
	b := newBuilder()
	b.setup.Keys, b.setup.Servers = []string{"k", "l"}, []string{"server-1", "server-2", "server-3"}
	b.setup.Promise.Renews = number("renews by itself", 1) == 0
	process := 100
	for n, key := range b.setup.Keys {
		h := b.grant(0, ms, fmt.Sprintf("client-%d", n+1), key, int64(n+1))
		at := sec * number("first", 2)
		for range number("renewals", 9) {
			at += rapid.SampledFrom([]int64{200 * ms, 500 * ms, sec, 2 * sec}).Draw(t, "next")
			process++
			says := func(at int64, typ history.Type) {
				b.op(at, h.node, typ, history.Extend, key).Owner = h.owner
				b.ops[len(b.ops)-1].Process = process
			}
			says(at, history.Invoke)
			if end := rapid.SampledFrom([]history.Type{history.OK, history.Fail, history.Info, history.Info, history.Info, ""}).Draw(t, "ends"); end != "" {
				says(at+rapid.SampledFrom([]int64{ms, 300 * ms, 900 * ms}).Draw(t, "takes"), end)
			}
		}
		if number("is told of a loss", 4) == 0 {
			b.op(at+number("told", 2)*sec, h.node, history.Note, history.Lost, key).Owner = h.owner
		}
		if number("is asked to end", 3) == 0 {
			b.op(at+number("stops", 3)*sec, h.node, history.Note, history.Stop, "")
		}
	}
	for i := range 1 + number("faults", 2) {
		from := number("hits", 20)*sec/2 + 1
		kind := rapid.SampledFrom([]string{"kill", "pause", "latency", "blackhole"}).Draw(t, "kind")
		to, at := from+(1+number("lasts", 16))*sec/2, rapid.SampledFrom([]string{"server-1", "server-1", "server-1", "client-1"}).Draw(t, "at")
		if kind == "latency" {
			b.slow(from, to, int(i)+1, at, number("slow", 2)*200*ms)
			continue
		}
		b.fault(from, to, int(i)+1, kind, at)
	}
	return newRun(b.done())
}

// renewal is one that was asked for: whether it was answered, and until when its client waited.
type renewal struct {
	from, to       int64
	answered, lost bool // lost: its own node was at fault
}

func (b brute) renewals(g *trace.Grant) (all []renewal) {
	for i, op := range b.r.Ops {
		if op.F != history.Extend || op.Type != history.Invoke || op.Owner != g.Owner {
			continue
		}
		one, ended := renewal{from: op.Time, to: trace.Forever}, false
		for _, done := range b.r.Ops[i+1:] {
			if done.F == history.Extend && done.Type != history.Invoke && done.Process == op.Process {
				one.to, one.answered, ended = done.Time, done.Type != history.Info, true
				break
			}
		}
		until := one.to
		for _, note := range b.r.Ops {
			dies := note.Fault != nil && note.Fault.Kind == "kill" && note.Fault.Phase == history.Begin && note.Fault.Target == op.Node && note.Time >= op.Time
			if !ended && note.Node == op.Node && note.F == history.Stop || !ended && dies {
				until = min(until, note.Time)
			}
		}
		for _, f := range b.r.Faults {
			slight := f.Kind == "latency" && f.Slow > 0 && f.Slow <= 250*ms
			if f.Target == op.Node && !slight && f.From <= one.to && f.To+int64(b.r.Setup.Lease)+int64(b.r.Setup.Promise.Bound) >= one.from {
				one.lost = true
			}
		}
		if one.to = until; until == trace.Forever || until <= one.from {
			one.to = one.from // nothing is known of how long its client waited
		}
		all = append(all, one)
	}
	return all
}

// unanswered are the times from which a holder that a fault has not hit was answered nothing for
// longer than a limit, within the fault.
func (b brute) unanswered(in *incident, limit int64) (from []int64) {
	for _, g := range b.r.Grants {
		hit := slices.ContainsFunc(b.r.Faults, func(f *trace.Fault) bool { return f.ID == in.id && f.Target == g.Node && f.Kind != "clock" })
		all := b.renewals(g)
		for i, first := range all {
			longest := int64(-1)
			for j := i; j < len(all) && !all[j].lost; j++ {
				longest = max(longest, min(all[j].to, g.Until))
				if all[j].answered {
					longest = min(all[j].to, g.Until)
					break
				}
			}
			begins := i == 0 || all[i-1].answered || all[i-1].lost
			start, end := max(first.from, in.from), min(longest, in.to, b.r.End)
			if begins && !hit && end-start > limit {
				from = append(from, start)
			}
		}
	}
	slices.Sort(from)
	return from
}

func TestUnrenewedAgrees(t *testing.T) {
	bothWays(t, 10, func(t *rapid.T) bool {
		r := renewing(t)
		limit, some := r.aftermath()+int64(rapid.IntRange(0, 1).Draw(t, "more"))*sec, false
		for _, in := range r.incidents() {
			var f found
			r.unrenewed(in, limit, &f)
			var got []int64
			for _, v := range f.list {
				got = append(got, v.At-limit)
			}
			slices.Sort(got)
			want := brute{r}.unanswered(in, limit)
			if !slices.Equal(got, want) {
				for _, op := range r.Ops {
					t.Logf("%2d %6.1f %s %d %s %s %v", op.Index, float64(op.Time-origin)/1e9, op.Node, op.Process, op.Type, op.F, op.Fault)
				}
				t.Fatalf("of fault %d: %v, want %v", in.id, got, want)
			}
			some = some || len(want) > 0
		}
		return some
	})
}
