package shrink

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/internal/stats"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

const property = "lease-exclusion"

// mute is a Watcher that remembers what has ended.
type mute struct{ ended []Candidate }

func (m *mute) Begins(Candidate) runner.Progress { return nil }
func (m *mute) Ended(c Candidate, _ bool)        { m.ended = append(m.ended, c) }

// noisy is a scenario with much in it that may go.
func noisy(t *testing.T) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Parse("noisy.yaml", []byte(`name: noisy
title: Much goes wrong
about: Much of it for nothing.
workload: guarded-write
clients: 5
keys: 7
lease: 2s
duration: 4 lease
after: 3 lease
faults:
  - {fault: pause, target: a-waiter, at: 1 lease, for: 1 lease}
  - {name: jump, fault: clock, target: majority, at: 0.5 lease, clock: {step: 2 lease}, for: 1 lease, optional: true, stream: 2}
  - {after: jump, fault: pause, target: client-2, for: 1 lease}
  - {name: again, fault: pause, target: a-server, at: 1 lease, for: 0.5 lease, count: 6, every: 0.1 lease}
  - {after: again, fault: kill, target: a-server, for: 1 lease}
expect: {contention: 1, faults: 3, stale-writes: 1}
`))
	if err != nil {
		t.Fatal(err)
	}
	return *s
}

// world is a fake of real runs: which scenarios violate, and what is odd about it.
type world struct {
	violates func(scenarios.Scenario) bool
	run      func(n int) (out *runner.Outcome, err error) // instead, where it returns something
	runs     int
	asked    []runner.Options
}

func (w *world) Run(ctx context.Context, o runner.Options, _ runner.Progress) (*runner.Outcome, error) {
	w.runs++
	w.asked = append(w.asked, o)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if w.run != nil {
		if out, err := w.run(w.runs); out != nil || err != nil {
			return out, err
		}
	}
	if w.violates(o.Scenario) {
		return judged(checker.Violated), nil
	}
	return judged(checker.Holds), nil
}

func judged(v checker.Verdict) *runner.Outcome {
	return &runner.Outcome{Dir: "run", Result: checker.Result{Verdict: v, Properties: []checker.Property{{Name: property, Verdict: v}}}}
}

// stalled is the outcome of a run in which the machine stalled a node.
func stalled() *runner.Outcome {
	out := judged(checker.Unknown)
	out.Result.Properties[0].Disturbed = true
	return out
}

func live(t *testing.T, w *world) *Live {
	return &Live{Options: runner.Options{Backend: "redis", Seed: 7}, Property: property,
		Tries: 2, Prove: 3, Deadline: time.Now().Add(time.Hour), Dir: t.TempDir(), See: &mute{}, Keep: func(Candidate) error { return nil }, Run: w.Run}
}

// jumps says that a scenario has what the violation needs: a clock that jumps, two clients, two keys.
func jumps(s scenarios.Scenario) bool {
	return s.Clients >= 2 && s.Keys >= 2 && s.Duration.Of(s.Lease.Of(0)) >= 3*time.Second &&
		slices.ContainsFunc(s.Faults, func(f scenarios.Fault) bool { return f.Fault == "clock" })
}

