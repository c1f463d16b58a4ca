package matrix

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
)

// Cells have counts and seeds of their own and run in rounds.
func TestEachInRounds(t *testing.T) {
	s := spec(t, []string{"baseline"}, []string{"redis", "etcd"})
	s.Kind, s.Rounds, s.Each = "gate", true, []Each{{Count: 3, Seed: 5, Column: "redis (mine)"}, {Count: 1, Seed: 9, Column: "etcd"}}
	var seeds []uint64
	m, w := play(t, t.Context(), s, func(_ context.Context, o runner.Options) (*runner.Outcome, error) {
		seeds = append(seeds, o.Seed)
		return outcome(o, checker.Holds), nil
	})
	if want := []uint64{5, 9, 6, 7}; !slices.Equal(seeds, want) || w.runs != 4 {
		t.Errorf("seeds %v, want %v; %d runs", seeds, want, w.runs)
	}
	if c := m.index.Cells[0]; c.Backend != "redis (mine)" || len(c.Runs) != 3 || m.index.Worst() != reports.Good {
		t.Errorf("%+v", c)
	}
}

// A run that is not needed is no part of the index, one for which there is no time is
// marked, and neither begins; a repeat is not asked about.
func TestRunsThatAreLeftOut(t *testing.T) {
	for _, parallel := range []int{1, 2} {
		s := spec(t, []string{"baseline"}, []string{"redis", "etcd", "postgres"})
		s.Count, s.Parallel = 3, parallel
		s.Before = func(cell int, c pages.Cell) Next {
			done := slices.ContainsFunc(c.Runs, func(r pages.CellRun) bool { return r.Dir != "" })
			switch {
			case done && cell == 0:
				return Enough
			case done && cell == 1:
				return Late
			}
			return Go
		}
		s.Rounds = true
		// These runs take no time, so the third cell waits until the first runs of the
		// other two are in the index: what is asked before their next ones looks there.
		var first sync.WaitGroup
		first.Add(2)
		told := map[string]bool{"postgres": true}
		w := &witness{hears: func(c pages.Cell) {
			if !told[c.Backend] {
				told[c.Backend] = true
				first.Done()
			}
		}}
		var mu sync.Mutex
		seen := map[string]int{}
		m := playBefore(t, t.Context(), w, s, func(_ context.Context, o runner.Options) (*runner.Outcome, error) {
			if o.Backend == "postgres" {
				first.Wait()
			}
			mu.Lock()
			defer mu.Unlock()
			if seen[o.Backend]++; o.Backend == "redis" && seen["redis"] == 1 {
				return stalled(o), nil
			}
			return outcome(o, checker.Holds), nil
		})
		redis, etcd := m.index.Cells[0], m.index.Cells[1]
		if seen["redis"] != 2 || len(redis.Runs) != 2 || !redis.Runs[0].Repeated || redis.Verdict != reports.Good {
			t.Errorf("parallel %d: redis ran %d times: %+v", parallel, seen["redis"], redis)
		}
		if seen["etcd"] != 1 || len(etcd.Runs) != 3 || etcd.Runs[1].Verdict != reports.NotRun || etcd.Verdict != reports.NotRun {
			t.Errorf("parallel %d: etcd ran %d times: %+v", parallel, seen["etcd"], etcd)
		}
		if seen["postgres"] != 3 || !m.index.Ended {
			t.Errorf("parallel %d: %v", parallel, seen)
		}
		if m.left != [2]int{} {
			t.Errorf("parallel %d: %v runs seem to be left", parallel, m.left)
		}
	}
}
