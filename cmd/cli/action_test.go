package cli

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// job runs the steps of the action as GitHub does: with the inputs and their defaults, the environment of each step,
// its folder and its condition. Of the actions that it uses, the cache is a folder, and Go is there already.
type job struct {
	t      *testing.T
	known  map[string]string // what an expression may name, such as inputs.config
	env    []string
	folder string // the workspace
	cache  string
	ran    []string // the names of the steps that were not left out
}

// newJob is a job in an empty workspace with a cache that may be there from a job before.
func newJob(t *testing.T, a action, cache string, inputs map[string]string, env ...string) *job {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	j := &job{t: t, folder: t.TempDir(), cache: cache, env: env, known: map[string]string{"github.action_path": root, "runner.temp": t.TempDir(), "runner.arch": "X64"}}
	for name, i := range a.Inputs {
		j.known["inputs."+name] = i.Default
	}
	for name, value := range inputs {
		if _, ok := a.Inputs[name]; !ok {
			t.Fatalf("the action has no input %s", name)
		}
		j.known["inputs."+name] = value
	}
	return j
}

var expression = regexp.MustCompile(`\$\{\{ *([a-z_.-]+) *\}\}`)

// fill puts in what expressions name; an output that no step has set is empty.
func (j *job) fill(text any) string {
	return expression.ReplaceAllStringFunc(fmt.Sprint(text), func(e string) string {
		name := expression.FindStringSubmatch(e)[1]
		value, ok := j.known[name]
		if !ok && !strings.HasPrefix(name, "steps.") {
			j.t.Fatalf("nobody says what %s is", name)
		}
		return value
	})
}

var condition = regexp.MustCompile(`^([a-z_.-]+) (==|!=) '([^']*)'$`)

func (j *job) left(step map[string]any) bool {
	if step["if"] == nil {
		return false
	}
	m := condition.FindStringSubmatch(fmt.Sprint(step["if"]))
	if m == nil {
		j.t.Fatalf("a condition that this test does not read: %v", step["if"])
	}
	return (j.known[m[1]] == m[3]) != (m[2] == "==")
}

// run runs the steps until one fails, and returns the exit code of the last and what was said.
func (j *job) run(a action) (code int, said string) {
	for _, step := range a.Runs.Steps {
		if j.left(step) {
			continue
		}
		j.ran = append(j.ran, fmt.Sprint(step["name"]))
		if step["uses"] != nil {
			j.use(step)
			continue
		}
		code, said = j.script(step)
		if code != 0 {
			return code, said
		}
	}
	return code, said
}

// use is what the actions that are used do.
func (j *job) use(step map[string]any) {
	with, _ := step["with"].(map[string]any)
	from, to := filepath.Join(j.cache, j.fill(with["key"])), j.fill(with["path"])
	switch name, _, _ := strings.Cut(fmt.Sprint(step["uses"]), "@"); name {
	case "actions/setup-go":
	case "actions/cache/restore":
		if err := os.Link(from, to); err != nil && !errors.Is(err, os.ErrNotExist) {
			j.t.Fatal(err)
		}
	case "actions/cache/save":
		if err := os.Link(to, from); err != nil {
			j.t.Fatal(err)
		}
	default:
		j.t.Fatalf("an action that this test does not know: %s", name)
	}
}

func (j *job) script(step map[string]any) (int, string) {
	output := filepath.Join(j.t.TempDir(), "output")
	cmd := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "/dev/stdin")
	cmd.Stdin, cmd.Dir = strings.NewReader(fmt.Sprint(step["run"])), filepath.Join(j.folder, j.fill(or(step["working-directory"], ".")))
	if dir := j.fill(or(step["working-directory"], ".")); filepath.IsAbs(dir) {
		cmd.Dir = dir
	}
	cmd.Env = append(os.Environ(), "GITHUB_OUTPUT="+output, "GITHUB_ACTIONS=true", "GITHUB_WORKSPACE="+j.folder)
	env, _ := step["env"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		cmd.Env = append(cmd.Env, name+"="+j.fill(env[name]))
	}
	cmd.Env = append(cmd.Env, j.env...)
	out, err := cmd.CombinedOutput()
	if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
		j.t.Fatal(err)
	}
	set, err := os.ReadFile(output)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		j.t.Fatal(err)
	}
	for line := range strings.Lines(string(set)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		j.known[fmt.Sprintf("steps.%v.outputs.%s", step["id"], name)] = value
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func or(value any, otherwise string) any {
	if value == nil {
		return otherwise
	}
	return value
}

// A Go library's own lock is gated by its own program, which `go run` builds: on a real server, without Docker.
func TestActionGatesALibrarysOwnLock(t *testing.T) {
	beside(t)
	if testing.Short() {
		t.Skip("builds a program and starts a server")
	}
	a := readAction(t)
	module, err := filepath.Abs("../../examples/gomodule")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		expect string
		code   int
		state  string
	}{{"holds", 0, "pass"}, {"must-detect", 1, "fail"}} {
		dir := t.TempDir()
		config := filepath.Join(dir, "gate.yaml")
		text := "library: smalllock\ncells: [{scenario: baseline, backend: redis, count: 1, flags: {lease: 1s}, expect: {lease-exclusion: " + c.expect + "}}]\n"
		if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		j := newJob(t, a, t.TempDir(), map[string]string{"command": "go run ./cmd/smalllock-dlmtest", "working-directory": module, "config": config,
			"runtime": "local", "budget": "5m", "parallel": "1", "out": filepath.Join(dir, "out")})
		code, said := j.run(a)
		if code != c.code || j.known["steps.gate.outputs.state"] != c.state {
			t.Errorf("%s: exit %d, state %q, want %d and %s\n%s", c.expect, code, j.known["steps.gate.outputs.state"], c.code, c.state, said)
		}
		if _, err := os.Stat(filepath.Join(j.known["steps.gate.outputs.folder"], "gate.sarif")); err != nil {
			t.Errorf("%v\n%s", err, said)
		}
		if slices.Contains(j.ran, "Images") {
			t.Error("images are built for a run without Docker")
		}
	}
}

