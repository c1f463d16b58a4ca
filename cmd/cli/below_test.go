package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// baits put something in place of a run's files: links that lead out, and what is never
// at its end. Each is a way to show, to change or to wait for what is not of the folder.
var baits = map[string]func(run, secret string) error{
	"a folder that is a link": func(run, secret string) error { return replace(run, filepath.Dir(secret)) },
	"run.json is a link":      func(run, secret string) error { return replace(filepath.Join(run, "run.json"), secret) },
	"results.json is a link":  func(run, secret string) error { return replace(filepath.Join(run, "results.json"), secret) },
	"history is a link":       func(run, secret string) error { return replace(filepath.Join(run, "history.jsonl"), secret) },
	"violations is a link": func(run, secret string) error {
		return os.Symlink(filepath.Dir(secret), filepath.Join(run, "violations"))
	},
	"run.json is a pipe":       func(run, _ string) error { return pipe(filepath.Join(run, "run.json")) },
	"results.json is a pipe":   func(run, _ string) error { return pipe(filepath.Join(run, "results.json")) },
	"history is a pipe":        func(run, _ string) error { return pipe(filepath.Join(run, "history.jsonl")) },
	"results.json has no end":  func(run, _ string) error { return replace(filepath.Join(run, "results.json"), "/dev/zero") },
	"history.jsonl has no end": func(run, _ string) error { return replace(filepath.Join(run, "history.jsonl"), "/dev/zero") },
}

func replace(path, to string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.Symlink(to, path)
}

func pipe(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return syscall.Mkfifo(path, 0o644)
}

// commandsOfMatrices read the runs of a matrix, and some write into its folders.
var commandsOfMatrices = map[string]func(dir string) []string{
	"check": func(dir string) []string { return []string{"check", dir} },
	"gate --of": func(dir string) []string {
		return []string{"gate", "--of", dir, "--config", filepath.Join(dir, "gate.yaml")}
	},
	"gate init": func(dir string) []string { return []string{"gate", "init", dir} },
	"diff":      func(dir string) []string { return []string{"diff", dir, dir} },
	"report":    func(dir string) []string { return []string{"report", dir, "--format", "md", "-o", "-"} },
	"merge":     func(dir string) []string { return []string{"report", "merge", dir, "-o", dir + "-whole"} },
}

// No command that reads the runs of a matrix goes through a link in it, or waits for what
// is no file. The same run without the bait is read by all of them.
func TestMatrixIsReadWithoutLinks(t *testing.T) {
	beside(t)
	for command, args := range commandsOfMatrices {
		t.Run(command, func(t *testing.T) {
			if said, _ := runBounded(t, args(baited(t, nil))); strings.Contains(said, "is a link") || strings.Contains(said, "cannot be") {
				t.Errorf("without a bait: %s", said)
			}
			for name, bait := range baits {
				dir := baited(t, bait)
				before := filesIn(t, filepath.Join(dir, "..", "outside"))
				said, ended := runBounded(t, args(dir))
				if !ended {
					t.Errorf("%s: it did not end", name)
				}
				if refused := "is a link|is a pipe|neither a file"; !containsOne(said, refused) && command != "merge" {
					t.Errorf("%s: it does not say %q: %s", name, refused, said)
				}
				if strings.Contains(said, "geheim") {
					t.Errorf("%s: it shows what lies outside: %s", name, said)
				}
				if after := filesIn(t, filepath.Join(dir, "..", "outside")); len(after) != len(before) {
					t.Errorf("%s: it wrote outside: %v", name, after)
				}
			}
		})
	}
}

func containsOne(text, words string) bool {
	for word := range strings.SplitSeq(words, "|") {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// baited is a matrix of one run, which has violated something, with a bait in it.
func baited(t *testing.T, bait func(run, secret string) error) (dir string) {
	t.Helper()
	x := newTrap(t)
	dir = filepath.Join(filepath.Dir(x.dir), "matrix")
	run, secret := filepath.Join(dir, "a"), filepath.Join(filepath.Dir(x.dir), "outside", "results.json")
	for _, d := range []string{dir, filepath.Dir(secret)} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	runJSON, err := os.ReadFile(filepath.Join(x.dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	runJSON = []byte(strings.Replace(string(runJSON), `"repeat":{`, `"was":{`, 1)) // a run that trusts nobody's files
	index := fmt.Sprintf(`{"dlmtest_index": 1, "ended": true, "cells": [{"scenario": "baseline", "backend": "redis", "verdict": "violated", "runs": [{"seed": 7, "dir": "a", "verdict": "violated", "properties": [%s]}]}]}`,
		`{"name": "lease-exclusion", "verdict": "violated"}`)
	if err := os.Rename(x.dir, run); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(run, "run.json"): string(runJSON), filepath.Join(dir, "index.json"): index, secret: `{"geheim": "geheim"}`,
		filepath.Join(dir, "gate.yaml"): "cells: [{scenario: baseline, backend: redis}]\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if bait != nil {
		if err := bait(run, secret); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runBounded runs a command that may hang.
func runBounded(t *testing.T, args []string) (said string, ended bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, dlmtest(t), args...)
	cmd.Dir = t.TempDir()
	out, _ := cmd.CombinedOutput() // what it says is looked at
	return string(out), ctx.Err() == nil
}

// A folder of another suite's histories is waited for as little as one of runs: what was found in it, and not named. And
// no link leads out of it.
func TestFoundHistoriesDoNotWait(t *testing.T) {
	beside(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("geheim\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	baits := map[string]func(path string) error{
		"is a pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"is a link": func(path string) error { return os.Symlink(secret, path) },
	}
	for _, name := range []string{"client-1/operations.json", "client-1/operations.json.gz", "history.jsonl"} {
		for want, bait := range baits {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), bait(path)); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"check", "--model", "mutex", dir}, {"check", "--model", "mutex", dir, dir},
				{"explain", "--model", "mutex", dir}, {"convert", dir, "--to", "edn"}} {
				if args[0] == "convert" && name == "history.jsonl" {
					continue // it takes no folder of a run
				}
				if said, ended := runBounded(t, args); !ended || !strings.Contains(said, want) || strings.Contains(said, "geheim") {
					t.Errorf("%q with %s: ended %v: %s", args, name, ended, said)
				}
			}
		}
	}
}
