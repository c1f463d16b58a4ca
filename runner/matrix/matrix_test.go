package matrix

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/golden"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// witness is a Watcher that remembers.
type witness struct {
	mu    sync.Mutex
	runs  int
	ended []string
	hears func(pages.Cell) // told of each run that has ended; nil: nobody is
}

func (w *witness) Planned(_ string, _ pages.Index, runs int) { w.runs = runs }
func (w *witness) Begins(string, uint64) runner.Progress     { return nil }
func (w *witness) Ended(_ State, c pages.Cell, r pages.CellRun) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = append(w.ended, c.RunName(r)+": "+string(r.Verdict))
	if w.hears != nil {
		w.hears(c)
	}
}

// spec is a matrix of built-in scenarios and backends.
func spec(t *testing.T, names, backends []string) Spec {
	t.Helper()
	s := Spec{Count: 1, Seed: 7, Parallel: 1, Out: t.TempDir(), Repeat: func(o runner.Options) []string { return []string{o.Backend} }}
	for _, name := range names {
		file, err := scenarios.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range backends {
			s.Cells = append(s.Cells, runner.Options{Scenario: *file, Backend: b})
		}
	}
	return s
}

// outcome is a run that a fake has judged.
// stalled is the outcome of a run in which the machine stalled a node.
func stalled(o runner.Options) *runner.Outcome {
	out := outcome(o, checker.Unknown)
	out.Result.Properties[0].Disturbed = true
	return out
}

func outcome(o runner.Options, v checker.Verdict, doubts ...string) *runner.Outcome {
	out := &runner.Outcome{Dir: filepath.Join(o.Out, o.Backend), Run: reports.Run{Backend: o.Backend, Resolved: string(o.Scenario.YAML())},
		Result: checker.Result{Doubts: doubts, Properties: []checker.Property{{Name: "mutual-exclusion", Verdict: v}, {Name: "lease-exclusion", Verdict: checker.Holds}}}}
	e := o.Scenario.Expected[o.Backend]["mutual-exclusion"]
	checker.Expect(history.Setup{Promise: history.Promise{Leased: true}}, &out.Result, map[string]checker.Expectation{"mutual-exclusion": e.Under("write")})
	out.Result.Verdict = v
	return out
}

// play runs a matrix with a fake in place of real clusters.
func play(t *testing.T, ctx context.Context, s Spec, run func(context.Context, runner.Options) (*runner.Outcome, error)) (*matrix, *witness) {
	t.Helper()
	w := &witness{}
	return playBefore(t, ctx, w, s, run), w
}

// playBefore is play before a witness of the test's own.
func playBefore(t *testing.T, ctx context.Context, w *witness, s Spec, run func(context.Context, runner.Options) (*runner.Outcome, error)) *matrix {
	t.Helper()
	m := &matrix{spec: s, see: w, run: func(ctx context.Context, o runner.Options, _ runner.Progress) (*runner.Outcome, error) {
		return run(ctx, o)
	}}
	if err := m.plan(t.Context()); err != nil {
		t.Fatal(err)
	}
	var err error
	if m.dir, err = newFolder(s.Out, "matrix", m.index.Started); err != nil {
		t.Fatal(err)
	}
	m.in = golden.Root(t, m.dir)
	if err := m.all(ctx); err != nil {
		t.Fatal(err)
	}
	return m
}

func verdicts(x pages.Index) (all []string) {
	for _, c := range x.Cells {
		all = append(all, c.Name()+" "+string(c.Verdict))
	}
	return all
}

func TestGoesOnAfterFailures(t *testing.T) {
	m, w := play(t, t.Context(), spec(t, []string{"gc-pause", "leader-crash"}, []string{"redis", "etcd"}), func(_ context.Context, o runner.Options) (*runner.Outcome, error) {
		if !o.Part || o.Seed != 7 || !slices.Equal(o.Command, []string{o.Backend}) {
			t.Errorf("options %+v", o)
		}
		if o.Scenario.Name == "gc-pause" && o.Backend == "redis" {
			return nil, errors.New("no room")
		}
		return outcome(o, checker.Holds), nil
	})
	want := []string{"gc-pause × redis failed", "gc-pause × etcd holds", "leader-crash × redis n/a", "leader-crash × etcd holds"}
	if got := verdicts(m.index); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if w.runs != 3 || len(w.ended) != 3 || m.index.Worst() != reports.Failed {
		t.Errorf("%d runs, ended %q, worst %s", w.runs, w.ended, m.index.Worst())
	}
	// gc-pause expects of etcd that mutual exclusion is violated.
	if d := m.index.Cells[1].Runs[0].Differs; len(d) != 1 || d[0].String() != "mutual-exclusion is holds, expected violated" {
		t.Errorf("differs %v", d)
	}
	var got []checker.Answers
	for _, c := range m.index.Cells {
		got = append(got, c.Answers)
	}
	held := checker.Answers{Promise: checker.Yes, WentOn: checker.NotAsked} // nothing was judged of the data
	expected := held
	expected.AsExpected = true
	if all := []checker.Answers{{}, held, checker.Skipped(), expected}; !slices.Equal(got, all) {
		t.Errorf("answers %+v, want %+v", got, all)
	}
	if target, err := os.Readlink(filepath.Join(m.spec.Out, "latest-matrix")); err != nil || target != filepath.Base(m.dir) {
		t.Errorf("latest-matrix points at %q, %v", target, err)
	}
}

