package hunt

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// What came again too seldom to count, and never at the reference lock, is varied above all others.
func TestPress(t *testing.T) {
	var p Pool
	var s Seen
	for n := range 30 {
		s.Features = nil
		for i := range keptFrom {
			s.Features = append(s.Features, fmt.Sprintf("%d of %d", i, n))
		}
		p.Add(n, scenarios.Scenario{}, s)
	}
	p.Press(7, scenarios.Scenario{})
	p.Press(100, scenarios.Scenario{}) // which had shown nothing new
	sum, of := 0.0, 0.0
	for _, k := range p.kept {
		sum += k.weight()
		if k.number == 7 || k.number == 100 {
			of += k.weight()
		}
	}
	if len(p.kept) != 31 || of < sum/5 {
		t.Errorf("%d kept; the two are varied %.2f of the time", len(p.kept), of/sum)
	}
}

// A trial that is looked into keeps its seed, at this lock and at the reference lock: which client a fault strikes depends on it.
func TestRepeatsKeepTheSeed(t *testing.T) {
	w := &world{}
	w.shows = w.renewing
	h := hunting(t, w, t.TempDir(), 40)
	run, seeds, runs := h.Run, map[uint64]bool{}, 0
	var mu sync.Mutex
	h.Run = func(ctx context.Context, o runner.Options, p runner.Progress) (*runner.Outcome, error) {
		mu.Lock()
		seeds[o.Seed], runs = true, runs+1
		mu.Unlock()
		return run(ctx, o, p)
	}
	if err := h.Go(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := h.Report
	if len(r.Findings) == 0 || runs < r.Trials+2*Repeats-1 {
		t.Fatalf("%d findings of %d runs: nothing was looked into", len(r.Findings), runs)
	}
	f := r.Findings[0]
	if len(seeds) > r.Trials+1 || !seeds[f.Seed] { // and the one without faults, of which it learns
		t.Errorf("%d seeds in %d trials", len(seeds), r.Trials)
	}
}

// Beside a lock whose session renews by itself the reference lock renews, too: two clients that wait for each
// other's keys wait on there, and the difference is no finding.
func TestReferenceRenewsBesideASession(t *testing.T) {
	w := &world{}
	w.shows = w.renewing
	h := hunting(t, w, t.TempDir(), 40)
	h.Space.Extends, h.Space.Renews = false, true
	run, renewing := h.Run, map[bool]map[bool]int{true: {}, false: {}}
	var mu sync.Mutex
	h.Run = func(ctx context.Context, o runner.Options, p runner.Progress) (*runner.Outcome, error) {
		mu.Lock()
		renewing[o.Backend == h.Reference.Backend && o.Library == h.Reference.Library][o.Scenario.Renew]++
		mu.Unlock()
		return run(ctx, o, p)
	}
	if err := h.Go(t.Context()); err != nil {
		t.Fatal(err)
	}
	if beside := renewing[true]; beside[false] > 0 || beside[true] == 0 || renewing[false][false] == 0 {
		t.Errorf("runs by whether they renew: of the reference lock %v, of this one %v", beside, renewing[false])
	}
}
