package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// ofs decides a gate of one cell, recovery must hold, on a folder with one run.
func ofs(t *testing.T, index, result, resolved string) (Report, error) {
	t.Helper()
	c, err := Parse("gate.yaml", []byte("count: 1\ncells:\n- {scenario: gc-pause, backend: redis, expect: {recovery: holds}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	scenario, err := scenarios.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	run := fmt.Sprintf(`{"dlmtest_run": 1, "backend": "redis", "command": ["gc-pause"], "resolved": %q}`, resolved)
	dir := write(t, map[string]string{"a/run.json": run, "a/results.json": result,
		"index.json": `{"dlmtest_index": 1, "ended": true, "cells": [{"scenario": "gc-pause", "backend": "redis", "runs": [` + index + `]}]}`})
	return Of(Spec{Config: c, Cells: []runner.Options{{Scenario: *scenario}}}, dir, func(Cell, []string) error { return nil })
}

// A run is decided by what its own folder says, not by the index alone.
func TestOfBelievesFolders(t *testing.T) {
	all := func(verdict string) string {
		var list []string
		for _, p := range judged(Cell{}, nil) {
			list = append(list, fmt.Sprintf(`{"name": %q, "verdict": %q}`, p, verdict))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	green := `{"seed": 1, "verdict": "holds", "dir": "a", "properties": ` + all("holds") + `}`
	for name, c := range map[string]struct {
		index, result string
		want          State
	}{
		"both green":     {green, `{"verdict": "holds", "properties": ` + all("holds") + `}`, Pass},
		"judged anew":    {green, `{"verdict": "violated", "properties": ` + strings.Replace(all("holds"), "holds", "violated", 1) + `}`, Fail},
		"open at last":   {green, `{"verdict": "unknown", "properties": ` + strings.Replace(all("holds"), "holds", "unknown", 1) + `}`, Inconclusive},
		"without folder": {strings.Replace(green, `"dir": "a", `, "", 1), "", Inconclusive},
		"elsewhere":      {strings.Replace(green, `"a"`, `"../a"`, 1), "", Inconclusive},
	} {
		if r, err := ofs(t, c.index, c.result, ""); err != nil || r.State != c.want {
			t.Errorf("%s: %v, %s, want %s", name, err, r.State, c.want)
		}
	}
}

// What has not ended is not ok in any of its forms, though all that is there passes.
func TestOfWhatHasNotEnded(t *testing.T) {
	cell := Cell{Scenario: "s", Backend: "b", Count: 1}
	r := Report{State: Judge(cell, []pages.CellRun{shown(1, checker.Holds, nil)}).State}
	if r.State != Pass {
		t.Fatal(r.State)
	}
	r.stop("These runs still go on.")
	if r.State != Inconclusive || r.Word() != "INCONCLUSIVE" {
		t.Errorf("%s, %s", r.State, r.Word())
	}
	red := Report{State: Fail}
	if red.stop("interrupted"); red.State != Fail {
		t.Error(red.State)
	}
}

// A run of another scenario with the same name shows nothing of this one.
func TestOfWantsTheScenario(t *testing.T) {
	scenario, err := scenarios.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	run, held := `{"seed": 1, "verdict": "holds", "dir": "a", "properties": [{"name": "recovery", "verdict": "holds"}]}`, `{"verdict": "holds", "properties": [{"name": "recovery", "verdict": "holds"}]}`
	renamed, milder := *scenario, *scenario
	renamed.Title = "A title"
	milder.Faults = slices.Clone(milder.Faults)[:0]
	milder.Expect.Faults = 0
	for name, c := range map[string]struct {
		s    scenarios.Scenario
		fits bool
	}{"the same": {*scenario, true}, "another title": {renamed, true}, "without its faults": {milder, false}} {
		_, err := ofs(t, run, held, string(c.s.YAML()))
		if c.fits != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "gate.yaml: line 3: gc-pause/redis, run 1: it was run with another gc-pause") {
			t.Error(err)
		}
	}
}
