package gate

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write makes files below a new folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func reads(command []string) (Asked, error) {
	return Asked{Scenario: command[0], Flags: map[string]string{"lease": "1s"}}, nil
}

const (
	aRun     = `{"dlmtest_run": 1, "scenario": "gc-pause", "backend": "redis", "command": ["gc-pause"]}`
	held     = `{"properties": [{"name": "recovery", "verdict": "holds", "reason": "so"}, {"name": "fairness", "verdict": "n/a", "reason": "so"}]}`
	violated = `{"properties": [{"name": "recovery", "verdict": "violated", "reason": "late", "violations": [{"message": "client-1\n is late"}]}]}`
	stalled  = `{"properties": [{"name": "recovery", "verdict": "unknown", "disturbed": true, "reason": "a stall"}]}`
	tooFew   = `{"properties": [{"name": "recovery", "verdict": "unknown", "would_hold": true, "reason": "no fault"}]}`
	untested = `{"properties": [{"name": "recovery", "verdict": "unknown", "reason": "Would hold, but nobody died"}]}`
	index    = `{"dlmtest_index": 1, "cells": [
{"scenario": "gc-pause", "backend": "redis", "verdict": "violated", "runs": [
 {"seed": 1, "dir": "a", "verdict": "holds", "properties": [{"name": "recovery", "verdict": "holds"}]},
 {"seed": 2, "dir": "c", "verdict": "unknown", "repeated": true, "properties": [{"name": "recovery", "verdict": "unknown"}]},
 {"seed": 2, "dir": "b", "verdict": "violated", "properties": [{"name": "recovery", "verdict": "violated"}]}]},
{"scenario": "leader-crash", "backend": "redis", "verdict": "n/a", "reason": "nobody leads"},
{"scenario": "gc-pause", "backend": "redis (mine)", "named": "mine", "verdict": "holds", "runs": [{"seed": 1, "dir": "d", "verdict": "holds", "properties": [{"name": "recovery", "verdict": "holds"}]}]},
{"scenario": "gc-pause", "backend": "etcd", "verdict": "holds", "runs": [{"seed": 1, "dir": "../elsewhere", "verdict": "holds", "properties": [{"name": "recovery", "verdict": "holds"}]}]}]}`
)

func TestFromAMatrix(t *testing.T) {
	dir := write(t, map[string]string{"index.json": index, "a/run.json": aRun, "a/results.json": held, "b/run.json": aRun, "b/results.json": violated,
		"d/run.json": aRun, "d/results.json": held})
	c, notes, err := From(dir, reads)
	if err != nil {
		t.Fatal(err)
	}
	first, mine := c.Cells[0], c.Cells[1]
	if len(c.Cells) != 2 || first.Count != 2 || first.Expect["recovery"].Is != ToDecide || first.Expect["recovery"].Seen != "client-1 is late" ||
		first.Flags["lease"] != "1s" || mine.Name != "mine" || mine.Expect["recovery"].Is != Holds {
		t.Errorf("%+v", c.Cells)
	}
	if _, named := first.Expect["fairness"]; named {
		t.Error("what is not promised is named")
	}
	said := strings.Join(notes, "\n")
	for _, want := range []string{"leader-crash × redis is left out: no run of it was judged (nobody leads)", "gc-pause × etcd is left out", "recovery was violated, and the scenario does not expect that"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said: %s", want, said)
		}
	}
	if _, err := reread(t, c); err == nil || !strings.Contains(err.Error(), `Then write "recovery: holds"`) {
		t.Errorf("what nobody has decided is read: %v", err)
	}
	first.Expect["recovery"] = Expectation{Is: Weakness, Reason: "we accept it", Link: first.Expect["recovery"].Link, Seen: "so"}
	if _, err := reread(t, c); err != nil {
		t.Errorf("what was decided is not read: %v", err)
	}
}

// reread writes a gate's file and reads it.
func reread(t *testing.T, c *Config) (*Config, error) {
	t.Helper()
	data, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return Parse("gate.yaml", data)
}

// A run that was disturbed proves nothing: holds is written, which a run must show.
// What a disturbed run violated is undecided, as it fails a gate that expects it to hold.
func TestFromWhatADisturbedRunViolated(t *testing.T) {
	dir := write(t, map[string]string{"a/run.json": aRun, "a/results.json": held, "b/run.json": aRun, "b/results.json": violated,
		"index.json": `{"dlmtest_index": 1, "cells": [{"scenario": "gc-pause", "backend": "redis", "verdict": "violated", "runs": [
 {"seed": 1, "dir": "b", "verdict": "violated", "repeated": true, "properties": [{"name": "recovery", "verdict": "violated"}]},
 {"seed": 1, "dir": "a", "verdict": "holds", "properties": [{"name": "recovery", "verdict": "holds"}]}]}]}`})
	c, _, err := From(dir, reads)
	if err != nil || c.Cells[0].Count != 0 || c.Cells[0].Expect["recovery"].Is != ToDecide {
		t.Errorf("%v: %+v", err, c)
	}
}

