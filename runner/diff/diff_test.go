package diff

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/golden"
	"github.com/dlmtest/dlmtest/runner"
)

// some are runs of which the first have violated a property, others held it, and the
// rest did not put it to the test.
func some(property string, violated, held, open int) (runs []Run) {
	for i := range violated + held + open {
		v := checker.Unknown
		switch {
		case i < violated:
			v = checker.Violated
		case i < violated+held:
			v = checker.Holds
		}
		runs = append(runs, Run{Verdicts: map[string]checker.Verdict{property: v}})
	}
	return runs
}

func set(dir string, runs []Run) Set {
	return Set{Dir: dir, Cells: []Cell{{Name: "gc-pause × redis", Runs: runs}}}
}

func TestProperties(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, new [3]int // violated, held, not put to the test
		state    State
		says     string
	}{
		{"holds as before", [3]int{0, 5, 0}, [3]int{0, 3, 0}, Same, "holds in 3 runs, before in 5"},
		{"a new violation", [3]int{0, 20, 0}, [3]int{1, 19, 0}, Regression, "which proved a rate below 16.2 % alone"},
		{"a violation where nothing was known", [3]int{0, 0, 5}, [3]int{1, 0, 0}, Regression, "no old run put it to the test"},
		{"as often as before", [3]int{2, 3, 0}, [3]int{3, 2, 0}, Same, "chance explains it"},
		{"much more often", [3]int{1, 19, 0}, [3]int{19, 1, 0}, Regression, "more often"},
		{"much less often", [3]int{19, 1, 0}, [3]int{1, 19, 0}, Improvement, ""},
		{"gone", [3]int{20, 0, 0}, [3]int{0, 20, 0}, Improvement, ""},
		{"gone, perhaps", [3]int{1, 1, 0}, [3]int{0, 2, 0}, Same, "chance explains it"},
		{"not put to the test any more", [3]int{0, 5, 0}, [3]int{0, 0, 5}, Unclear, "no new run puts it to the test"},
		{"not put to the test in most runs", [3]int{0, 20, 0}, [3]int{0, 1, 19}, Unclear, "19 of 20 new runs do not put it to the test, before all 20 did"},
		{"not put to the test now and then, as before", [3]int{0, 4, 1}, [3]int{0, 3, 2}, Same, "holds in 3 runs"},
		{"a violation among them", [3]int{0, 20, 0}, [3]int{1, 0, 19}, Regression, "violated in 1 of 1 runs"},
		{"always violated", [3]int{5, 0, 0}, [3]int{5, 0, 0}, Same, ""},
	} {
		r := Compare(set("old", some("fairness", c.old[0], c.old[1], c.old[2])), set("new", some("fairness", c.new[0], c.new[1], c.new[2])), 0.1)
		if len(r.Cells) != 1 || len(r.Cells[0].Properties) != 1 {
			t.Fatalf("%s: %+v", c.name, r)
		}
		p := r.Cells[0].Properties[0]
		if p.State != c.state || r.State != c.state || !strings.Contains(p.Why, c.says) {
			t.Errorf("%s: %s, all %s: %q; want %s, %q", c.name, p.State, r.State, p.Why, c.state, c.says)
		}
	}
}

// timed are runs with these values of a measure.
func timed(measure string, values ...float64) (runs []Run) {
	for _, v := range values {
		runs = append(runs, Run{Verdicts: map[string]checker.Verdict{}, Measures: map[string]float64{measure: v}})
	}
	return runs
}

func TestMeasures(t *testing.T) {
	ten := []float64{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}
	times := func(by float64) (all []float64) {
		for _, v := range ten {
			all = append(all, v*by)
		}
		return all
	}
	for _, c := range []struct {
		name, measure string
		old, new      []float64
		state         State
		says          string
	}{
		{"the same", "acquire p50", ten, ten, Same, "chance explains it"},
		{"twice as long", "acquire p50", ten, times(2), Regression, "p 0.0"},
		{"half as long", "acquire p50", ten, times(0.5), Improvement, ""},
		{"half as many", "grants per second", ten, times(0.5), Regression, ""},
		{"twice as many", "grants per second", ten, times(2), Improvement, ""},
		{"significant and small", "acquire p50", []float64{100, 100.1, 100.2, 100.3, 100.4, 100.5}, []float64{101, 101.1, 101.2, 101.3, 101.4, 101.5}, Same, "but less than 10.0 %"},
		{"too few runs", "acquire p50", ten[:2], times(9)[:2], Unclear, "too few runs to tell from chance among 1 tests; take 4 of each side"},
		{"one side has none", "acquire p50", ten, nil, Unclear, "one side has no such operation"},
	} {
		r := Compare(set("old", timed(c.measure, c.old...)), set("new", timed(c.measure, c.new...)), 0.1)
		m := r.Cells[0].Measures[0]
		if m.State != c.state || !strings.Contains(m.Why, c.says) {
			t.Errorf("%s: %s %q, want %s %q", c.name, m.State, m.Why, c.state, c.says)
		}
	}
}

