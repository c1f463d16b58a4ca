package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/scenarios"
)

// called runs dlmtest and wants an exit code; it returns what was said.
func called(t *testing.T, code int, args ...string) string {
	t.Helper()
	return calledAs(t, dlmtest(t), code, args...)
}

// calledAs is the same of another copy of the program.
func calledAs(t *testing.T, program string, code int, args ...string) string {
	t.Helper()
	said, got := []byte(nil), exitInconclusive
	for range 3 { // a stall of a busy machine leaves a run open
		cmd := exec.Command(program, args...)
		said, _ = cmd.CombinedOutput() // the exit code is looked at
		if got = cmd.ProcessState.ExitCode(); got == code || got != exitInconclusive {
			break
		}
	}
	if got != code {
		t.Fatalf("%q: exit %d, want %d\n%s", args, got, code, said)
	}
	return string(said)
}

// padded is gc-pause with a fault that has nothing to do with it.
const padded = `name: padded
title: A pause of the holder, and one of somebody else
about: What the first one does, the second does not.
workload: guarded-write
clients: 2
lease: 1s
work: 5ms
think: 5ms
duration: 0.5 lease
after: 0s
faults:
  - {fault: pause, target: a-waiter, at: 10ms, for: 0.1 lease}
  - {fault: pause, target: holder, on: before-write, for: {until: write-accepted, min: 1 lease, max: 4 lease}}
expect: {contention: 1, faults: 1}
`

// A run is replayed, and shrunk to the one fault that it takes; the file that is saved
// shows the violation by itself.
func TestReplayAndShrink(t *testing.T) {
	beside(t)
	dir, program := t.TempDir(), ownCopy(t)
	file, runs, smallest := filepath.Join(dir, "padded.yaml"), filepath.Join(dir, "runs"), filepath.Join(dir, "regressions", "smallest.yaml")
	if err := os.WriteFile(file, []byte(padded), 0o644); err != nil {
		t.Fatal(err)
	}
	calledAs(t, program, exitViolated, "run", "--scenario", file, "--backend", "redis", "--runtime", "local", "--seed", "7", "--oracle", "off", "--out", runs)
	first := filepath.Join(runs, "latest")
	said := calledAs(t, program, exitViolated, "replay", first, "--out", runs)
	if !regexp.MustCompile(`mutual-exclusion +then violated, now violated in 1 of 1`).MatchString(said) || !strings.Contains(said, " of 1 (95 %: ") {
		t.Errorf("the replay says\n%s", said)
	}
	said = calledAs(t, program, exitHolds, "shrink", first, "--property", "mutual-exclusion", "--tries", "2", "--prove", "2", "--budget", "2m", "--out", runs, "-o", smallest)
	s, err := scenarios.Load(smallest)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Faults) != 1 || s.Faults[0].Target != "holder" || s.Clients != 2 || !slices.Equal(s.Backends, []string{"redis"}) || !strings.Contains(said, "2 of 2") {
		t.Errorf("%s\nand says\n%s", s.YAML(), said)
	}
	calledAs(t, program, exitViolated, "run", "--scenario", smallest, "--backend", "redis", "--runtime", "local", "--seed", "7", "--oracle", "off", "--out", runs)
	noneRuns(t, program)
}

// A matrix in two shards, on two machines as it were, is the same matrix when merged.
func TestShardsMakeTheWhole(t *testing.T) {
	beside(t)
	dir := t.TempDir()
	ask := []string{"run", "--scenario", "baseline,leader-crash", "--backend", "redis,broken/no-owner-check", "--lease", "200ms", "--runtime", "local", "--seed", "7", "--count", "2", "--oracle", "off"}
	var parts []string
	for i, shard := range []string{"1/2", "2/2"} {
		out := filepath.Join(dir, shard[:1])
		said := called(t, exitHolds, append(ask, "--shard", shard, "--out", out)...)
		if !strings.Contains(said, "2 of 4 runs") {
			t.Errorf("shard %d says\n%s", i+1, said)
		}
		parts = append(parts, filepath.Join(out, "latest-matrix"))
	}
	whole := filepath.Join(dir, "whole")
	called(t, exitHolds, append([]string{"report", "merge", "-o", whole}, parts...)...)
	x := readIndex(t, whole)
	for _, c := range x.Cells {
		if c.Scenario == "leader-crash" {
			if c.Verdict != reports.NoSense {
				t.Errorf("%+v", c)
			}
			continue
		}
		if len(c.Runs) != 2 || c.Runs[0].Seed != 7 || c.Runs[1].Seed != 8 || c.Verdict != reports.Good {
			t.Errorf("%+v", c)
		}
		for _, r := range c.Runs {
			if _, err := os.Stat(filepath.Join(whole, r.Dir, "report.html")); err != nil {
				t.Error(err)
			}
		}
	}
	called(t, exitHolds, "check", whole, "--oracle", "off") // the copies can be judged again
	part := filepath.Join(dir, "part")
	if said := called(t, exitInconclusive, "report", "merge", parts[1], "-o", part); !strings.Contains(said, "shard 1 of 2 is missing, with 2 of 4 runs") {
		t.Errorf("half of it says\n%s", said)
	}
}