// standIn is a program whose gate ends as $GATE says, and a docker that notes what it is asked for: what is looked at is
// the action, and no lock.
const standIn = `#!/bin/bash
echo "$(basename "$0") $*" >>"$CALLS"
case "$1 $2" in
"images key") echo abc ;;
"images list") echo dlmtest/redis:1; echo dlmtest/etcd:2 ;;
"save --output") echo tar >"$3" ;;
"gate --config")
  read -r code state <<<"$GATE"
  if [ -n "$state" ]; then
    mkdir -p "$OUT/1_gate" && ln -s 1_gate "$OUT/latest-gate" && printf '{\n  "state": "%s",\n  "cells": [{"state": "pass"}]\n}\n' "$state" >"$OUT/1_gate/gate.json"
  fi
  exit "$code" ;;
esac
`

// standIns is a job whose program and docker are stand-ins; calls returns what they were asked for.
func standIns(t *testing.T, a action, cache, gate string) (j *job, calls func() string) {
	t.Helper()
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "calls")
	for _, name := range []string{"mine", "docker"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(standIn), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	j = newJob(t, a, cache, map[string]string{"command": "mine"}, "PATH="+bin+":"+os.Getenv("PATH"), "CALLS="+log, "GATE="+gate)
	return j, func() string {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// Images are built once, and stored although the gate then fails; the next job loads them and builds nothing.
func TestActionKeepsImages(t *testing.T) {
	a, cache := readAction(t), t.TempDir()
	first, calls := standIns(t, a, cache, "1 fail")
	if code, said := first.run(a); code != 1 || !strings.Contains(calls(), "mine images build") ||
		!regexp.MustCompile(`docker save --output \S+ dlmtest/redis:1 dlmtest/etcd:2\n`).MatchString(calls()) {
		t.Errorf("exit %d\n%s\n%s", code, calls(), said)
	}
	second, calls := standIns(t, a, cache, "0 pass")
	if code, said := second.run(a); code != 0 || strings.Contains(calls(), "images build") || !strings.Contains(calls(), "docker load --quiet --input") {
		t.Errorf("exit %d\n%s\n%s", code, calls(), said)
	}
}

// Whatever the program's exit code says: only a gate that passed, and whose program agrees, is green.
func TestActionIsGreenOnlyWhereTheGateIs(t *testing.T) {
	a := readAction(t)
	for _, c := range []struct {
		gate  string // exit code, and the state in gate.json
		code  int
		state string
	}{
		{"0 pass", 0, "pass"}, {"1 fail", 1, "fail"}, {"2 inconclusive", 2, "inconclusive"}, {"3 broken", 3, "broken"},
		{"1 inconclusive", 2, "inconclusive"}, {"1 broken", 3, "broken"}, // of go run
		{"1 pass", 3, "broken"}, {"0 fail", 3, "broken"}, {"0 nonsense", 3, "broken"}, {"2 pass", 3, "broken"}, {"130 pass", 3, "broken"},
		{"64", 64, ""}, {"1", 1, ""},
	} {
		j, _ := standIns(t, a, t.TempDir(), c.gate)
		if code, said := j.run(a); code != c.code || j.known["steps.gate.outputs.state"] != c.state {
			t.Errorf("%s: exit %d and state %q, want %d and %q\n%s", c.gate, code, j.known["steps.gate.outputs.state"], c.code, c.state, said)
		}
	}
}
