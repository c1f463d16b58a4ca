package hunt

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/nemesis/agent/links"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
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

// Each theme has its turn before a trial is varied, then two of three are drawn; the shards of a hunt have all
// themes between them, and each of them alone, too.
func TestPlaces(t *testing.T) {
	if turns := placed(len(rota)-1, matrix.Shard{}); !turns.drawn || turns.turn != len(rota)-1 {
		t.Errorf("the last turn of the first round is %+v", turns)
	}
	for count := 1; count < 6; count++ {
		all := map[int]bool{}
		for index := 1; index <= count; index++ {
			met, drawn := map[int]bool{}, 0
			const n = 200
			for trial := range n {
				at := placed(trial, matrix.Shard{Index: index, Count: count})
				if !at.drawn {
					continue
				}
				if drawn++; all[at.turn] {
					t.Errorf("turn %d comes twice in %d shards", at.turn, count)
				}
				all[at.turn], met[at.turn%len(rota)] = true, true
			}
			if len(met) != len(rota) || drawn < n*2/3 || drawn > n*4/5 {
				t.Errorf("shard %d of %d has %d themes in %d drawn trials of %d", index, count, len(met), drawn, n)
			}
		}
	}
}

// What is chosen in turn meets all of a list, also by a theme that has two turns in a round.
func TestVisits(t *testing.T) {
	of := map[uintptr][]int{}
	for turn := range 3 * len(rota) {
		f := reflect.ValueOf(rota[turn%len(rota)].draw).Pointer()
		if f == 0 {
			continue
		}
		of[f] = append(of[f], visit(turn))
	}
	for _, visits := range of {
		for n, v := range visits {
			if v != n {
				t.Errorf("visits %v", visits)
			}
		}
	}
}

// An adapter promises all until it has been opened: of what it does not offer, and of longer leases than needed, there is no trial.
func TestLearntWhatIsOffered(t *testing.T) {
	lock, err := libraries.Adapter("redis", []string{"mine"})
	if err != nil {
		t.Fatal(err)
	}
	s := Of(lock, true)
	if len(s.Workloads) != len(plain) || len(s.Leases) != len(leasesTried) {
		t.Errorf("before: %v, %v", s.Workloads, s.Leases)
	}
	s = s.Promised(history.Promise{Leased: true, Tries: true}).Learnt(nil, nil, 20)
	if want := []string{"guarded-write", "try", "leader", "own-key", "two-keys"}; !slices.Equal(s.Workloads, want) || len(s.Leases) != 3 || s.Extends {
		t.Errorf("after: %v, want %v; %v, extends %v", s.Workloads, want, s.Leases, s.Extends)
	}
}

// What each use of a lock sends comes before what is sent once, and what goes elsewhere is left out.
func TestLearntByHowOftenItCame(t *testing.T) {
	request := func(name string) links.Passed { return links.Passed{Direction: links.Request, Name: name} }
	s := Space{}.Learnt([]agent.Passed{{Passed: request("connect"), To: "zk-1", Count: 2}, {Passed: request("delete"), To: "zk-1", Count: 20},
		{Passed: request("create"), To: "zk-1", Count: 15}, {Passed: request("create"), To: "zk-2", Count: 7}, {Passed: request("read"), To: "resource", Count: 99}},
		[]string{"zk-1", "zk-2"}, 20)
	if want := []links.Passed{request("create"), request("delete")}; !slices.Equal(s.Usual, want) {
		t.Errorf("usual are %v, want %v", s.Usual, want)
	}
	if want := []links.Passed{request("create"), request("delete"), request("connect")}; !slices.Equal(s.Messages, want) {
		t.Errorf("learnt %v, want %v", s.Messages, want)
	}
}
