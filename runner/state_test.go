package runner

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/golden"
	"github.com/dlmtest/dlmtest/internal/scratch"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/reports"
)

// killedRun is what a run leaves that was killed in the midst of a line.
func killedRun(t *testing.T) string {
	t.Helper()
	dir := saveSession(t, partFile)
	path := filepath.Join(dir, partFile)
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, text[:len(text)-20], 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, "gc-pause", "redis")
	o.Seed, o.Command = 7, []string{"dlmtest", "run", "--seed", "7"}
	p, err := newPlan(t.Context(), o, locks.Table["redis"])
	if err != nil {
		t.Fatal(err)
	}
	if err := saveRun(golden.Root(t, dir), p.begun(dir, "auto", time.Now())); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A killed run is known by the scenario that it was to be, is never green, and says why.
func TestCheckOfAKilledRunKnowsItsScenario(t *testing.T) {
	dir := killedRun(t)
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "dlmtest check") {
		t.Errorf("before it is judged: %v", err)
	}
	for range 2 { // what was judged once says the same again
		out, err := Check(t.Context(), dir, checker.Oracle{})
		if err != nil {
			t.Fatal(err)
		}
		if out.Run.Scenario != "gc-pause" || out.Run.State != reports.Killed || out.Run.Seed != 7 || out.Run.Resolved == "" {
			t.Errorf("%+v", out.Run)
		}
		if out.Result.Verdict != checker.Unknown || slices.ContainsFunc(out.Result.Properties, holds) || !strings.Contains(strings.Join(out.Result.Doubts, " "), wasKilled) {
			t.Errorf("%+v", out.Result)
		}
	}
	for name, want := range map[string]string{runFile: `"state": "killed"`, reportFile: wasKilled, junitFile: wasKilled, resultsFile: wasKilled} {
		if !strings.Contains(content(t, dir, name), want) {
			t.Errorf("%s does not say %q", name, want)
		}
	}
	if out, err := Open(dir); err != nil || out.Run.Interrupted != wasKilled {
		t.Errorf("opened: %v", err)
	}
}

// A killed run can be done again before anybody has judged it.
func TestReplayableAfterAKill(t *testing.T) {
	dir := killedRun(t)
	s, err := Replayable(dir, Given{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Options.Scenario.Name != "gc-pause" || s.Options.Seed != 7 || s.Options.Runtime != "auto" || s.Result.Verdict != checker.Unknown || len(s.Result.Properties) == 0 {
		t.Errorf("%+v\n%+v", s.Options, s.Result)
	}
	if _, err := os.Stat(filepath.Join(dir, resultsFile)); err == nil {
		t.Error("results were written")
	}
}

// A run that goes on is left alone, whatever its files say.
func TestStillGoing(t *testing.T) {
	dir := killedRun(t)
	free := scratch.Hold(dir)
	_, checked := Check(t.Context(), dir, checker.Oracle{})
	_, opened := Open(dir)
	_, again := Replayable(dir, Given{})
	for what, err := range map[string]error{"check": checked, "open": opened, "replay": again} {
		if err == nil || !strings.Contains(err.Error(), "still going on") {
			t.Errorf("%s: %v", what, err)
		}
	}
	free()
	if _, err := Check(t.Context(), dir, checker.Oracle{}); err != nil {
		t.Error(err)
	}
}

// A run without a cluster has ended, and says why; of one that was refused nothing is left.
func TestNeverUp(t *testing.T) {
	dir := killedRun(t)
	run, err := readRun(golden.Root(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := neverUp(golden.Root(t, dir), run, errors.New("timeout of geheim\nand more"), strings.NewReplacer("geheim", "…")); err != nil {
		t.Fatal(err)
	}
	var now reports.Run
	if err := json.Unmarshal([]byte(content(t, dir, runFile)), &now); err != nil || now.State != reports.Ended || !strings.HasSuffix(now.Interrupted, ": timeout of …") {
		t.Errorf("%v %+v", err, now)
	}
	in := golden.Root(t, dir)
	if err := neverUp(in, run, ErrUsage, nil); err != nil || StillGoing(in) {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it is still there")
	}
}