func TestSmallest(t *testing.T) {
	w := &world{violates: jumps}
	l := live(t, w)
	got, err := Smallest(noisy(t), l.Violates(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Faults) != 1 || got.Faults[0].Fault != "clock" || got.Faults[0].Optional || got.Faults[0].Stream != 0 || !got.Faults[0].At.IsZero() ||
		got.Clients != 2 || got.Keys != 2 || got.Duration.Leases != 1.5 || !got.After.IsZero() {
		t.Errorf("%s", got.YAML())
	}
	if got.Expect.Faults != 1 || got.Expect.Contention != 1 {
		t.Errorf("expects %+v", got.Expect)
	}
	if string(l.Kept[len(l.Kept)-1].Scenario.YAML()) != string(got.YAML()) {
		t.Error("the last that was kept is not the smallest")
	}
	for _, o := range w.asked {
		if err := o.Scenario.Validate(); err != nil || !o.Part || o.Command[3] != filepath.Join(l.Dir, filepath.Base(o.Command[3])) {
			t.Errorf("%v: %v", o.Command, err)
		}
	}
	read, err := scenarios.Load(l.Kept[0].File)
	if err != nil || string(read.YAML()) != string(l.Kept[0].Scenario.YAML()) {
		t.Errorf("%v: %v", read, err)
	}
	seen := map[string]int{}
	for _, o := range w.asked {
		seen[string(o.Scenario.YAML())]++
	}
	for text, n := range seen {
		if n > l.Tries {
			t.Errorf("run %d times:\n%s", n, text)
		}
	}
}

// Whatever the violation needs, nothing single is left that it does without.
func TestSmallestOfAnyNeed(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		start := noisy(t)
		clients, keys := rapid.IntRange(1, 5).Draw(r, "clients"), rapid.IntRange(1, 7).Draw(r, "keys")
		kinds := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"pause", "clock", "kill"}), rapid.ID).Draw(r, "kinds")
		needs := func(s scenarios.Scenario) bool {
			for _, k := range kinds {
				if !slices.ContainsFunc(s.Faults, func(f scenarios.Fault) bool { return f.Fault == k }) {
					return false
				}
			}
			return s.Clients >= clients && s.Keys >= keys
		}
		l := live(t, &world{violates: needs})
		got, err := Smallest(start, l.Violates(t.Context()))
		if err != nil {
			r.Fatal(err)
		}
		most := len(kinds)
		if slices.Contains(kinds, "kill") {
			most++ // it comes after a pause
		}
		if !needs(got) || len(got.Faults) > most || got.Keys != keys || got.Clients > max(clients, 2) {
			r.Errorf("needs %v, %d clients, %d keys; got %s", kinds, clients, keys, got.YAML())
		}
		if _, err := scenarios.Parse("got.yaml", got.YAML()); err != nil {
			r.Error(err)
		}
	})
}

func TestTries(t *testing.T) {
	for _, c := range []struct {
		name     string
		reliable bool
		run      func(n int) (*runner.Outcome, error)
		want     bool
		rate     stats.Rate
		runs     int
		err      string
	}{
		{"seen at once", false, func(int) (*runner.Outcome, error) { return judged(checker.Violated), nil }, true, stats.Rate{Seen: 1, Of: 1}, 1, ""},
		{"seen at last", false, func(n int) (*runner.Outcome, error) {
			return judged(map[bool]checker.Verdict{true: checker.Violated, false: checker.Holds}[n == 2]), nil
		}, true, stats.Rate{Seen: 1, Of: 2}, 2, ""},
		{"never seen", false, func(int) (*runner.Outcome, error) { return judged(checker.Holds), nil }, false, stats.Rate{Of: 2}, 2, ""},
		{"inconclusive is not seen", false, func(int) (*runner.Outcome, error) { return judged(checker.Unknown), nil }, false, stats.Rate{Of: 2}, 2, ""},
		{"disturbed does not count", false, func(n int) (*runner.Outcome, error) { return stalled(), nil }, false, stats.Rate{Of: 2}, 4, ""},
		{"reliable", true, func(int) (*runner.Outcome, error) { return judged(checker.Violated), nil }, true, stats.Rate{Seen: 2, Of: 2}, 2, ""},
		{"not reliable", true, func(n int) (*runner.Outcome, error) {
			return judged(map[bool]checker.Verdict{true: checker.Violated, false: checker.Holds}[n == 1]), nil
		}, false, stats.Rate{Seen: 1, Of: 2}, 2, ""},
		{"fails once", false, func(n int) (*runner.Outcome, error) {
			if n == 1 {
				return nil, errors.New("no room")
			}
			return judged(checker.Violated), nil
		}, true, stats.Rate{Seen: 1, Of: 1}, 2, ""},
		{"fails twice", false, func(int) (*runner.Outcome, error) { return nil, errors.New("no room") }, false, stats.Rate{}, 2, "candidate 1, twice: no room"},
	} {
		w := &world{run: c.run}
		l := live(t, w)
		l.Reliable = c.reliable
		got, err := l.Violates(t.Context())(noisy(t))
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		ended := l.See.(*mute).ended
		if err != nil || got != c.want || len(ended) != 1 || ended[0].Rate != c.rate || w.runs != c.runs {
			t.Errorf("%s: %v, %v after %d runs, %+v", c.name, got, err, w.runs, ended)
		}
	}
}

