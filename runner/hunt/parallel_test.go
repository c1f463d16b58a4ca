package hunt

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/golden"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// triedIn are the trials of a hunt's folder, by their numbers.
func triedIn(t *testing.T, dir string) map[int]string {
	t.Helper()
	all, _, err := readTrials(golden.Root(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	byNumber := map[int]string{}
	for _, x := range all {
		if byNumber[x.Number] != "" {
			t.Errorf("trial %d was run twice", x.Number)
		}
		byNumber[x.Number] = x.Scenario
	}
	return byNumber
}

// Several runs at a time find what one at a time finds, once, and draw the same trials from a seed:
// all but those that vary what was seen before.
func TestParallel(t *testing.T) {
	one := t.TempDir()
	alone := &world{}
	alone.shows = alone.renewing
	if err := hunting(t, alone, one, 60).Go(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir, w := t.TempDir(), &world{takes: 20 * time.Millisecond}
	w.shows = w.renewing
	h := hunting(t, w, dir, 90)
	h.Parallel = 4
	if err := h.Go(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.most != 4 || alone.most != 1 {
		t.Errorf("%d and %d runs at a time", w.most, alone.most)
	}
	if len(h.Report.Findings) != 1 || h.Report.Findings[0].Property != "release-by-owner" || len(h.Report.Left) != 1 {
		t.Errorf("%+v", h.Report)
	}
	before, now := triedIn(t, one), triedIn(t, dir)
	for n := 1; n <= min(len(before), len(now)); n++ {
		if use, at := h.Space.plainly(n, h.Shard); (use >= 0 || h.place(at).drawn) && before[n] != now[n] {
			t.Errorf("trial %d is another one:\n%s\n%s", n, before[n], now[n])
		}
	}
}

// A run that its neighbours have disturbed decides nothing: it is made again with nobody beside it.
func TestDisturbedIsRepeatedAlone(t *testing.T) {
	w := &world{disturbs: func(running int) bool { return running > 1 }}
	w.shows = func(o runner.Options) []string { return nil }
	dir := t.TempDir()
	h := hunting(t, w, dir, 1<<30)
	h.Parallel, h.slots, h.begun = 4, make(chan struct{}, 4), time.Now()
	s := &suspect{number: 1, seed: 1, trial: h.Space.Learn(), all: []*candidate{{cause: Cause{Name: "c"},
		Evidence: Evidence{Property: "release-by-owner", Compared: true}}}}
	w.shows = func(o runner.Options) []string {
		if o.Backend == "redis" {
			return nil
		}
		return []string{"release-by-owner"}
	}
	if err := h.examine(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	c := s.all[0]
	if c.Found.Seen < Again || c.Reference.Of != Repeats || len(h.Report.Findings) != 1 {
		t.Errorf("%+v", c.Evidence)
	}
}

// One run that is disturbed takes nobody's company: only the second one has the next runs made with nothing beside them.
func TestOneDisturbanceIsChance(t *testing.T) {
	for disturbed := range 3 {
		w, left := &world{}, disturbed
		w.disturbs = func(int) bool { left--; return left >= 0 }
		w.shows = func(o runner.Options) []string {
			if o.Backend == "redis" {
				return nil
			}
			return []string{"release-by-owner"}
		}
		h := hunting(t, w, t.TempDir(), 1<<30)
		h.Parallel, h.slots, h.begun = 4, make(chan struct{}, 4), time.Now()
		s := &suspect{number: 1, seed: 1, trial: h.Space.Learn(), all: []*candidate{{cause: Cause{Name: "c"},
			Evidence: Evidence{Property: "release-by-owner", Compared: true}}}}
		if err := h.examine(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		said := strings.Join(h.Watch.(*listener).said, "\n")
		if len(h.Report.Findings) != 1 || strings.Contains(said, "with nothing beside them") != (disturbed >= mostCompany) {
			t.Errorf("%d disturbed: %d findings\n%s", disturbed, len(h.Report.Findings), said)
		}
	}
}

// A trial waits while its cause is looked into, but not for long; what both show is one finding.
func TestLongLookKeepsNobodyWaiting(t *testing.T) {
	w := &world{shows: func(o runner.Options) []string {
		if o.Backend == "redis" {
			return nil
		}
		return []string{"release-by-owner"}
	}}
	h := hunting(t, w, t.TempDir(), 1<<30)
	h.slots, h.begun = make(chan struct{}, 1), time.Now()
	cause := Cause{Name: "c"}
	suspected := func(number int) *suspect {
		return &suspect{number: number, seed: 1, trial: h.Space.Learn(), all: []*candidate{{cause: cause,
			Evidence: Evidence{Property: "release-by-owner", Compared: true}}}}
	}
	h.suspects = []*suspect{suspected(1), suspected(2)}
	first := h.suspect()
	if first == nil || h.suspect() != nil {
		t.Fatal("the second did not wait for the first")
	}
	h.looking[cause.Name] = looked{cause, time.Now().Add(-longLook)}
	second := h.suspect()
	if second == nil {
		t.Fatal("the second waits although the first takes long")
	}
	for _, s := range []*suspect{second, first} {
		if err := h.examine(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.Report.Findings) != 1 || h.Report.Findings[0].Trial != 2 || h.Report.Findings[0].Again != 1 {
		t.Errorf("%+v", h.Report.Findings)
	}
}

// Once a hunt has had half as long again as it was given, and two minutes, nothing more is looked into: that is told, and that nothing was found says nothing.
func TestNoHuntGoesOnForEver(t *testing.T) {
	for over, want := range map[time.Duration]int{overtime - time.Second: 0, overtime: 1} {
		h := hunting(t, &world{shows: func(runner.Options) []string { return nil }}, t.TempDir(), 1<<30)
		h.For, h.slots = time.Minute, make(chan struct{}, 1)
		h.begun = time.Now().Add(-h.For - over)
		h.suspects = []*suspect{{number: 1, seed: 1, trial: h.Space.Learn(), all: []*candidate{{cause: Cause{Name: "c"},
			Evidence: Evidence{Property: "release-by-owner", Compared: true}}}}}
		if do := h.next(t.Context()); (do == nil) != (want == 1) || len(h.Report.Undecided()) != want {
			t.Errorf("%v over the time: %v, left %+v", over, do != nil, h.Report.Left)
		}
		h.Report.Trials = Least
		if little := h.Report.little(""); strings.Contains(little, "release-by-owner") != (want == 1) {
			t.Errorf("%v over the time: %q", over, little)
		}
	}
}

// What is seen no more where nothing disturbs a run is passing, also where the property speaks of nothing then; what the trial itself
// disturbs, with nothing beside it, is given up soon.
func TestRepeatsComeToAnEnd(t *testing.T) {
	for _, x := range []struct {
		disturbs bool
		want     Decision
		most     int
	}{{false, Passing, Again}, {true, Open, Again + 2*mostVain}} {
		w := &world{disturbs: func(int) bool { return x.disturbs }, shows: func(runner.Options) []string { return nil }}
		h := hunting(t, w, t.TempDir(), 1<<30)
		h.Parallel, h.slots, h.begun = 4, make(chan struct{}, 4), time.Now()
		s := &suspect{number: 1, seed: 1, trial: h.Space.Learn(), longer: true, all: []*candidate{{cause: Cause{Name: "c"},
			Evidence: Evidence{Property: "loss-noticed", Owed: checker.Service}}}} // the world's runs know nothing of it
		h.Reference = nil
		if err := h.examine(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if got, _ := Decide(s.all[0].Evidence); got != x.want || w.runs["broken/no-owner-check"] > x.most {
			t.Errorf("%+v: %s after %d runs: %+v", x, got, w.runs["broken/no-owner-check"], s.all[0].Evidence)
		}
	}
}

// What comes to no judgement in company is tried alone, and fewer go on beside each other from then on.
func TestFewerWhereTheMachineDoesNotBearThem(t *testing.T) {
	w := &world{takes: 5 * time.Millisecond}
	w.shows = func(runner.Options) []string { return nil }
	h := hunting(t, w, t.TempDir(), 60)
	run, crowd := h.Run, 0
	h.Parallel, h.Run = 4, func(ctx context.Context, o runner.Options, p runner.Progress) (*runner.Outcome, error) {
		w.mu.Lock()
		tooMany := w.running >= 2
		if tooMany {
			crowd++
		}
		w.mu.Unlock()
		if tooMany {
			time.Sleep(5 * time.Millisecond)
			return nil, errors.New("the cluster did not come up")
		}
		return run(ctx, o, p)
	}
	if err := h.Go(t.Context()); err != nil {
		t.Fatal(err)
	}
	if crowd == 0 || h.Report.Stopped != "" || h.less == 0 || h.less >= h.Parallel {
		t.Errorf("%d of %d runs at a time given up, %d were too many: %s", h.less, h.Parallel, crowd, h.Report.Stopped)
	}
}

// A number is tried once, by one shard, and what was not tried comes first when a hunt goes on.
func TestNumbers(t *testing.T) {
	h := hunting(t, &world{}, t.TempDir(), 1)
	h.taken = map[int]bool{1: true, 2: true, 4: true}
	if n := h.number(); n != 3 {
		t.Errorf("trial %d comes next, want 3", n)
	}
	h.Shard.Index, h.Shard.Count = 2, 3
	var own []int
	for range 4 {
		n := h.number()
		h.taken[n] = true
		own = append(own, n)
	}
	if !slices.Equal(own, []int{5, 8, 11, 14}) {
		t.Errorf("%v", own)
	}
}

// A fault that waits for what this lock alone does never strikes the reference lock: then that it shows no violation
// proves nothing, and the trial is made again without that fault. What needs it is no finding.
func TestReferenceMeetsOtherFaults(t *testing.T) {
	tests := map[string]struct {
		met, needed bool
		findings    int
	}{
		"each fault strikes":                   {met: true, findings: 1},
		"one does not, and is not needed":      {findings: 1},
		"one does not, and nothing without it": {needed: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{unmet: func(o runner.Options) bool { return o.Backend == "redis" && !test.met && len(o.Scenario.Faults) > 1 }}
			w.shows = func(o runner.Options) []string {
				if o.Backend == "redis" || test.needed && len(o.Scenario.Faults) < 2 {
					return nil
				}
				return []string{"mutual-exclusion"}
			}
			h := hunting(t, w, t.TempDir(), 1<<30)
			h.slots, h.begun = make(chan struct{}, 1), time.Now()
			trial := h.Space.Learn()
			own := scenarios.Fault{Name: "fault-2", Fault: "reset", Target: "clients", On: "acquired", When: scenarios.When{Name: "CLIENT"}}
			kept := scenarios.Fault{Name: "fault-1", Fault: "pause", Target: "holder", On: "acquired", For: span(leases(0.1))}
			own.After.Fault, kept.After.Fault = "", own.Name
			trial.Faults = []scenarios.Fault{own, kept}
			struck := map[history.Phase]bool{history.Observed: true}
			s := &suspect{number: 1, seed: 1, trial: trial, met: []map[history.Phase]bool{struck, {}},
				all: []*candidate{{cause: Cause{Name: "c"}, Evidence: Evidence{Property: "mutual-exclusion", Compared: true, Owed: checker.Data}}}}
			for h.suspects = []*suspect{s}; len(h.suspects) > 0; {
				if err := h.examine(t.Context(), h.suspect()); err != nil {
					t.Fatal(err)
				}
			}
			if len(h.Report.Findings) != test.findings || len(h.Report.Left) != 1-test.findings {
				t.Errorf("%+v %+v", h.Report.Findings, h.Report.Left)
			}
			if said := strings.Join(h.Watch.(*listener).said, "\n"); strings.Contains(said, "the trial without that follows") == test.met {
				t.Error(said)
			}
		})
	}
}

// Fewer runs go on at a time once the machine disturbs more than a third of the trials, and not before.
func TestCrowded(t *testing.T) {
	for disturbed, want := range map[int]bool{0: false, mostCrowd: false, mostCrowd + 1: true, crowdOf: true} {
		h := &Hunt{}
		for round := range 3 { // each dozen is counted for itself
			for n := range crowdOf {
				if got, last := h.crowded(n < disturbed), n == crowdOf-1; got != (want && last) {
					t.Errorf("%d disturbed of %d, round %d, trial %d: %v", disturbed, crowdOf, round, n, got)
				}
			}
		}
	}
}