func TestFromARunThatDecidedNothing(t *testing.T) {
	for name, c := range map[string]struct {
		results string
		want    Want
		note    bool
	}{"a stall": {stalled, Holds, true}, "too little seen": {tooFew, Holds, true}, "the words alone decide nothing": {untested, NotJudged, false}} {
		x, notes, err := From(write(t, map[string]string{"run.json": aRun, "results.json": c.results}), reads)
		if err != nil || x.Cells[0].Expect["recovery"].Is != c.want || strings.Contains(strings.Join(notes, " "), "was not put to the test") != c.note {
			t.Errorf("%s: %v %+v %q", name, err, x, notes)
		}
	}
}

// A violation is a weakness where the scenario, written before the run, expects it of the lock, and
// nowhere else: a lock that frees by a plain DEL once had its bug accepted, with a reason and a link.
func TestFromWhatTheScenarioExpects(t *testing.T) {
	const resolved = `name: s\ntitle: It stops\nabout: So.\nworkload: guarded-write\nclients: 2\nlease: 1s\nwork: 1ms\nthink: 1ms\nduration: 1s\n` +
		`expected:\n  redis: {mutual-exclusion: violated, availability: {verdict: violated, note: they wait}, release-by-owner: holds}\n`
	run := func(backend, library string) string {
		return fmt.Sprintf(`{"dlmtest_run": 1, "backend": %q, "library": %q, "command": ["s"], "resolved": "%s"}`, backend, library, resolved)
	}
	broken := `{"properties": [{"name": "mutual-exclusion", "verdict": "violated"}, {"name": "availability", "verdict": "violated"}, {"name": "fairness", "verdict": "holds"},
		{"name": "release-by-owner", "verdict": "violated", "reason": "freed another's"}, {"name": "honest-claims", "verdict": "violated"}]}`
	brief := strings.NewReplacer("the scenario expects it of this lock: ", "", "the scenario expects ", "", " of this lock", "",
		"the scenario says nothing of it for this lock", "unsaid", "the scenario says nothing of this library; of the reference lock of redis it expects this: ", "reference: ")
	for name, c := range map[string]struct {
		run, want string
	}{
		"the lock": {run("redis", ""), "availability known-weakness they wait; fairness holds; honest-claims undecided unsaid; mutual-exclusion known-weakness It stops; release-by-owner undecided holds"},
		// Where the server ends idle sessions the scenario speaks of another lock.
		"with an idle timeout": {strings.Replace(run("redis", ""), `"command"`, `"options": {"idle-timeout": "lease"}, "command"`, 1),
			"availability undecided unsaid; fairness holds; honest-claims undecided unsaid; mutual-exclusion undecided unsaid; release-by-owner undecided unsaid"},
		// What a fence of reads must save is no weakness, though a fence of writes does not save it.
		"with reads fenced": {strings.Replace(strings.Replace(run("redis", ""), "{mutual-exclusion: violated", "{mutual-exclusion: {verdict: violated, fence-on-read: holds}", 1),
			`"command"`, `"options": {"fence-on": "read"}, "command"`, 1),
			"availability known-weakness they wait; fairness holds; honest-claims undecided unsaid; mutual-exclusion undecided holds; release-by-owner undecided holds"},
		// What is known of a backend's reference lock decides nothing about a library.
		"a library": {run("redis", "redsync@v4.13.0"), "availability undecided reference: they wait; fairness holds; honest-claims undecided unsaid; mutual-exclusion undecided reference: It stops; release-by-owner undecided unsaid"},
		// What follows from a planted bug is no news once the bug itself is detected.
		"a control": {run("broken/no-owner-check", ""), "fairness holds; release-by-owner must-detect"},
	} {
		x, _, err := From(write(t, map[string]string{"run.json": c.run, "results.json": broken}), reads)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, property := range slices.Sorted(maps.Keys(x.Cells[0].Expect)) {
			e := x.Cells[0].Expect[property]
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", property, e.Is, brief.Replace(e.Reason))))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, text, c.want)
		}
	}
}

// A link leads to its run also after the next one, which "latest" then points at, and through
// whatever the path is made of.
func TestLinksStay(t *testing.T) {
	dir := write(t, map[string]string{"a run/run.json": aRun, "a run/results.json": violated})
	if err := os.Symlink("a run", filepath.Join(dir, "latest")); err != nil {
		t.Fatal(err)
	}
	c, _, err := From(filepath.Join(dir, "latest"), reads)
	if err != nil {
		t.Fatal(err)
	}
	e := c.Cells[0].Expect["recovery"]
	if !strings.HasSuffix(e.Link, "/a%20run/report.html") || !isLink(e.Link) {
		t.Errorf("%q", e.Link)
	}
}

func TestFromRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"empty":        {nil, "want the folder of a run or a matrix"},
		"not judged":   {map[string]string{"run.json": aRun}, "dlmtest check"},
		"half written": {map[string]string{"run.json": `{"dlm`, "results.json": held}, "run.json"},
		"newer":        {map[string]string{"run.json": `{"dlmtest_run": 2}`, "results.json": held}, "newer dlmtest"},
		"newer matrix": {map[string]string{"index.json": `{"dlmtest_index": 2}`}, "newer dlmtest"},
		"no command":   {map[string]string{"run.json": `{"dlmtest_run": 1, "backend": "redis"}`, "results.json": held}, "does not say how it was run"},
		"no runs":      {map[string]string{"index.json": `{"dlmtest_index": 1}`}, "nothing to write"},
	} {
		if _, _, err := From(write(t, c.files), reads); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
