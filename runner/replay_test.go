package runner

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/reports"
)

// savedRun writes the folder of a run that had these options, with its run.json changed.
func savedRun(t *testing.T, o Options, change func(*reports.Run)) string {
	t.Helper()
	p, err := newPlan(t.Context(), o, locks.Table[o.Backend])
	if err != nil {
		t.Fatal(err)
	}
	run := reports.Run{Format: reports.Format, Scenario: o.Scenario.Name, Backend: o.Backend, Seed: o.Seed, Command: []string{"dlmtest", "run", "--seed", "7"},
		Repeat: p.repeat("local")}
	if change != nil {
		change(&run)
	}
	dir := t.TempDir()
	result := checker.Result{Verdict: checker.Violated, Properties: []checker.Property{{Name: "lease-exclusion", Verdict: checker.Violated}}}
	for name, v := range map[string]any{runFile: run, resultsFile: result} {
		data, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What was saved plans the very same run, a storm too.
func TestReplayableIsTheSameRun(t *testing.T) {
	compose := unlabelled(t)
	for _, scenario := range []string{"storm", "gc-pause", "baseline", "delayed-write"} {
		o := options(t, scenario, "redis")
		o.Seed, o.Strict, o.FenceOn, o.SelfFence, o.Oracle = 42, true, "read", "check-deadline", "full"
		if scenario == "gc-pause" {
			o.Compose = compose
		}
		saved, err := Replayable(savedRun(t, o, nil), Given{Settings: settings.Settings{Compose: o.Compose}})
		if err != nil {
			t.Fatalf("%s: %v", scenario, err)
		}
		was, err := newPlan(t.Context(), o, locks.Table["redis"])
		if err != nil {
			t.Fatal(err)
		}
		now, err := newPlan(t.Context(), saved.Options, locks.Table["redis"])
		if err != nil {
			t.Fatal(err)
		}
		for i := range now.faults {
			now.faults[i].Stream, now.faults[i].Item = 0, was.faults[i].Item
		}
		was.Options.Scenario, was.Options.Runtime = now.Options.Scenario, "local" // of these the faults are compared
		for what, x := range map[string][2]any{"options": {was.Options, now.Options}, "faults": {was.faults, now.faults}, "schedule": {was.drawn, now.drawn},
			"setup": {was.setup, now.setup}, "servers": {was.servers, now.servers}, "clients": {was.clients, now.clients}} {
			if !reflect.DeepEqual(x[0], x[1]) {
				t.Errorf("%s: the %s were\n%+v\nand are\n%+v", scenario, what, x[0], x[1])
			}
		}
		if saved.Result.Verdict != checker.Violated {
			t.Errorf("%s: %+v", scenario, saved.Result)
		}
	}
}

func TestNotReplayable(t *testing.T) {
	compose := unlabelled(t)
	for want, change := range map[string]func(*reports.Run){
		"repeat it by its command instead: dlmtest run --seed 7": func(r *reports.Run) { r.Repeat = nil },
		"newer dlmtest":                         func(r *reports.Run) { r.Format = reports.Format + 1 },
		`unknown backend "relock"`:              func(r *reports.Run) { r.Backend = "relock" },
		`repeat.runtime: "moon": want auto`:     func(r *reports.Run) { r.Repeat.Runtime = "moon" },
		`repeat.fencing: "evil": want at-least`: func(r *reports.Run) { r.Repeat.Fencing = "evil" },
		"must not be below 0":                   func(r *reports.Run) { r.Repeat.Wait = -1 },
		"repeat.scenario: settings":             func(r *reports.Run) { r.Repeat.Scenario += "settings: {adapter: [sh]}\n" },
		"repeat.scenario: line 1":               func(r *reports.Run) { r.Repeat.Scenario = "" },
		"unknown field \"evil\"":                func(r *reports.Run) { r.Repeat.Scenario += "evil: true\n" },
		"no such file":                          func(r *reports.Run) { r.Repeat.Compose = "/nowhere/compose.yml" },
		"no plain file":                         func(r *reports.Run) { r.Repeat.Compose, r.Repeat.ComposeSum = "/dev/zero", noFile },
		"has changed since the run (SHA-256 ":   func(r *reports.Run) { r.Repeat.Compose, r.Repeat.ComposeSum = compose, "0" },
	} {
		if _, err := Replayable(savedRun(t, options(t, "gc-pause", "redis"), change), Given{Trust: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	for want, spoil := range map[string]func(dir string) error{
		"dlmtest check":             func(dir string) error { return os.Remove(filepath.Join(dir, resultsFile)) },
		"this is no run's folder":   func(dir string) error { return os.Remove(filepath.Join(dir, runFile)) },
		"run.json: line 1: ":        func(dir string) error { return os.WriteFile(filepath.Join(dir, runFile), []byte(`{"id"`), 0o644) },
		"no such file or directory": os.RemoveAll,
	} {
		dir := savedRun(t, options(t, "gc-pause", "redis"), nil)
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := Replayable(dir, Given{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestCompare(t *testing.T) {
	result := func(v checker.Verdict, violated ...string) checker.Result {
		r := checker.Result{Verdict: v}
		for _, name := range []string{"a", "b", "c"} {
			p := checker.Property{Name: name, Verdict: checker.Holds}
			for _, is := range violated {
				if is == name {
					p.Verdict = checker.Violated
				}
			}
			r.Properties = append(r.Properties, p)
		}
		return r
	}
	for _, c := range []struct {
		first, second checker.Result
		want          string
	}{
		{result(checker.Violated, "a", "b"), result(checker.Violated, "a", "b"), "reproduced: a, b"},
		{result(checker.Holds), result(checker.Holds), "reproduced: holds"},
		{result(checker.Unknown), result(checker.Unknown), "reproduced: unknown"},
		{result(checker.Violated, "a"), result(checker.Holds), "not reproduced (not violated any more: a; then violated, now holds)"},
		{result(checker.Violated, "a"), result(checker.Unknown), "undecided (not violated any more: a; then violated, now unknown)"},
		{result(checker.Holds), result(checker.Unknown), "undecided (then holds, now unknown)"},
		{result(checker.Violated, "a", "b"), result(checker.Violated, "a"), "other (again violated: a; not violated any more: b)"},
		{result(checker.Violated, "a"), result(checker.Violated, "a", "c"), "other (again violated: a; violated now: c)"},
		{result(checker.Violated, "a"), result(checker.Violated, "c"), "other (not violated any more: a; violated now: c)"},
		{result(checker.Holds), result(checker.Violated, "c"), "other (violated now: c; then holds, now violated)"},
		{result(checker.Unknown), result(checker.Holds), "other (then unknown, now holds)"},
	} {
		if got := Compare(c.first, c.second).String(); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// Whatever stands in run.json, it is an error or options that a run has.
func FuzzReplayable(f *testing.F) {
	f.Add([]byte(`{"dlmtest_run":1,"backend":"redis","seed":7,"repeat":{"resource":"store","fencing":"at-least","fence_on":"write","self_fence":"none","runtime":"local","scenario":"name: a\ntitle: A\nabout: A.\nworkload: guarded-write\nclients: 2\nlease: 1s\nduration: 1 lease\n"}}`))
	f.Add([]byte(`{"dlmtest_run":1,"repeat":{"compose":"/dev/zero"}}`))
	f.Add([]byte(`{"dlmtest_run":1,"backend":"redis","seed":7,"repeat":{"adapter":["sh"],"client_image":"dlmtest/client:latest","resource":"store","fencing":"at-least","fence_on":"write","self_fence":"none","runtime":"local","scenario":"name: a\ntitle: A\nabout: A.\nworkload: guarded-write\nclients: 2\nlease: 1s\nduration: 1 lease\n"}}`))
	f.Add([]byte(`{"dlmtest_run":1,"repeat":{}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		for name, data := range map[string][]byte{runFile: data, resultsFile: []byte(`{"verdict":"violated"}`)} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		saved, err := Replayable(dir, Given{})
		if err == nil && (saved.Options.Scenario.Validate() != nil || saved.Options.known() != nil) {
			t.Errorf("%+v", saved.Options)
		}
		if err != nil {
			return
		}
		o := saved.Options // nobody has trusted anything
		if len(o.Adapter) > 0 || o.Files != "" || o.Compose != "" || len(o.Endpoints) > 0 || o.AllowHost || o.Image != "" && !clusters.BuiltIn(o.Image) {
			t.Errorf("it names what is not built in: %+v", o)
		}
	})
}

// The command that a reader is to type in place of a replay is quoted, and on one line: the folder says it.
func TestCommandOfAFolderIsQuoted(t *testing.T) {
	dir := t.TempDir()
	text := `{"dlmtest_run": 1, "command": ["dlmtest", "run", "--seed", "1; touch owned\nforged"], "backend": "redis"}`
	if err := os.WriteFile(filepath.Join(dir, runFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Replayable(dir, Given{})
	if err == nil || !strings.Contains(err.Error(), "dlmtest run --seed '1; touch owned·forged'") {
		t.Errorf("%v", err)
	}
}
