package checker

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// The definition of a row of faults that stops all grants, asked of every half second.

const half = sec / 2

// rowed draws short faults of one server of three, grants that are given back at once, and waits, all
// of half seconds. The patience is 5 s, a lease and the bound are 1 s.
func rowed(t *rapid.T) *run {
	number := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
	b := newBuilder()
	b.setup.Servers = []string{"server-1", "server-2", "server-3"}
	at := 1 + number("first", 4)
	for i := range 1 + number("faults", 6) {
		long := 1 + number("lasts", 3)
		b.fault(at*half, (at+long)*half, int(i)+1, "kill", "server-3")
		at += long + 1 + number("apart", 12)
	}
	for i := range number("grants", 2) {
		when := number("granted", 50) * half
		h := b.grantOf(when, when, fmt.Sprint("g", i), i+1)
		b.does(when, h, history.Release, history.OK)
	}
	for i := range 1 + number("waits", 2) {
		from, node := number("asks", 40)*half, fmt.Sprint("w", i)
		b.op(from, node, history.Invoke, history.Acquire, "k")
		b.op(from+(1+number("waits for", 50))*half, node, history.Fail, history.Acquire, "k")
	}
	b.op(60*half, "runner", history.Note, history.Final, "")
	return newRun(b.done())
}

// rows counts the groups of faults, each at most our patience after the one before, within which
// somebody waited for more than 6 s and nobody was granted the key.
func (b brute) rows() (n int) {
	k := b.r.named("k")
	faults := slices.Clone(b.r.Faults) // in order, one after the other
	for len(faults) > 0 {
		from, to := faults[0].From, faults[0].To
		for faults = faults[1:]; len(faults) > 0 && faults[0].From-to <= 5*sec; faults = faults[1:] {
			to = faults[0].To
		}
		longest, lasts := int64(0), int64(0)
		for at := from; at < to; at += half {
			for _, g := range k.Grants {
				if g.OK == at {
					lasts = 0
				}
			}
			waits := false
			for _, w := range k.Waits {
				waits = waits || w.From <= at && at < w.To
			}
			if lasts += half; !waits {
				lasts = 0
			}
			longest = max(longest, lasts)
		}
		if longest > 6*sec {
			n++
		}
	}
	return n
}

func TestRowOfFaultsAgrees(t *testing.T) {
	bothWays(t, 10, func(t *rapid.T) bool {
		r := rowed(t)
		var f found
		r.rowOfFaults(r.incidents(), &f)
		want := brute{r}.rows()
		if f.certain != want || f.possible > 0 {
			for _, op := range r.Ops {
				t.Logf("%2d %6.1f %s %s %s %v", op.Index, float64(op.Time-origin)/1e9, op.Node, op.Type, op.F, op.Fault)
			}
			t.Fatalf("want %d: %+v", want, f.list)
		}
		return want > 0
	})
}
