package matrix

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Each piece is in exactly one shard, and no shard has more than its share and the
// longest piece.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var work []time.Duration
		for _, n := range rapid.SliceOf(rapid.IntRange(0, 600)).Draw(t, "seconds") {
			work = append(work, time.Duration(n)*time.Second)
		}
		n := rapid.IntRange(1, 12).Draw(t, "shards")
		in := Split(work, n)
		if !slices.Equal(in, Split(slices.Clone(work), n)) || len(in) != len(work) {
			t.Fatalf("split into %v", in)
		}
		full, pieces := make([]time.Duration, n), make([]int, n)
		var all, longest time.Duration
		for i, s := range in {
			if s < 1 || s > n {
				t.Fatalf("shard %d of %d", s, n)
			}
			full[s-1] += work[i]
			pieces[s-1]++
			all, longest = all+work[i], max(longest, work[i])
		}
		if most := slices.Max(full); most > all/time.Duration(n)+longest {
			t.Errorf("a shard of %v, of %v in %d shards with %v at most", most, all, n, longest)
		}
		if len(work) >= n && slices.Min(pieces) == 0 && !slices.Contains(work, 0) {
			t.Errorf("a shard has nothing to do: %v of %v", pieces, work)
		}
	})
}

// All runs of a matrix are in exactly one shard, however it is split, and each shard
// says of all of them where they are.
func TestShardsAreTheWhole(t *testing.T) {
	names, backends := scenarios.Names(), []string{"redis", "redlock", "etcd", "zookeeper", "postgres"}
	for seed := range uint64(25) { // each takes a while: every cell is planned in every shard
		random := rand.New(rand.NewPCG(seed, 0))
		some := func(words []string, most int) (chosen []string) {
			for _, i := range random.Perm(len(words))[:1+random.IntN(most)] {
				chosen = append(chosen, words[i])
			}
			return chosen
		}
		s := spec(t, some(names, 6), some(backends, 4))
		s.Count, s.Parallel = 1+random.IntN(5), 1+random.IntN(2)
		whole := &matrix{spec: s}
		if err := whole.plan(t.Context()); errors.Is(err, ErrNothing) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		n := 1 + random.IntN(min(6, whole.state.Total))
		seen := map[cellRun]int{}
		total := 0
		for i := 1; i <= n; i++ {
			s.Shard = Shard{i, n}
			m := &matrix{spec: s}
			if err := m.plan(t.Context()); err != nil {
				t.Fatal(err)
			}
			own := 0
			for k, c := range m.index.Cells {
				if w := whole.index.Cells[k]; c.Name() != w.Name() || c.Reason != w.Reason || (c.Verdict == reports.Elsewhere) != (len(c.Runs) == 0 && len(w.Runs) > 0) {
					t.Fatalf("%+v of %+v", c, w)
				}
				for _, run := range c.Runs {
					seen[cellRun{c.Scenario, c.Backend, run.Seed}]++
					own++
				}
			}
			if own != m.state.Total || own != m.left[0]+m.left[1] || own != m.index.Shard.Own() || len(m.index.Shard.Plan) != whole.state.Total || m.index.Shard.Expected <= 0 {
				t.Fatalf("%d runs, state %+v, left %v, %+v", own, m.state, m.left, m.index.Shard)
			}
			if err := plausible(m.index); err != nil {
				t.Fatal(err)
			}
			total += own
		}
		if len(seen) != whole.state.Total || total != whole.state.Total {
			t.Fatalf("%d runs in %d shards, %d different ones, of %d", total, n, len(seen), whole.state.Total)
		}
	}
}

// A shard runs its own runs, with their own seeds, and nothing else.
func TestShardRuns(t *testing.T) {
	var ran []cellRun
	for i := 1; i <= 2; i++ {
		s := spec(t, []string{"baseline", "leader-crash"}, []string{"redis", "etcd"})
		s.Count, s.Shard = 3, Shard{i, 2}
		m, w := play(t, t.Context(), s, func(_ context.Context, o runner.Options) (*runner.Outcome, error) {
			ran = append(ran, cellRun{o.Scenario.Name, o.Backend, o.Seed})
			return outcome(o, checker.Holds), nil
		})
		if w.runs != len(w.ended) || m.index.Worst() != reports.Good || m.state.Done != m.state.Total {
			t.Errorf("%+v, ended %q, worst %s", m.state, w.ended, m.index.Worst())
		}
	}
	slices.SortFunc(ran, func(a, b cellRun) int { return strings.Compare(a.String(), b.String()) })
	if n := len(ran); n != 9 || len(slices.Compact(ran)) != 9 {
		t.Errorf("ran %v", ran)
	}
}