// What ends early keeps the smallest so far: a budget, an interrupt, a failure.
func TestEndsEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	for name, stop := range map[string]func(l *Live, n int) error{
		"budget": func(l *Live, n int) error {
			if n == 5 {
				l.Deadline = time.Now()
			}
			return nil
		},
		"interrupt": func(_ *Live, n int) error {
			if n == 5 {
				cancel()
			}
			return nil
		},
		"failure": func(_ *Live, n int) error {
			if n >= 5 {
				return errors.New("no room")
			}
			return nil
		},
	} {
		w := &world{violates: jumps}
		l := live(t, w)
		w.run = func(n int) (*runner.Outcome, error) { return nil, stop(l, n) }
		within := t.Context()
		if name == "interrupt" {
			within = ctx
		}
		got, err := Smallest(noisy(t), l.Violates(within))
		if err == nil || len(l.Kept) == 0 || string(got.YAML()) != string(l.Kept[len(l.Kept)-1].Scenario.YAML()) {
			t.Errorf("%s: %v; kept %d; got %s", name, err, len(l.Kept), got.YAML())
		}
		if name == "budget" && !errors.Is(err, ErrBudget) || name == "interrupt" && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The proof goes back to a larger scenario where the smallest shows it now and then.
func TestProofGoesBack(t *testing.T) {
	flaky := 0
	w := &world{violates: func(s scenarios.Scenario) bool {
		if !jumps(s) {
			return false
		}
		if s.After.IsZero() { // too short to be sure
			flaky++
			return flaky%2 == 1
		}
		return true
	}}
	l := live(t, w)
	if _, err := Smallest(noisy(t), l.Violates(t.Context())); err != nil {
		t.Fatal(err)
	}
	finished := 0
	best, err := l.Proven(t.Context(), func(s scenarios.Scenario) (*scenarios.Scenario, error) { finished++; return &s, nil })
	if err != nil || best.Rate != (stats.Rate{Seen: 3, Of: 3}) || best.Scenario.After.IsZero() || finished < 2 {
		t.Errorf("%+v, %v after %d proofs", best, err, finished)
	}
}

// With no time to go back, the rate that was seen is told as it is.
func TestProofOutOfTime(t *testing.T) {
	w := &world{violates: jumps}
	l := live(t, w)
	if _, err := Smallest(noisy(t), l.Violates(t.Context())); err != nil {
		t.Fatal(err)
	}
	n := 0
	w.violates = func(scenarios.Scenario) bool { n++; l.Deadline = time.Now().Add(-time.Second); return n != 2 }
	best, err := l.Proven(t.Context(), func(s scenarios.Scenario) (*scenarios.Scenario, error) { return &s, nil })
	if !errors.Is(err, ErrBudget) || best.Rate != (stats.Rate{Seen: 1, Of: 2}) {
		t.Errorf("%+v, %v", best, err)
	}
}

func TestRegressionFile(t *testing.T) {
	const hostile = "x\nname: evil\r\u2028faults: []\x1b[31m"
	r := Regression{Name: "noisy-lease-exclusion", Property: property, Message: hostile + strings.Repeat(" too late", 30), Before: "5 faults", Rate: stats.Rate{Seen: 3, Of: 3}, Proven: true,
		Options: runner.Options{Backend: "redis", Seed: 7, Version: hostile, Settings: settings.Settings{Resource: "postgres", FenceOn: "read", Runtime: "local", Fsync: "always"}},
		From:    reports.Run{ID: hostile, Scenario: "noisy", Versions: []reports.NodeVersion{{Server: "dlmtest"}, {Server: "redis", Version: hostile}}}}
	path := filepath.Join(t.TempDir(), r.Name+".yaml")
	want := r.Scenario(noisy(t))
	if err := r.Save(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := scenarios.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got.YAML()) != string(want.YAML()) || got.Fsync != "always" || !slices.Equal(got.Backends, []string{"redis"}) ||
		got.Expected["redis"][property].Verdict != checker.Violated {
		t.Errorf("%s", got.YAML())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte(" \n")) {
		t.Errorf("a line ends with a space:\n%s", data)
	}
	head, _, _ := bytes.Cut(data, []byte("\nname: "))
	for line := range bytes.Lines(head) {
		if !bytes.HasPrefix(line, []byte("# ")) {
			t.Errorf("the heading has %q", line)
		}
	}
	for _, text := range []string{"dlmtest run --scenario noisy-lease-exclusion.yaml --backend redis --resource postgres --fence-on read --runtime local --seed 7", "3 of 3"} {
		if !strings.Contains(string(head), text) {
			t.Errorf("%q is not in\n%s", text, head)
		}
	}
	for _, c := range [][3]string{{"storm", property, "storm-lease-exclusion"}, {"storm-lease-exclusion", property, "storm-lease-exclusion"}, {"a/b", "no-lost-update/fenced", "a-b-no-lost-update-fenced"}} {
		if got := NameOf(c[0], c[1]); got != c[2] {
			t.Errorf("%v: %s", c, got)
		}
	}
}
