package timeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// Who believed to hold a key at once, against asking of every pair.
func TestTwiceAgainstPairs(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 9))
		tr := &View{Trace: &trace.Trace{ByKey: map[string]*trace.Key{}, ByOwner: map[string]*trace.Grant{}}}
		for i := range 2 {
			k := &trace.Key{Name: fmt.Sprint("k", i), Index: i}
			tr.Keys, tr.ByKey[k.Name] = append(tr.Keys, k), k
		}
		at := int64(0)
		for i := range 30 {
			at += rng.Int64N(20)
			client := rng.IntN(4)
			g := &trace.Grant{Key: tr.Keys[rng.IntN(2)], Node: fmt.Sprint("c", client), Process: client, Op: i, EndOp: -1, OK: at, Until: at + rng.Int64N(60), Mode: history.Exclusive}
			tr.Ops = append(tr.Ops, history.Op{Time: at, Type: history.OK, F: history.Acquire, Process: client})
			tr.Grants, g.Key.Grants = append(tr.Grants, g), append(g.Key.Grants, g)
		}
		var want []string
		for i, g := range tr.Grants {
			for _, h := range tr.Grants[:i] {
				if from, to := max(g.OK, h.OK), min(g.Until, h.Until); g.Key == h.Key && g.Node != h.Node && from < to {
					want = append(want, fmt.Sprint(from, to, g.Key.Name, h.Node, g.Node))
				}
			}
		}
		var got []string
		for _, x := range NewTracks(tr).Twice {
			got = append(got, fmt.Sprint(x.From, x.To, x.Key, x.A, x.B))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d:\n%q\nwant\n%q", seed, got, want)
		}
	}
}
