package gate

import (
	"os"
	"path/filepath"
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
	open     = `{"properties": [{"name": "recovery", "verdict": "unknown", "reason": "Disturbed; repeat: a stall"}]}`
	index    = `{"dlmtest_index": 1, "cells": [
{"scenario": "gc-pause", "backend": "redis", "verdict": "violated", "runs": [
 {"seed": 1, "dir": "a", "verdict": "holds", "properties": [{"name": "recovery", "verdict": "holds"}]},
 {"seed": 2, "dir": "c", "verdict": "unknown", "repeated": true, "properties": [{"name": "recovery", "verdict": "unknown"}]},
 {"seed": 2, "dir": "b", "verdict": "violated", "properties": [{"name": "recovery", "verdict": "violated"}]}]},
{"scenario": "leader-crash", "backend": "redis", "verdict": "n/a", "reason": "nobody leads"},
{"scenario": "gc-pause", "backend": "redis (mine)", "verdict": "holds", "runs": [{"seed": 1, "dir": "a", "verdict": "holds", "properties": [{"name": "recovery", "verdict": "holds"}]}]},
{"scenario": "gc-pause", "backend": "etcd", "verdict": "holds", "runs": [{"seed": 1, "dir": "../elsewhere", "verdict": "holds", "properties": [{"name": "recovery", "verdict": "holds"}]}]}]}`
)

func TestFromAMatrix(t *testing.T) {
	dir := write(t, map[string]string{"index.json": index, "a/run.json": aRun, "a/results.json": held, "b/run.json": aRun, "b/results.json": violated})
	c, notes, err := From(dir, reads)
	if err != nil {
		t.Fatal(err)
	}
	first, mine := c.Cells[0], c.Cells[1]
	if len(c.Cells) != 2 || first.Count != 2 || first.Expect["recovery"].Is != Weakness || first.Expect["recovery"].Reason != "client-1 is late" ||
		first.Flags["lease"] != "1s" || mine.Name != "mine" || mine.Expect["recovery"].Is != Holds {
		t.Errorf("%+v", c.Cells)
	}
	if _, named := first.Expect["fairness"]; named {
		t.Error("what is not promised is named")
	}
	said := strings.Join(notes, "\n")
	for _, want := range []string{"leader-crash × redis is left out: no run of it was judged (nobody leads)", "gc-pause × etcd is left out", "is it one?"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said: %s", want, said)
		}
	}
	data, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse("gate.yaml", data); err != nil {
		t.Errorf("what was written is not read: %v\n%s", err, data)
	}
}

// A run that was disturbed proves nothing: holds is written, which a run must show.
// What a disturbed run violated is a weakness, as it fails a gate that expects it to hold.
func TestFromWhatADisturbedRunViolated(t *testing.T) {
	dir := write(t, map[string]string{"a/run.json": aRun, "a/results.json": held, "b/run.json": aRun, "b/results.json": violated,
		"index.json": `{"dlmtest_index": 1, "cells": [{"scenario": "gc-pause", "backend": "redis", "verdict": "violated", "runs": [
 {"seed": 1, "dir": "b", "verdict": "violated", "repeated": true, "properties": [{"name": "recovery", "verdict": "violated"}]},
 {"seed": 1, "dir": "a", "verdict": "holds", "properties": [{"name": "recovery", "verdict": "holds"}]}]}]}`})
	c, _, err := From(dir, reads)
	if err != nil || c.Cells[0].Count != 0 || c.Cells[0].Expect["recovery"].Is != Weakness {
		t.Errorf("%v: %+v", err, c)
	}
}

func TestFromADisturbedRun(t *testing.T) {
	c, notes, err := From(write(t, map[string]string{"run.json": aRun, "results.json": open}), reads)
	if err != nil || c.Cells[0].Expect["recovery"].Is != Holds || !strings.Contains(strings.Join(notes, " "), "was not put to the test") {
		t.Errorf("%v %+v %q", err, c, notes)
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
