package checker

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// The definition of what a session may be told: there is an instant at which it can have been found alive, and it can have ended
// since by the time at which another was granted its lock.
func TestToldSafeAgrees(t *testing.T) {
	const grid, late = 50 * ms, 250 * ms
	bothWays(t, 10, func(t *rapid.T) bool {
		at := func(name string, least, most int64) int64 { return rapid.Int64Range(least, most).Draw(t, name) * grid }
		suspended := at("suspended", 1, 40)
		resumed, next := suspended+at("resumed after", 1, 40), at("next", 2, 80)+5*ms
		healed := at("cut until", 0, 60) // from 5 ms on
		stopped := at("stopped until", 0, 60)
		leased, session := rapid.Bool().Draw(t, "leased"), rapid.IntRange(0, 9).Draw(t, "session") > 0

		b := newBuilder()
		b.setup.Promise.Session, b.setup.Promise.Leased, b.setup.Servers = session, leased, []string{"server-1"}
		h := b.grantOf(0, 2*ms, "client-1", 1)
		b.note(suspended, h, history.Suspended)
		b.note(resumed, h, history.Resumed)
		b.grantOf(next-2*ms, next, "client-2", 2)
		if healed > 5*ms {
			b.partition(5*ms, healed, 1, []string{"client-1"}, b.setup.Servers)
		}
		if stopped > grid {
			b.fault(stopped-grid, stopped, 2, "pause", "client-1")
		}

		paused := stopped > grid && stopped >= suspended-late && stopped-grid <= suspended
		if paused && healed > 5*ms { // that may have broken its link before
			b.ops = slices.DeleteFunc(b.ops, func(op history.Op) bool { return op.Fault != nil && op.Fault.ID == 1 })
			healed = 0
		}
		explained := !session || next >= resumed-late || paused && stopped > suspended
		earliest := suspended - late
		if paused { // it lost its link then, or later
			earliest = max(earliest, stopped-late)
		}
		if stopped <= grid || stopped < resumed-late || stopped-grid > resumed { // it ran, so it was told at once
			earliest = max(earliest, resumed-late)
		}
		for x := earliest; x <= resumed; x += ms {
			reached := healed <= 5*ms || suspended >= healed || x >= healed-late
			explained = explained || reached && leased && x+sec-ms <= next
			explained = explained || reached && !leased && x <= next // nothing says how soon such a session ends
		}
		var f found
		newRun(b.done()).addToldSafe(&f)
		if got := f.certain + f.possible; (got > 0) == explained || f.possible > 0 && next >= suspended {
			t.Fatalf("suspended %d ms, resumed %d, next %d, cut until %d, stopped until %d, leased %v, session %v: %+v",
				suspended/ms, resumed/ms, next/ms, healed/ms, stopped/ms, leased, session, f.list)
		}
		return !explained
	})
}
