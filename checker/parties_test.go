package checker

import (
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
