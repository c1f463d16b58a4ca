package cli

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/runner/gate"
)

// gated is a gate that has ended.
type gated struct {
	cmd    *exec.Cmd
	code   int
	text   string
	report gate.Report
}

// gateCommand is dlmtest gate on a file, and where its folder will be.
func gateCommand(t *testing.T, program, file string, args ...string) (cmd *exec.Cmd, dir string) {
	t.Helper()
	dir = t.TempDir()
	config := filepath.Join(dir, "gate.yaml")
	if err := os.WriteFile(config, []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	runs := filepath.Join(dir, "runs")
	return exec.Command(program, append([]string{"gate", "--config", config, "--out", runs}, args...)...), filepath.Join(runs, "latest-gate")
}

func runGate(t *testing.T, file string, args ...string) gated {
	t.Helper()
	cmd, dir := gateCommand(t, dlmtest(t), file, args...)
	out, _ := cmd.CombinedOutput() // the exit code is looked at
	return gated{cmd, cmd.ProcessState.ExitCode(), string(out), openGate(t, dir, string(out))}
}

func openGate(t *testing.T, dir, said string) gate.Report {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "gate.json"))
	var r gate.Report
	if err = errors.Join(err, json.Unmarshal(data, &r)); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return r
}

// says wants an exit code and parts of the text.
func (g gated) says(t *testing.T, code int, parts ...string) {
	t.Helper()
	if g.code != code {
		t.Errorf("exit %d, want %d", g.code, code)
	}
	for _, part := range parts {
		if !strings.Contains(g.text, part) {
			t.Errorf("%q is not said", part)
		}
	}
	if t.Failed() {
		t.Log(g.text)
	}
}

// The same file passes a sound lock and fails one with a planted bug, which another
// file must detect; both servers are real.
func TestGateOnRealServers(t *testing.T) {
	beside(t)
	const sound = `
count: 1
flags: {lease: 1s}
cells:
  - {scenario: naive-release, backend: redis, expect: {release-by-owner: holds}}
  - scenario: naive-release
    backend: broken/no-owner-check
    others: not-judged
    count: 3
    expect: {release-by-owner: {is: must-detect, at-least: 1}} # a run may break other properties first
`
	g := runGate(t, sound)
	nothingLeft(t, g.cmd)
	g.says(t, exitHolds, "--- PASS: naive-release/redis/release-by-owner", "failure rate below 79.4 % at 95 %",
		"--- PASS: naive-release/broken/no-owner-check/release-by-owner", "detected in 1 of ")
	planted := strings.Replace(sound[:strings.Index(sound, "  - scenario")], "redis", "broken/no-owner-check", 1)
	g = runGate(t, planted, "--count", "3")
	// Which of the properties that it breaks comes first depends on the machine: of a disturbed one nothing is said.
	g.says(t, exitViolated, "--- FAIL: naive-release/broken/no-owner-check/", "not needed, as all was decided", "FAIL\t")
	if c := g.report.Cells[0]; c.Left == 0 || len(c.Runs)+c.Left < 3 {
		t.Errorf("%d runs, %d left out of 3", len(c.Runs), c.Left)
	}
	nothingLeft(t, g.cmd)
}

// A budget is kept: what did not run is listed, and is never green.
func TestGateKeepsItsBudget(t *testing.T) {
	beside(t)
	begun := time.Now()
	g := runGate(t, "count: 50\nflags: {lease: 1s}\ncells: [{scenario: baseline, backend: redis}]\n", "--budget", "10s")
	t.Logf("a gate with a budget of 10 s took %.1f s", time.Since(begun).Seconds())
	g.says(t, exitInconclusive, "--- INCONCLUSIVE: baseline/redis/", "The budget of 10s was used up before the end.", "not run: baseline/redis:", "INCONCLUSIVE\t")
	nothingLeft(t, g.cmd)
}

// An interrupt leaves a report of what was run, and nothing running.
func TestInterruptedGate(t *testing.T) {
	beside(t)
	program := ownCopy(t)
	cmd, dir := gateCommand(t, program, "count: 3\nflags: {lease: 1s}\ncells: [{scenario: baseline, backend: redis}]\n", "--runtime", "local")
	last := interruptAt(t, cmd, "[1/3]")
	text, err := os.ReadFile(filepath.Join(dir, "gate.txt"))
	if err != nil {
		t.Fatal(err)
	}
	g := gated{cmd, cmd.ProcessState.ExitCode(), string(text), openGate(t, dir, last)}
	g.says(t, exitInconclusive, "The gate was interrupted before its end.", "not run: baseline/redis:", "INCONCLUSIVE\t")
	runs := g.report.Cells[0].Runs
	if len(runs) != 3 || runs[0].Verdict != reports.Good || runs[2].Verdict != reports.NotRun {
		t.Errorf("%+v", runs)
	}
	noneRuns(t, program)
}
