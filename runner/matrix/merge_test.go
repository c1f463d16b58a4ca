package matrix

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/golden"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
)

// made is the index of a shard of a made-up matrix: two scenarios, three backends, two
// runs a cell, one cell n/a; ten runs, in turn in the shards.
func made(index, count int) pages.Index {
	x := pages.Index{Format: pages.IndexFormat, ID: fmt.Sprintf("part %d", index), Command: []string{"dlmtest", "run", "--seed", "7"}, Version: "v1",
		Started: time.Unix(1e9+int64(index), 0).UTC(), Took: time.Minute, Ended: true, Count: 2, Parallel: 1,
		Scenarios: []string{"a", "b"}, Backends: []string{"redis", "etcd", "zookeeper"}, Shard: &pages.Shard{Index: index, Count: count}}
	n := 0
	for _, s := range x.Scenarios {
		for _, b := range x.Backends {
			c := pages.Cell{Scenario: s, Backend: b, Verdict: reports.Elsewhere}
			if s == "a" && b == "etcd" {
				c.Verdict, c.Reason = reports.NoSense, "it has no leader"
				x.Cells = append(x.Cells, c)
				continue
			}
			for seed := uint64(7); seed < 9; seed++ {
				in := n%count + 1
				n++
				x.Shard.Plan = append(x.Shard.Plan, pages.PlannedRun{Scenario: s, Backend: b, Seed: seed, Shard: in})
				if in == index {
					c.Runs = append(c.Runs, pages.CellRun{Seed: seed, Verdict: reports.Good, Dir: fmt.Sprintf("run_%s_%s_%d", s, b, seed), Took: time.Second})
					c.Settle()
				}
			}
			if len(c.Runs) > 0 {
				c.Verdict = reports.Waiting
				c.Settle()
			}
			x.Cells = append(x.Cells, c)
		}
	}
	return x
}