func TestDisturbedRunsAreRepeatedAndListed(t *testing.T) {
	s := spec(t, []string{"baseline"}, []string{"redis", "etcd"})
	s.Count, s.Parallel = 2, 2
	seen := map[string]int{}
	var mu sync.Mutex
	m, _ := play(t, t.Context(), s, func(_ context.Context, o runner.Options) (*runner.Outcome, error) {
		mu.Lock()
		defer mu.Unlock()
		if seen[o.Backend]++; o.Backend == "redis" && o.Seed == 7 && seen["repeat"] == 0 {
			seen["repeat"]++
			return stalled(o), nil
		}
		return outcome(o, checker.Holds), nil
	})
	c := m.index.Cells[0]
	if c.Verdict != reports.Good || len(c.Runs) != 3 || !c.Runs[0].Repeated || c.Runs[0].Verdict != reports.Unclear ||
		c.Runs[1].Seed != 7 || c.Runs[1].Verdict != reports.Good || c.Runs[2].Seed != 8 {
		t.Errorf("%+v", c)
	}
	if seen["redis"] != 3 || seen["etcd"] != 2 || m.state.Done != 5 || m.state.Total != 5 {
		t.Errorf("runs %v, state %+v", seen, m.state)
	}
}

func TestCancelMarksWhatHasNotBegun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m, _ := play(t, ctx, spec(t, []string{"baseline"}, []string{"redis", "etcd", "postgres"}), func(ctx context.Context, o runner.Options) (*runner.Outcome, error) {
		if o.Backend == "etcd" {
			cancel()
			return nil, ctx.Err()
		}
		return outcome(o, checker.Holds), nil
	})
	want := []string{"baseline × redis holds", "baseline × etcd not run", "baseline × postgres not run"}
	if got := verdicts(m.index); !slices.Equal(got, want) || m.index.Stopped == "" || m.index.Worst() != reports.NotRun {
		t.Errorf("%q, want %q; stopped %q", got, want, m.index.Stopped)
	}
}

// A matrix that is killed leaves an index that says what there was.
func TestIndexIsTrueMeanwhile(t *testing.T) {
	s := spec(t, []string{"baseline"}, []string{"redis", "etcd"})
	play(t, t.Context(), s, func(_ context.Context, o runner.Options) (*runner.Outcome, error) {
		var x pages.Index
		data, err := os.ReadFile(filepath.Join(s.Out, "latest-matrix", indexFile))
		if err == nil {
			err = json.Unmarshal(data, &x)
		}
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"baseline × redis waiting", "baseline × etcd waiting"}
		if o.Backend == "etcd" {
			want[0] = "baseline × redis holds"
		}
		if got := verdicts(x); !slices.Equal(got, want) || x.Ended || x.State() == "" {
			t.Errorf("%q, want %q; ended %v, %q", got, want, x.Ended, x.State())
		}
		return outcome(o, checker.Holds), nil
	})
}

func TestNothingThatMakesSense(t *testing.T) {
	_, _, err := Run(t.Context(), spec(t, []string{"leader-crash"}, []string{"redis", "postgres"}), &witness{})
	if !errors.Is(err, ErrNothing) || !errors.Is(err, runner.ErrUsage) || !strings.Contains(err.Error(), "no server of redis leads") {
		t.Errorf("%v", err)
	}
}

// A run that ended with a verdict and an error is no verdict, unless it is a violation.
func TestErrorBesideAVerdict(t *testing.T) {
	o := spec(t, []string{"baseline"}, []string{"redis"}).Cells[0]
	for v, want := range map[checker.Verdict]reports.Outcome{checker.Holds: reports.Failed, checker.Violated: reports.Violates, checker.Unknown: reports.Failed} {
		if r := judged("", outcome(o, v), errors.New("the network stays")); r.Verdict != want || r.Error == "" {
			t.Errorf("%v: %+v", v, r)
		}
	}
}

func TestCheckStaysBelow(t *testing.T) {
	dir := t.TempDir()
	x := pages.Index{Format: pages.IndexFormat, Started: time.Now(), Cells: []pages.Cell{{Scenario: "a", Backend: "b",
		Runs: []pages.CellRun{{Verdict: reports.Good, Dir: "../elsewhere"}}}}}
	if err := save(golden.Root(t, dir), x); err != nil {
		t.Fatal(err)
	}
	x, err := Check(t.Context(), dir, checker.Oracle{}, func(pages.Cell, pages.CellRun) {})
	if err != nil || x.Cells[0].Verdict != reports.Failed || !strings.Contains(x.Cells[0].Runs[0].Error, "not below") {
		t.Errorf("%+v, %v", x, err)
	}
}