func TestWhatIsMissing(t *testing.T) {
	held := some("fairness", 0, 3, 0)
	for name, sets := range map[string][2]Set{
		"no such cell in the new one": {set("old", held), {Dir: "new"}},
		"no such cell in the old one": {{Dir: "old"}, set("new", held)},
		"nothing at all":              {{}, {}},
		"no judged run":               {set("old", held), {Cells: []Cell{{Name: "gc-pause × redis", Lost: 3}}}},
		"a run that failed":           {set("old", held), {Cells: []Cell{{Name: "gc-pause × redis", Runs: held, Lost: 1}}}},
	} {
		if r := Compare(sets[0], sets[1], 0.1); r.State != Unclear {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// A set differs from itself in nothing, and turned round a regression of a measure is
// an improvement.
func TestTurnedRound(t *testing.T) {
	turned := map[State]State{Same: Same, Unclear: Unclear, Regression: Improvement, Improvement: Regression}
	draw := rapid.SliceOfN(rapid.Float64Range(1, 1000), 1, 12)
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		x, y := set("a", timed("acquire p99", a...)), set("b", timed("acquire p99", b...))
		there, back := Compare(x, y, 0), Compare(y, x, 0)
		m, n := there.Cells[0].Measures[0], back.Cells[0].Measures[0]
		if m.P-n.P > 1e-9 || n.P-m.P > 1e-9 {
			t.Errorf("p %v there, %v back", m.P, n.P)
		}
		if m.Old != m.New && n.State != turned[m.State] { // equal medians have no direction
			t.Errorf("%s there, %s back", m.State, n.State)
		}
		if s := Compare(x, x, 0).State; s != Same && s != Unclear {
			t.Errorf("a set and itself: %s", s)
		}
	})
}

func TestOutputs(t *testing.T) {
	old := Set{Dir: "runs/old", Cells: []Cell{
		{Name: "gc-pause × redis", Runs: append(some("mutual-exclusion", 5, 0, 0), timed("acquire p50", 10, 11, 12, 13, 14, 15)...)},
		{Name: "base|line × <b>", Runs: some("fairness", 0, 4, 0)},
		{Name: "gone", Runs: some("fairness", 0, 4, 0)},
	}}
	fresh := Set{Dir: "runs/new", Cells: []Cell{
		{Name: "gc-pause × redis", Runs: append(some("mutual-exclusion", 5, 0, 0), timed("acquire p50", 30, 31, 32, 33, 34, 35)...)},
		{Name: "base|line × <b>", Runs: some("fairness", 1, 3, 0)},
	}}
	r := Compare(old, fresh, 0.1)
	for name, write := range map[string]func(io.Writer) error{
		"diff.txt": func(w io.Writer) error { return Text(w, r, 120, false) },
		"diff.md":  func(w io.Writer) error { return Markdown(w, r) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		golden.Compare(t, filepath.Join("testdata", name), b.Bytes())
	}
	var b bytes.Buffer
	var back Report
	if err := JSON(&b, r); err != nil || json.Unmarshal(b.Bytes(), &back) != nil || back.State != Regression {
		t.Errorf("%v %s", err, b.String())
	}
}

// The measures are those of the operations that succeeded, from invoke to answer.
func TestMeasure(t *testing.T) {
	op := func(ms int64, process int, kind history.Type, f history.F) history.Op {
		return history.Op{Time: ms * 1e6, Process: process, Type: kind, F: f}
	}
	m := measure([]history.Op{
		op(1000, 1, history.Invoke, history.Acquire), op(1005, 2, history.Invoke, history.Try), op(1010, 1, history.OK, history.Acquire),
		op(1020, 1, history.Invoke, history.Release), op(1022, 1, history.OK, history.Release), op(1025, 2, history.OK, history.Try),
		op(1030, 3, history.Invoke, history.Acquire), op(1900, 3, history.Info, history.Acquire), op(1950, 4, history.OK, history.Acquire), // no invoke
		op(1990, 2, history.Invoke, history.Release), op(2000, 2, history.OK, history.Release),
	})
	for name, want := range map[string]float64{"acquire p50": 10, "acquire p99": 20, "release p50": 2, "release p99": 10, "grants per second": 2} {
		if m[name] != want {
			t.Errorf("%s: %v, want %v", name, m[name], want)
		}
	}
	if len(measure(nil)) != 0 {
		t.Error("measures of nothing")
	}
}

// Of a run that was disturbed only what it violated counts, and the rest is its
// repeat's.
func TestLoadKeepsWhatADisturbedRunViolated(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"index.json": `{"dlmtest_index":1,"cells":[{"scenario":"a","backend":"b","runs":[
{"seed":1,"dir":"one","repeated":true,"properties":[{"name":"fairness","verdict":"violated"},{"name":"recovery","verdict":"unknown"}]},
{"seed":1,"dir":"two","properties":[{"name":"fairness","verdict":"holds"}]},{"seed":2,"dir":"three","properties":[{"name":"fairness","verdict":"holds"}]}]}]}`,
		"two/history.jsonl": `{"dlmtest_history":1,"setup":{"promise":{"backend":"b"},"lease":1000000000,"fencing":"at-least","fence_on":"write","keys":["k"],"clients":["client-1"]}}` + "\n",
		"two/results.json":  `{"verdict":"holds","properties":[{"name":"fairness","verdict":"holds"},{"name":"recovery","verdict":"holds"}]}`,
		"two/run.json":      `{"dlmtest_run":1}`,
	}
	for _, name := range []string{"history.jsonl", "results.json", "run.json"} {
		files["three/"+name] = files["two/"+name]
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Load(t.Context(), dir, true, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	if r := s.Cells[0].Runs; len(r) != 2 || count(r, "fairness") != (Count{1, 2, 0}) || count(r, "recovery") != (Count{0, 2, 0}) {
		t.Errorf("%+v", s)
	}
}

// A violation is proven, whatever becomes of the rest of its run, or of its repeat.
func TestLoadKeepsWhatAFailedRunViolated(t *testing.T) {
	for name, runs := range map[string]string{
		"failed beside it":     `{"seed":1,"dir":"one","error":"the network stays","properties":[{"name":"fairness","verdict":"violated"},{"name":"recovery","verdict":"holds"}]}`,
		"its repeat failed":    `{"seed":1,"dir":"one","repeated":true,"properties":[{"name":"fairness","verdict":"violated"}]},{"seed":1,"verdict":"failed","error":"no room"}`,
		"no time for it":       `{"seed":1,"dir":"one","repeated":true,"properties":[{"name":"fairness","verdict":"violated"}]},{"seed":1,"verdict":"not run"}`,
		"and the next as well": `{"seed":1,"dir":"one","repeated":true,"properties":[{"name":"fairness","verdict":"violated"}]},{"seed":1,"verdict":"failed"},{"seed":2,"verdict":"failed"}`,
	} {
		dir := t.TempDir()
		index := `{"dlmtest_index":1,"cells":[{"scenario":"a","backend":"b","runs":[` + runs + `]}]}`
		if err := os.WriteFile(filepath.Join(dir, "index.json"), []byte(index), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := Load(t.Context(), dir, true, func(int, int) {})
		if err != nil {
			t.Fatal(err)
		}
		if c := s.Cells[0]; c.Lost == 0 || count(c.Runs, "fairness") != (Count{1, 1, 0}) || count(c.Runs, "recovery") != (Count{}) {
			t.Errorf("%s: %+v", name, c)
		}
		held := Set{Cells: []Cell{{Name: s.Cells[0].Name, Runs: some("fairness", 0, 3, 0)}}}
		if r := Compare(held, s, 0.1); r.State != Regression {
			t.Errorf("%s: %s", name, r.State)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	read := func(int, int) {}
	if _, err := Load(t.Context(), dir, true, read); err == nil || !strings.Contains(err.Error(), "want the folder of a run") {
		t.Error(err)
	}
	if err := runner.Write(golden.Root(t, dir), "index.json", func(w io.Writer) error {
		_, err := io.WriteString(w, `{"dlmtest_index":1,"cells":[{"scenario":"a","backend":"b","runs":[{"seed":1,"dir":"../out","properties":[{"name":"fairness","verdict":"holds"}]}]}]}`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if s, err := Load(t.Context(), dir, true, read); err == nil || !strings.Contains(err.Error(), `a × b: its folder "../out" is not below`) {
		t.Errorf("%v: %+v; a folder outside is not read", err, s)
	}
}