// A shard that was stopped and is started again in the same folder: latest-matrix is the new one, and a merge takes it whole.
func TestShardThatIsStartedAgain(t *testing.T) {
	var latest []string
	for i := 1; i <= 2; i++ {
		s := spec(t, []string{"baseline", "gc-pause"}, []string{"redis", "etcd"})
		s.Shard = Shard{i, 2}
		run := func(ctx context.Context, o runner.Options) (*runner.Outcome, error) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			out := outcome(o, checker.Holds)
			out.Dir += "-" + o.Scenario.Name
			return out, errors.Join(os.MkdirAll(out.Dir, 0o755), os.WriteFile(filepath.Join(out.Dir, "results.json"),
				[]byte(`{"verdict": "holds", "properties": [{"name": "mutual-exclusion", "verdict": "holds"}, {"name": "lease-exclusion", "verdict": "holds"}]}`), 0o644))
		}
		latest = append(latest, filepath.Join(s.Out, "latest-matrix"))
		if i == 1 {
			ctx, stop := context.WithCancel(t.Context())
			w := &witness{hears: func(pages.Cell) { stop() }} // by the end of its first run
			if m := playBefore(t, ctx, w, s, run); m.index.Stopped == "" || m.index.Worst() != reports.NotRun {
				t.Fatalf("the first attempt: %q, %s", m.index.Stopped, m.index.Worst())
			}
		}
		m, _ := play(t, t.Context(), s, run)
		if target, err := os.Readlink(latest[i-1]); err != nil || target != filepath.Base(m.dir) {
			t.Errorf("latest-matrix of shard %d points at %s, %v; want %s", i, target, err, m.dir)
		}
	}
	x, err := Merge(Merging{Dirs: latest, Out: filepath.Join(t.TempDir(), "whole")})
	if err != nil || x.Stopped != "" || x.Worst() != reports.Good || len(verdicts(x)) != 4 {
		t.Errorf("merged: %q, %s, %q, %v", x.Stopped, x.Worst(), verdicts(x), err)
	}
}

func TestShardsOfTooLittle(t *testing.T) {
	s := spec(t, []string{"baseline"}, []string{"redis", "etcd"})
	s.Shard = Shard{3, 3}
	if _, _, err := Run(t.Context(), s, &witness{}); !errors.Is(err, runner.ErrUsage) || !strings.Contains(err.Error(), "only 2 runs") {
		t.Errorf("%v", err)
	}
}

func TestExpected(t *testing.T) {
	for scenario, want := range map[string]time.Duration{
		"baseline": 0, "gc-pause": 0, "storm": (5 + 4) * 2 * time.Second, "partition-flapping": 0,
	} {
		s, err := scenarios.Load(scenario)
		if err != nil {
			t.Fatal(err)
		}
		got := Expected(runner.Options{Scenario: *s}) - aroundLoad
		if got < s.Duration.Of(s.Lease.Of(0)) || want > 0 && got != want {
			t.Errorf("%s: %v", scenario, got)
		}
	}
	x := pages.Index{Cells: []pages.Cell{{Scenario: "a", Backend: "b", Runs: []pages.CellRun{{Took: 2, Verdict: reports.Good}, {Took: 4}, {Verdict: reports.NotRun, Took: 9}}}, {Scenario: "c"}}}
	if got := Timings(x); len(got) != 1 || got["a × b"] != 3 {
		t.Errorf("%v", got)
	}
}

func TestShardOf(t *testing.T) {
	for _, c := range []struct {
		variables map[string]string
		want      Shard
		err       string
	}{
		{map[string]string{"JOB_COMPLETION_INDEX": "0", "DLMTEST_SHARDS": "5"}, Shard{1, 5}, ""},
		{map[string]string{"JOB_COMPLETION_INDEX": "4", "DLMTEST_SHARDS": "5"}, Shard{5, 5}, ""},
		{map[string]string{"JOB_COMPLETION_INDEX": "5", "DLMTEST_SHARDS": "5"}, Shard{}, "no shard"},
		{map[string]string{"JOB_COMPLETION_INDEX": "0"}, Shard{}, "DLMTEST_SHARDS is not"},
		{map[string]string{"JOB_COMPLETION_INDEX": "x", "DLMTEST_SHARDS": "5"}, Shard{}, "are no numbers"},
		{map[string]string{"CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "5"}, Shard{1, 5}, ""},
		{map[string]string{"CI_NODE_INDEX": "0", "CI_NODE_TOTAL": "5"}, Shard{}, "no shard"},
		{map[string]string{"CI_NODE_INDEX": "1"}, Shard{}, "no shard"},
		{map[string]string{"CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "5", "JOB_COMPLETION_INDEX": "0"}, Shard{}, "both"},
		{nil, Shard{}, "neither JOB_COMPLETION_INDEX"},
	} {
		got, err := ShardOf(func(name string) (string, bool) { v, ok := c.variables[name]; return v, ok })
		if got != c.want || (c.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v: %v, %v", c.variables, got, err)
		}
	}
}

func FuzzParseShard(f *testing.F) {
	for _, text := range []string{"1/1", "2/5", "0/5", "6/5", "-1/5", "1/", "/", "", "1/2/3", "1/99999999999999999999", "+1/2", " 1/2", "auto"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseShard(text)
		if (err == nil) != (s != Shard{}) {
			t.Fatalf("%q: %v, %v", text, s, err)
		}
		if err != nil {
			return
		}
		if again, err := ParseShard(s.String()); s.Index < 1 || s.Index > s.Count || again != s || err != nil {
			t.Errorf("%q: %v, then %v, %v", text, s, again, err)
		}
	})
}