// put writes a part with the folders of its runs.
func put(t *testing.T, dir string, x pages.Index) string {
	t.Helper()
	for _, c := range x.Cells {
		for _, r := range c.Runs {
			if r.Dir == "" || !filepath.IsLocal(r.Dir) {
				continue
			}
			verdict := checker.Holds
			if r.Verdict == reports.Violates {
				verdict = checker.Violated
			}
			result, err := json.Marshal(checker.Result{Verdict: verdict})
			if err != nil {
				t.Fatal(err)
			}
			for name, data := range map[string][]byte{"results.json": result, "report.html": []byte(r.Dir), "logs/redis-1.log": nil} {
				path := filepath.Join(dir, r.Dir, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := save(golden.Root(t, dir), x); err != nil {
		t.Fatal(err)
	}
	return dir
}

// shards writes all parts of a matrix, each changed first.
func shards(t *testing.T, count int, change func(int, *pages.Index)) (dirs []string) {
	t.Helper()
	root := t.TempDir()
	for i := 1; i <= count; i++ {
		x := made(i, count)
		if change != nil {
			change(i, &x)
		}
		dirs = append(dirs, put(t, filepath.Join(root, fmt.Sprintf("machine-%d", i)), x))
	}
	return dirs
}

func runOf(x pages.Index, scenario, backend string, seed uint64) *pages.CellRun {
	c := x.Cell(scenario, backend)
	for i := range c.Runs {
		if c.Runs[i].Seed == seed {
			return &c.Runs[i]
		}
	}
	return nil
}

func TestMerge(t *testing.T) {
	for _, link := range []bool{false, true} {
		dirs := shards(t, 3, func(i int, x *pages.Index) {
			if i == 2 {
				r := runOf(*x, "a", "redis", 8)
				r.Verdict = reports.Violates
				x.Cell("a", "redis").Settle()
			}
		})
		out := filepath.Join(t.TempDir(), "deep", "whole")
		x, err := Merge(Merging{Dirs: []string{dirs[2], dirs[0], dirs[1]}, Out: out, Link: link})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"a × redis violated", "a × etcd n/a", "a × zookeeper holds", "b × redis holds", "b × etcd holds", "b × zookeeper holds"}
		if got := verdicts(x); !slices.Equal(got, want) || x.Stopped != "" || !x.Ended || x.Worst() != reports.Violates || x.Took != time.Minute+2*time.Second || x.ID != "whole" {
			t.Errorf("%q, stopped %q, took %v", got, x.Stopped, x.Took)
		}
		read, err := Open(out)
		if err != nil || !reflect.DeepEqual(read, x) {
			t.Errorf("wrote %+v, read %+v, %v", x, read, err)
		}
		for _, c := range x.Cells {
			for _, r := range c.Runs {
				data, err := os.ReadFile(filepath.Join(out, r.Dir, "report.html"))
				if err != nil || "run_"+c.Scenario+"_"+c.Backend+"_"+fmt.Sprint(r.Seed) != string(data) || !filepath.IsLocal(r.Dir) {
					t.Errorf("%s: %q, %v", r.Dir, data, err)
				}
			}
		}
		info, err := os.Lstat(filepath.Join(out, "shard-1"))
		if err != nil || link != (info.Mode()&fs.ModeSymlink != 0) {
			t.Errorf("shard-1 is %v, %v", info.Mode(), err)
		}
		if target, _ := os.Readlink(filepath.Join(out, "shard-1")); filepath.IsAbs(target) {
			t.Errorf("the link is %s", target)
		}
		left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), ".*"))
		if len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// A missing shard, a run that is not in its shard, one that was not reached: the index
// says so, and nothing of it is green.
func TestMergeWithGaps(t *testing.T) {
	for name, c := range map[string]struct {
		change func(int, *pages.Index)
		leave  int // the part that is not there
		want   reports.Outcome
		says   []string
		notRun int
	}{
		"a shard":       {nil, 2, reports.NotRun, []string{"shard 2 of 3 is missing, with 3 of 10 runs", "Not run: 3"}, 3},
		"a run":         {func(_ int, x *pages.Index) { drop(x, "b", "etcd", 8) }, 0, reports.NotRun, []string{"Not run: 1"}, 1},
		"interrupted":   {interrupted, 0, reports.NotRun, []string{"shard-1 was interrupted", "Not run: 1"}, 1},
		"killed":        {killed, 0, reports.NotRun, []string{"shard-1 had not ended", "Not run: 1"}, 1},
		"beside worse":  {func(i int, x *pages.Index) { all(x, reports.Violates) }, 3, reports.Violates, []string{"shard 3 of 3 is missing"}, 3},
		"ended too few": {func(i int, x *pages.Index) { x.Ended = i != 3 }, 0, reports.Good, []string{"shard-3 had not ended"}, 0},
	} {
		dirs := shards(t, 3, c.change)
		if c.leave > 0 {
			dirs = slices.Delete(dirs, c.leave-1, c.leave)
		}
		out := filepath.Join(t.TempDir(), "whole")
		x, err := Merge(Merging{Dirs: dirs, Out: out})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n := 0
		for _, cell := range x.Cells {
			for _, r := range cell.Runs {
				if r.Verdict == reports.NotRun {
					n++
				}
			}
		}
		if x.Worst() != c.want || n != c.notRun {
			t.Errorf("%s: worst %s, %d not run", name, x.Worst(), n)
		}
		page, err := os.ReadFile(filepath.Join(out, PageFile))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range c.says {
			if !strings.Contains(x.Stopped, text) || !strings.Contains(string(page), text) {
				t.Errorf("%s: %q does not say %q, or the page does not", name, x.Stopped, text)
			}
		}
	}
}

func drop(x *pages.Index, scenario, backend string, seed uint64) {
	c := x.Cell(scenario, backend)
	c.Runs = slices.DeleteFunc(c.Runs, func(r pages.CellRun) bool { return r.Seed == seed })
	if len(c.Runs) == 0 {
		c.Verdict = reports.Elsewhere
	}
}

func all(x *pages.Index, o reports.Outcome) {
	for i := range x.Cells {
		for n := range x.Cells[i].Runs {
			x.Cells[i].Runs[n].Verdict = o
		}
	}
}

func interrupted(i int, x *pages.Index) {
	if i == 1 {
		x.Stopped = "This matrix was interrupted before its end."
		*runOf(*x, "a", "redis", 7) = pages.CellRun{Seed: 7, Verdict: reports.NotRun}
	}
}

func killed(i int, x *pages.Index) {
	if i == 1 {
		x.Ended = false
		*runOf(*x, "a", "redis", 7) = pages.CellRun{Seed: 7, Verdict: reports.Waiting}
	}
}

func TestMergeOfDuplicates(t *testing.T) {
	dirs := shards(t, 3, nil)
	for name, twice := range map[string][]string{
		"the same folder": {dirs[0], dirs[1], dirs[2], dirs[0]},
		"the same shard":  {dirs[0], put(t, filepath.Join(t.TempDir(), "again"), made(1, 3)), dirs[1], dirs[2]},
	} {
		out := filepath.Join(t.TempDir(), "whole")
		_, err := Merge(Merging{Dirs: twice, Out: out})
		if !errors.Is(err, runner.ErrUsage) || !strings.Contains(err.Error(), "a × redis, seed 7 is in "+dirs[0]) || !strings.Contains(err.Error(), "--allow-duplicates") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: a folder was made", name)
		}
		x, err := Merge(Merging{Dirs: twice, Out: out, AllowDuplicates: true})
		if err != nil || len(x.Cell("a", "redis").Runs) != 3 || x.Worst() != reports.Good {
			t.Errorf("%s, allowed: %+v, %v", name, x.Cell("a", "redis"), err)
		}
	}
}

func TestMergeOfOthers(t *testing.T) {
	for want, change := range map[string]func(*pages.Index){
		"the version of dlmtest":  func(x *pages.Index) { x.Version = "v2" },
		"the command":             func(x *pages.Index) { x.Command = []string{"dlmtest", "run", "--seed", "8"} },
		"runs a cell":             func(x *pages.Index) { x.Count = 3 },
		"the number of shards":    func(x *pages.Index) { *x = made(2, 4) },
		"split the matrix":        func(x *pages.Index) { x.Shard.Plan[0], x.Shard.Plan[3] = x.Shard.Plan[3], x.Shard.Plan[0] },
		"one is a shard":          func(x *pages.Index) { x.Shard = nil; *x = wholeOf(*x) },
		"have different cells":    func(x *pages.Index) { x.Cell("a", "etcd").Reason = "another" },
		"two cells a × redis":     func(x *pages.Index) { again := x.Cells[0]; again.Runs = nil; x.Cells = append(x.Cells, again) },
		"no outcome of a run":     func(x *pages.Index) { runOf(*x, "a", "redis", 8).Verdict = "green" },
		"is \"splendid\"":         func(x *pages.Index) { x.Cell("a", "redis").Verdict = "splendid" },
		"not planned for shard 2": func(x *pages.Index) { runOf(*x, "a", "redis", 8).Seed = 7 },
		"is of two runs":          func(x *pages.Index) { runOf(*x, "a", "redis", 8).Dir = runOf(*x, "b", "redis", 7).Dir },
		"../../escape":            func(x *pages.Index) { runOf(*x, "a", "redis", 8).Dir = "../../escape" },
		"/etc":                    func(x *pages.Index) { runOf(*x, "a", "redis", 8).Dir = "/etc" },
		`folder "." is not below`: func(x *pages.Index) { runOf(*x, "a", "redis", 8).Dir = "." },
		"its plan is broken":      func(x *pages.Index) { x.Shard.Plan[0].Shard = 9 },
		"the plan says otherwise": func(x *pages.Index) { c := x.Cell("a", "redis"); c.Verdict, c.Runs = reports.NoSense, nil },
		"newer dlmtest":           func(x *pages.Index) { x.Format = pages.IndexFormat + 1 },
	} {
		dirs := shards(t, 3, func(i int, x *pages.Index) {
			if i == 2 {
				change(x)
			}
		})
		out := filepath.Join(t.TempDir(), "whole")
		if _, err := Merge(Merging{Dirs: dirs, Out: out}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "machine-2") {
			t.Errorf("want an error with %q, got %v", want, err)
		}
		if entries, _ := os.ReadDir(filepath.Dir(out)); len(entries) > 0 {
			t.Errorf("%s: left %v", want, entries)
		}
	}
}

// wholeOf is a matrix that was not split.
func wholeOf(x pages.Index) pages.Index {
	for i := range x.Cells {
		c := &x.Cells[i]
		if c.Verdict != reports.NoSense {
			c.Runs = []pages.CellRun{{Seed: 7, Verdict: reports.Good}, {Seed: 8, Verdict: reports.Good}}
			c.Settle()
		}
	}
	return x
}

// A run is believed when its folder is there and says the same.
func TestMergeBelievesFolders(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(dir string) error
		want  reports.Outcome
		says  string
	}{
		"gone":     {os.RemoveAll, reports.Unclear, "is missing"},
		"unjudged": {func(dir string) error { return os.Remove(filepath.Join(dir, "results.json")) }, reports.Unclear, "cannot be read"},
		"cut": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "results.json"), []byte(`{"verdict": "ho`), 0o644)
		},
			reports.Unclear, "cannot be read"},
		"red": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "results.json"), []byte(`{"verdict": "violated"}`), 0o644)
		}, reports.Violates, "results.json violated"},
		"a file": {func(dir string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o644)) }, reports.Unclear, "is missing"},
	} {
		dirs := shards(t, 2, nil)
		if err := c.spoil(filepath.Join(dirs[0], "run_a_redis_7")); err != nil {
			t.Fatal(err)
		}
		x, err := Merge(Merging{Dirs: dirs, Out: filepath.Join(t.TempDir(), "whole")})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r := runOf(x, "a", "redis", 7); r.Verdict != c.want || !strings.Contains(strings.Join(r.Doubts, " "), c.says) || x.Worst() != c.want {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// A run whose index and judgement differ in one property alone is green in none, and a
// violation of either stays.
func TestMergeComparesProperties(t *testing.T) {
	decided := func(a, b checker.Verdict) []pages.Decided {
		return []pages.Decided{{Name: "fairness", Verdict: a}, {Name: "recovery", Verdict: b}}
	}
	judged := func(v, a, b checker.Verdict) checker.Result {
		return checker.Result{Verdict: v, Properties: []checker.Property{{Name: "fairness", Verdict: a}, {Name: "recovery", Verdict: b}}}
	}
	holds, violated, unknown := checker.Holds, checker.Violated, checker.Unknown
	for name, c := range map[string]struct {
		index    reports.Outcome
		decided  []pages.Decided
		result   checker.Result
		want     reports.Outcome
		verdicts []pages.Decided
		doubted  bool
	}{
		"the same":        {reports.Good, decided(holds, holds), judged(holds, holds, holds), reports.Good, decided(holds, holds), false},
		"one more":        {reports.Violates, decided(violated, holds), judged(violated, violated, violated), reports.Violates, decided(violated, violated), true},
		"one less":        {reports.Violates, decided(violated, violated), judged(violated, violated, holds), reports.Violates, decided(violated, violated), true},
		"another":         {reports.Violates, decided(violated, holds), judged(violated, holds, violated), reports.Violates, decided(violated, violated), true},
		"red at last":     {reports.Good, decided(holds, holds), judged(violated, holds, violated), reports.Violates, decided(unknown, violated), true},
		"one unknown":     {reports.Good, decided(holds, holds)[:1], judged(violated, holds, violated), reports.Violates, decided(unknown, violated), true},
		"not put to it":   {reports.Good, decided(holds, holds), judged(unknown, holds, unknown), reports.Unclear, decided(unknown, unknown), true},
		"without them":    {reports.Good, decided(holds, holds), checker.Result{Verdict: holds}, reports.Unclear, decided(unknown, unknown), true},
		"that has failed": {reports.Failed, decided(holds, holds), judged(unknown, holds, unknown), reports.Failed, decided(holds, holds), false},
	} {
		r := pages.CellRun{Seed: 7, Verdict: c.index, Properties: c.decided}
		was := slices.Clone(c.decided)
		Believe(&r, c.result)
		if r.Verdict != c.want || !slices.Equal(r.Properties, c.verdicts) || len(r.Doubts) > 0 != c.doubted {
			t.Errorf("%s: %+v", name, r)
		}
		if !slices.Equal(was, c.decided) {
			t.Errorf("%s: the part's own index was changed", name)
		}
	}
}

// A verdict that names no folder shows nothing.
func TestMergeWantsFolders(t *testing.T) {
	dirs := shards(t, 2, func(_ int, x *pages.Index) {
		for i := range x.Cells {
			for n := range x.Cells[i].Runs {
				r := &x.Cells[i].Runs[n]
				r.Dir, r.Properties = "", []pages.Decided{{Name: "fairness", Verdict: checker.Holds}}
			}
		}
	})
	x, err := Merge(Merging{Dirs: dirs, Out: filepath.Join(t.TempDir(), "whole")})
	if err != nil || x.Worst() != reports.Unclear {
		t.Errorf("%v: %s", err, x.Worst())
	}
}

// No link in a part leads a copy out of it, or a read into a secret.
func TestMergeFollowsNoLinkOut(t *testing.T) {
	secret := t.TempDir()
	if err := os.WriteFile(filepath.Join(secret, "results.json"), []byte(`{"verdict":"holds"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, plant := range map[string]func(run string) error{
		"the folder": func(run string) error { return errors.Join(os.RemoveAll(run), os.Symlink(secret, run)) },
		"a file": func(run string) error {
			return os.Symlink(filepath.Join(secret, "results.json"), filepath.Join(run, "logs", "redis-2.log"))
		},
		"the judgement": func(run string) error {
			path := filepath.Join(run, "results.json")
			return errors.Join(os.Remove(path), os.Symlink(filepath.Join(secret, "results.json"), path))
		},
	} {
		dirs := shards(t, 2, nil)
		if err := plant(filepath.Join(dirs[0], "run_a_redis_7")); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "whole")
		x, err := Merge(Merging{Dirs: dirs, Out: out})
		if err == nil {
			t.Errorf("%s: no error; %+v", name, runOf(x, "a", "redis", 7))
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: a folder was made", name)
		}
	}
}

func TestMergeIntoWhatIsThere(t *testing.T) {
	dirs := shards(t, 2, nil)
	out := t.TempDir()
	if _, err := Merge(Merging{Dirs: dirs, Out: out}); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	before, _ := os.ReadFile(filepath.Join(out, indexFile))
	if _, err := Merge(Merging{Dirs: dirs[:1], Out: out}); !errors.Is(err, runner.ErrUsage) || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a full folder: %v", err)
	}
	if after, _ := os.ReadFile(filepath.Join(out, indexFile)); string(before) != string(after) {
		t.Error("it was written over")
	}
	if _, err := Merge(Merging{Dirs: []string{dirs[0], t.TempDir()}, Out: filepath.Join(out, "x")}); !errors.Is(err, runner.ErrUsage) || !strings.Contains(err.Error(), "index.json") {
		t.Errorf("no matrix: %v", err)
	}
}

// A cell that is n/a in one whole matrix and has runs in another is no cell of one matrix.
func TestMergeHidesNoRuns(t *testing.T) {
	root := t.TempDir()
	whole := func(name string, change func(*pages.Cell)) string {
		x := pages.Index{Format: 1, Version: "v1", Started: time.Unix(1e9, 0), Ended: true, Count: 1, Scenarios: []string{"a"}, Backends: []string{"b", "c"}, Cells: []pages.Cell{
			{Scenario: "a", Backend: "b", Verdict: reports.Good, Runs: []pages.CellRun{{Seed: 7, Verdict: reports.Good, Dir: "run"}}},
			{Scenario: "a", Backend: "c", Verdict: reports.Violates, Runs: []pages.CellRun{{Seed: 7, Verdict: reports.Violates, Dir: "red"}}}}}
		change(&x.Cells[1])
		return put(t, filepath.Join(root, name), x)
	}
	hiding := whole("hiding", func(c *pages.Cell) { c.Verdict, c.Runs = reports.NoSense, nil })
	telling := whole("telling", func(*pages.Cell) {})
	if x, err := Merge(Merging{Dirs: []string{hiding, telling}, Out: filepath.Join(root, "out"), AllowDuplicates: true}); err == nil || !strings.Contains(err.Error(), "n/a") {
		t.Errorf("%v, %v", verdicts(x), err)
	}
}

// Whatever stands in an index, a merge gives an error or a matrix that holds together,
// and writes nothing beside it.
func FuzzMerge(f *testing.F) {
	for i := range 3 {
		data, err := json.Marshal(made(min(i+1, 2), 2))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"dlmtest_index":1,"cells":[{"scenario":"a","backend":"b","verdict":"holds","runs":[{"seed":7,"verdict":"holds","dir":"../x"}]}]}`))
	f.Add([]byte(`{"dlmtest_index":1,"shard":{"index":1,"count":1}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		root := t.TempDir()
		for _, dir := range []string{"one", "two"} {
			if err := errors.Join(os.MkdirAll(filepath.Join(root, dir, "run_a_redis_7"), 0o755), os.WriteFile(filepath.Join(root, dir, indexFile), data, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		out := filepath.Join(root, "out")
		x, err := Merge(Merging{Dirs: []string{filepath.Join(root, "one"), filepath.Join(root, "two")}, Out: out, AllowDuplicates: true})
		if entries, _ := os.ReadDir(root); err != nil && len(entries) != 2 || err == nil && len(entries) != 3 {
			t.Fatalf("%v; there are %v", err, entries)
		}
		if err != nil {
			return
		}
		for _, c := range x.Cells {
			for _, r := range c.Runs {
				if !filepath.IsLocal(r.Dir) && r.Dir != "" {
					t.Errorf("%q leads out", r.Dir)
				}
				if r.Verdict == reports.Good && r.Dir != "" {
					t.Errorf("%+v is green, although nothing was judged", r)
				}
			}
		}
		if _, err := Open(out); err != nil {
			t.Error(err)
		}
	})
}
