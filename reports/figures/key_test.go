package figures

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/sample"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// The time that nobody held a key although somebody waited, against counting instant by instant.
func TestGapsAgainstCounting(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var edges []edge
		const end = 40
		holds, waits := make([]int, end), make([]int, end)
		for range rng.IntN(8) {
			from := rng.IntN(end - 1)
			to := from + 1 + rng.IntN(end-from-1)
			h := rng.IntN(2)
			edges = append(edges, edge{int64(from), h, 1 - h}, edge{int64(to), -h, h - 1})
			for i := from; i < to; i++ {
				holds[i] += h
				waits[i] += 1 - h
			}
		}
		slices.SortStableFunc(edges, func(a, b edge) int { return int(a.at - b.at) })
		free := gaps(edges)
		for i := range end {
			want := waits[i] > 0 && holds[i] == 0
			if got := slices.ContainsFunc(free, func(s timeline.Span) bool { return s.From <= int64(i) && int64(i) < s.To }); got != want {
				t.Fatalf("seed %d, at %d: free %v, want %v: %v", seed, i, got, want, free)
			}
		}
	}
}

// The figures of a history that can be worked out by hand.
func TestKeyFigures(t *testing.T) {
	ms := int64(time.Millisecond)
	setup := history.Setup{Promise: history.Promise{Leased: true}, Lease: time.Second, Keys: []string{"k"}, Clients: []string{"a", "b"}}
	op := func(at int64, node string, process int, ty history.Type, f history.F, owner string) history.Op {
		o := history.Op{Time: at * ms, Node: node, Process: process, Type: ty, F: f, Key: "k", Owner: owner}
		if ty == history.OK {
			o.Sent, o.Deadline = o.Time, o.Time+int64(time.Second)
		}
		return o
	}
	ops := []history.Op{
		op(0, "a", 1, history.Invoke, history.Acquire, ""), op(10, "a", 1, history.OK, history.Acquire, "a/1"),
		op(20, "b", 2, history.Invoke, history.Acquire, ""),
		{Time: 100 * ms, Node: "a", Type: history.Note, F: history.Fault, Fault: &history.FaultNote{ID: 1, Kind: "pause", Target: "a", Phase: history.Begin}},
		op(900, "b", 2, history.OK, history.Acquire, "b/1"),
		{Time: 950 * ms, Node: "a", Type: history.Note, F: history.Fault, Fault: &history.FaultNote{ID: 1, Kind: "pause", Target: "a", Phase: history.Heal}},
		op(1000, "a", 1, history.Invoke, history.Release, "a/1"), op(1010, "a", 1, history.OK, history.Release, "a/1"),
		op(1100, "b", 2, history.Invoke, history.Release, "b/1"), op(1110, "b", 2, history.OK, history.Release, "b/1"),
		op(1200, "a", 1, history.Invoke, history.Acquire, ""), op(1700, "a", 1, history.OK, history.Acquire, "a/2"),
		op(2000, "b", 2, history.Invoke, history.Try, ""), op(2000, "b", 2, history.Fail, history.Try, ""),
		{Time: 2000 * ms, Type: history.Note, F: history.Final},
		op(2100, "final", 9, history.Invoke, history.Acquire, ""), op(9000, "final", 9, history.OK, history.Acquire, "z/1"),
	}
	for i := range ops {
		ops[i].Index = i
	}
	tr := timeline.New(setup, ops)
	k := KeyOf(tr, timeline.NewTracks(tr), checker.Result{})
	got := fmt.Sprint(k.Acquires, k.NotGranted, k.AcquireMax.Round(time.Millisecond), k.GrantsPerSecond, k.LongestFree, k.LongestFreeAt, k.Recovery, k.Recovered, k.Twice)
	if want := "3 1 880ms 1.5 500ms 1.2s 800ms 1 100ms"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A comparison and the run's own page say the same of recovery, also where a fault
// struck every client, as one that cuts servers off does.
func TestComparedRecovery(t *testing.T) {
	most := map[string]time.Duration{}
	for _, name := range sample.RealRuns {
		setup, ops := sample.Recorded(t, name)
		r := checker.Judge(setup, ops)
		tr := timeline.New(setup, ops)
		for _, one := range Measure(setup, ops, r).Recoveries {
			most[name] = max(most[name], time.Duration(one.Waited))
		}
		if k := KeyOf(tr, timeline.NewTracks(tr), r); k.Recovery != most[name] {
			t.Errorf("%s: compared %s, on its page %s", name, k.Recovery, most[name])
		}
	}
	if most["partition-majority-redlock"] < 4*time.Second {
		t.Errorf("after a majority was away: %s", most["partition-majority-redlock"])
	}
}
