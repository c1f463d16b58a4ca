package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/shapes"
)

// A new command must be decided: what does a first signal do to it?
func TestEveryCommandHasAnEnding(t *testing.T) {
	root := newRoot()
	root.InitDefaultHelpCmd()
	var paths []string
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		paths = append(paths, pathOf(cmd))
		if endings[pathOf(cmd)] == nil {
			t.Errorf("%q has no entry in endings: what does Ctrl-C do to it?", cmd.CommandPath())
		}
		if cmd.PersistentPreRun != nil || cmd.PersistentPreRunE != nil {
			t.Errorf("%q has a PersistentPreRun, which takes the place of the one that knows what a signal does", cmd.CommandPath())
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(root)
	for path := range endings {
		if !slices.Contains(paths, path) {
			t.Errorf("endings names %q, and there is no such command", path)
		}
	}
}

// What is said of a signal is true of the command: only one with a cluster heals one.
func TestWordsOfAnInterrupt(t *testing.T) {
	for _, c := range []struct {
		args    string
		cluster bool
		want    string
		atOnce  bool
	}{
		{"check x", false, "interrupted", true},
		{"conform --endpoint localhost:1 -- adapter", false, "interrupted", true},
		{"conform --backend redis -- adapter", true, "interrupted: taking down", false},
		{"conform --backend redis", false, "interrupted: ending with what there is", false},
		{"gate --of x", false, "interrupted", true},
		{"gate", true, "interrupted: healing", false},
		{"gate init x", false, "interrupted", true},
		{"corpus", false, "interrupted", true},
		{"corpus all", true, "interrupted: healing", false},
		{"serve", false, "stopped", true},
		{"run", true, "interrupted: healing", false},
		{"run", false, "interrupted: ending with what there is", false},
		{"replay x", true, "interrupted: healing", false},
		{"shrink x", true, "interrupted: healing", false},
		{"selftest", true, "interrupted: healing", false},
		{"hunt --backend redis", true, "interrupted: healing", false},
		{"capacity", true, "interrupted: taking down", false},
		{"worker", false, "", false},
	} {
		root := newRoot()
		cmd, args, err := root.Find(strings.Fields(c.args))
		if err == nil {
			err = cmd.ParseFlags(args)
		}
		if err != nil {
			t.Fatal(c.args, err)
		}
		e := endingOf(cmd)
		if said := e.said(c.cluster); e.atOnce != c.atOnce || !strings.HasPrefix(said, c.want) || c.want == "" && said != "" || !c.cluster && strings.Contains(said, "heal") {
			t.Errorf("%s: %+v says %q, want %q", c.args, e, said, c.want)
		}
	}
}

// stuckCase is a command that would go on for ever or for long.
type stuckCase struct {
	name  string
	args  []string
	stdin bool // it waits for its standard input
	code  int
}

// A first signal ends a command without a cluster: in the midst of a long judgement,
// while it waits for a file or for a child. Nothing half written is left.
func TestFirstSignalEndsACommand(t *testing.T) {
	program, dir := ownCopy(t), t.TempDir()
	path := func(name ...string) string { return filepath.Join(append([]string{dir}, name...)...) }
	if err := os.MkdirAll(path("matrix", "long"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path("pipe.jsonl"), 0o644); err != nil {
		t.Fatal(err)
	}
	writeLong(t, path("matrix", "long", "history.jsonl"), 300000)
	writeMatrix(t, path("matrix"), "long")
	var runs []string
	for i := range 40 {
		run := fmt.Sprintf("long-%d", i)
		runs = append(runs, run)
		if err := errors.Join(os.MkdirAll(path("judged", run), 0o755),
			os.Link(path("matrix", "long", "history.jsonl"), path("judged", run, "history.jsonl")),
			os.WriteFile(path("judged", run, "results.json"), []byte("{}"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	writeMatrix(t, path("judged"), runs...)
	mark := fmt.Sprintf("30%d", os.Getpid())
	adapter := []string{"sh", "-c", "sleep " + mark + " & sleep " + mark}
	for _, c := range []stuckCase{
		{name: "check of a long run", args: []string{"check", path("matrix", "long")}},
		{name: "check FILE", args: []string{"check", path("matrix", "long", "history.jsonl")}},
		{name: "check FILE --model", args: []string{"check", path("pipe.jsonl"), "--model", "mutex"}},
		{name: "check -", args: []string{"check", "-", "--model", "mutex"}, stdin: true},
		{name: "check of a matrix", args: []string{"check", path("matrix")}},
		{name: "explain FILE", args: []string{"explain", path("pipe.jsonl"), "--model", "mutex"}},
		{name: "report of a long run", args: []string{"report", path("matrix", "long"), "-o", path("out.html")}},
		{name: "comparison", args: []string{"report", path("matrix", "long"), path("matrix", "long"), "-o", path("out.html")}},
		{name: "convert", args: []string{"convert", path("pipe.jsonl"), "--to", "edn", "-o", path("out.edn")}},
		{name: "convert -", args: []string{"convert", "-", "--to", "edn", "-o", path("out.edn")}, stdin: true},
		{name: "diff", args: []string{"diff", path("judged"), path("judged")}},
		{name: "gate --of", args: []string{"gate", "--of", path("matrix"), "--config", path("pipe.jsonl")}},
		{name: "serve", args: []string{"serve", dir, "--listen", "127.0.0.1:0"}, code: exitHolds},
		{name: "conform of an adapter", args: append([]string{"conform", "--endpoint", "127.0.0.1:1", "--"}, adapter...)},
	} {
		if c.code == 0 && c.name != "serve" {
			c.code = exitFailed
		}
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(c.name+"/"+signal.String(), func(t *testing.T) { c.ends(t, program, dir, signal) })
		}
	}
	noneRuns(t, program)
	if out, err := exec.Command("pgrep", "-f", "sleep "+mark).Output(); err == nil {
		t.Errorf("the adapter's processes go on: %s", out)
	}
}

func (c stuckCase) ends(t *testing.T, program, dir string, signal syscall.Signal) {
	before := filesIn(t, dir)
	cmd := exec.Command(program, c.args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if c.stdin {
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		t.Fatalf("it ended by itself, so it shows nothing: %v\n%s", err, &said)
	case <-time.After(400 * time.Millisecond):
	}
	began := time.Now()
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		code := 0
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			code = exit.ExitCode()
		}
		if code != c.code {
			t.Errorf("exit code %d, want %d\n%s", code, c.code, &said)
		}
	case <-time.After(30 * time.Second): // a second and less on a machine that is not busy
		_ = cmd.Process.Kill() // or nothing ends it
		<-ended
		t.Fatalf("it goes on after a signal\n%s", &said)
	}
	t.Logf("it took %v", time.Since(began))
	if strings.Contains(said.String(), "heal") || strings.Contains(said.String(), "cluster") {
		t.Errorf("it speaks of a cluster that it does not have: %s", &said)
	}
	if after := filesIn(t, dir); !slices.Equal(before, after) {
		t.Errorf("files are not what they were: %v, before %v", after, before)
	}
}

// filesIn lists all files below a folder, apart from the whole ones that a judgement saves.
func filesIn(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		switch filepath.Base(path) {
		case "results.json", "run.json", "junit.xml", "report.html":
		default:
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// writeMatrix writes the index of a matrix that ran one scenario, with the folders of its runs.
func writeMatrix(t *testing.T, dir string, runs ...string) {
	t.Helper()
	var told []string
	for _, run := range runs {
		told = append(told, `{"seed": 1, "dir": "`+run+`", "verdict": "holds", "properties": [{"name": "recovery", "verdict": "holds"}]}`)
	}
	index := `{"dlmtest_index": 1, "ended": true, "cells": [{"scenario": "s", "backend": "b", "verdict": "holds", "runs": [` + strings.Join(told, ",") + `]}]}`
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "index.json"), []byte(index), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// writeLong writes a history of which the judgement takes seconds.
func writeLong(t *testing.T, path string, n int) {
	t.Helper()
	i := slices.IndexFunc(shapes.All, func(s shapes.Shape) bool { return s.Name == "zombies" })
	setup, ops := shapes.All[i].Make(n)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(history.Encode(f, setup, ops), f.Close()); err != nil {
		t.Fatal(err)
	}
}
