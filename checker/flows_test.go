package checker

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// A cut is as long as its connections stood: as long again as itself and half a second, or
// as long as the agent has seen. Who waits meanwhile accuses nobody.
func TestACutLastsUntilItsConnectionsFlow(t *testing.T) {
	const from, to = 4 * sec, 14 * sec // lease 1 s, so an aftermath of 1 s and a patience of 5 s
	story := func(kind string, again int64) Property {
		b := newBuilder()
		h := b.grant(sec, 1100*ms, "client-1", "k", 1)
		b.does(2*sec, h, history.Release, history.OK)
		b.fault(from, to, 1, kind, "server-1", "client-2")
		if again > 0 {
			b.op(again, "server-1", history.Note, history.Fault, "").Fault =
				&history.FaultNote{ID: 1, Kind: kind, Target: "server-1", Phase: history.Again}
		}
		b.refused(to+100*ms, 23*sec) // nobody holds the key, and its answer does not come
		b.final(24 * sec)
		setup, ops := b.done()
		return newRunProperty(setup, ops, "deadlock-freedom")
	}
	for _, test := range []struct {
		kind  string
		again int64
		want  Verdict
	}{
		{"pause", 0, Violated}, // patience counts from the heal
		{"partition", 0, Holds},
		{"partition", to + 9*sec, Holds},
		{"partition", to + 100*ms, Holds}, // others may have had no such luck as the probe
	} {
		if got := story(test.kind, test.again); got.Verdict != test.want {
			t.Errorf("%s, flows %d: %s: %s", test.kind, test.again, got.Verdict, got.Reason)
		}
	}
}
