package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
)

// judge decides a history, saves it and all that is made from it.
func judge(ctx context.Context, dir string, run reports.Run, setup history.Setup, ops []history.Op, doubts, oracle []string) (*Outcome, error) {
	out := &Outcome{Dir: dir, Run: run, Setup: setup, Ops: ops}
	if err := history.Validate(setup, ops); err != nil {
		return nil, fmt.Errorf("the history breaks dlmtest's own rules, so it is not judged: %w; it is kept in %s", err, dir)
	}
	if run.Interrupted != "" {
		doubts = append(doubts, run.Interrupted)
	}
	out.Result = checker.Judge(setup, ops)
	checker.Doubt(setup, &out.Result, doubts)
	if oracle != nil {
		checker.Confirm(ctx, oracle, setup, ops, &out.Result)
	}
	return out, save(out)
}

// saveHistory writes the history in the order of time, then drops the file that
// was written as it came.
func saveHistory(dir string, setup history.Setup, ops []history.Op) error {
	err := write(dir, historyFile, func(w io.Writer) error { return history.Encode(w, setup, ops) })
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, partFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// save writes everything that a person or a program reads.
func save(out *Outcome) error {
	files := []struct {
		name   string
		render func(io.Writer) error
	}{
		{runFile, func(w io.Writer) error { return writeJSON(w, out.Run) }},
		{resultsFile, func(w io.Writer) error { return writeJSON(w, out.Result) }},
		{junitFile, func(w io.Writer) error { return reports.JUnit(w, out.Run, out.Result) }},
		{reportFile, func(w io.Writer) error { return reports.HTML(w, out.Run, out.Setup, out.Ops, out.Result) }},
	}
	for _, f := range files {
		if err := write(out.Dir, f.name, f.render); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// write makes a file whole or not at all.
func write(dir, name string, render func(io.Writer) error) error {
	f, err := os.CreateTemp(dir, "."+name+"-*")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	err = errors.Join(f.Chmod(0o644), render(f), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Check judges a saved run again, with no cluster. The history itself is left as
// it is; one that a killed run has left is written anew in the order of time.
func Check(ctx context.Context, dir string, oracle []string) (*Outcome, error) {
	saved, err := readHistory(dir)
	if err != nil {
		return nil, err
	}
	run, err := readRun(dir)
	if err != nil {
		return nil, err
	}
	if saved.part {
		err := write(dir, historyFile, func(w io.Writer) error { return history.Encode(w, saved.setup, saved.ops) })
		if err != nil {
			return nil, err
		}
	}
	doubts := append(slices.Clone(run.Doubts), saved.doubts...)
	return judge(ctx, dir, run, saved.setup, saved.ops, doubts, oracle)
}

// saved is a history read back.
type saved struct {
	setup  history.Setup
	ops    []history.Op
	part   bool     // as it came, from a run that did not end
	doubts []string // why it may be incomplete
}

// readHistory reads a finished history, or what a killed run has left.
func readHistory(dir string) (saved, error) {
	var h saved
	f, err := os.Open(filepath.Join(dir, historyFile))
	if errors.Is(err, os.ErrNotExist) {
		h.part = true
		f, err = os.Open(filepath.Join(dir, partFile))
	}
	if err != nil {
		return h, fmt.Errorf("%w; DIR is the folder of a run, such as runs/latest", err)
	}
	defer f.Close()
	h.setup, h.ops, err = history.Decode(f)
	if errors.Is(err, history.ErrTruncated) {
		h.doubts, err = []string{"The history ends in the middle of a line: what came after it is missing."}, nil
	}
	if err != nil {
		return h, fmt.Errorf("%s: %w", f.Name(), err)
	}
	history.Sort(h.ops)
	return h, nil
}

func readRun(dir string) (reports.Run, error) {
	var run reports.Run
	data, err := os.ReadFile(filepath.Join(dir, runFile))
	if errors.Is(err, os.ErrNotExist) { // killed before it could say more
		return reports.Run{Format: reports.Format, ID: filepath.Base(dir), Interrupted: "the run was killed before its end"}, nil
	}
	if err != nil {
		return run, err
	}
	if err := json.Unmarshal(data, &run); err != nil {
		return run, fmt.Errorf("%s: %w", runFile, err)
	}
	if run.Format > reports.Format {
		return run, fmt.Errorf("%s: written by a newer dlmtest (format %d, this one knows %d); update dlmtest", runFile, run.Format, reports.Format)
	}
	return run, nil
}
