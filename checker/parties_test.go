package checker

import (
	"slices"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// What the resource logged is its client's doing: one that was not scheduled between its grant
// and its write accuses nobody, whoever recorded the operations that show the loss.
func TestStallOfAWriterThatTheResourceNames(t *testing.T) {
	for name, c := range map[string]struct {
		node     string
		from, to int64
		cut      string
		want     Verdict
	}{
		"nobody":                          {want: Violated},
		"the writer, until it wrote":      {node: "client-1", from: 30 * ms, to: 2500 * ms, want: Unknown},
		"the writer, before what it lost": {node: "client-1", from: 30 * ms, to: 1300 * ms, want: Unknown},
		"the writer, before its grant":    {node: "client-1", from: -900 * ms, to: -100 * ms, want: Violated},
		"somebody else":                   {node: "client-3", from: 30 * ms, to: 2500 * ms, want: Violated},
		"not known of the writer":         {cut: "client-1", want: Unknown},
		"not known of somebody else":      {cut: "client-3", want: Violated},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBuilder()
			stale := b.grantOf(sec, sec+10*ms, "client-1", 1)
			b.read(sec+20*ms, stale)
			now := b.grantOf(sec+500*ms, sec+1500*ms, "client-2", 2)
			b.read(sec+1600*ms, now)
			b.write(sec+1700*ms, now)
			b.does(sec+1800*ms, now, history.Release, history.OK)
			b.write(sec+2500*ms, stale)
			if c.node != "" {
				b.op(sec+c.to, c.node, history.Note, history.Stall, "").Length = c.to - c.from
			}
			b.final(9 * sec)
			if c.cut != "" {
				b.truncated(c.cut, sec+2400*ms)
				b.ended(c.cut)
			} else {
				b.ended()
			}
			if p := judgeAll(b.done()).Property("no-lost-update/unfenced"); p.Verdict != c.want {
				t.Errorf("%s: %s", p.Verdict, p.Reason)
			}
		})
	}
}

// A stall of whoever asked for what the resource logged, or of the resource, may have delayed it, each since the grant that it was done on.
func TestParties(t *testing.T) {
	b := newBuilder()
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.decide(500*ms, h, true)
	b.charges(600*ms, h, h.owner)
	happened := b.op(600*ms+ms/2, "resource", history.Note, history.Happened, "k")
	happened.Owner, happened.Value = h.owner, "charge 1"
	b.charges(700*ms, h, "nobody") // as an owner that nobody was granted
	b.ops[len(b.ops)-1].Value, b.ops[len(b.ops)-2].Value = "charge 2", "charge 2"
	happened = b.op(700*ms+ms/2, "resource", history.Note, history.Happened, "k")
	happened.Owner, happened.Value = "nobody", "charge 2"
	setup, ops := b.done()
	r := newRun(setup, ops)
	sent := 9 * ms
	for name, c := range map[string]struct {
		f     history.F
		value string
		want  []party
	}{
		"a write":               {history.Apply, "v1", []party{{"resource", sent}, {"client-1", sent}}},
		"an effect":             {history.Happened, "charge 1", []party{{"resource", sent}, {"client-1", sent}}},
		"an effect of a nobody": {history.Happened, "charge 2", []party{{"resource", 700*ms + ms/2}, {"client-1", 700 * ms}}},
	} {
		at := slices.IndexFunc(r.Ops, func(op history.Op) bool { return op.F == c.f && op.Value == c.value })
		since := map[string]int64{} // each counts from the first time that is told of it
		for _, p := range r.parties([]int{at}) {
			if from, known := since[p.node]; !known || p.from < from {
				since[p.node] = p.from
			}
		}
		for _, p := range c.want {
			if got, known := since[p.node]; !known || got != origin+p.from {
				t.Errorf("%s: %s from %d µs (known: %v), want %d", name, p.node, (got-origin)/1000, known, p.from/1000)
			}
		}
		if len(since) != len(c.want) {
			t.Errorf("%s: %v", name, since)
		}
	}
}
