package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/internal/whole"
	"github.com/dlmtest/dlmtest/reports"
)

// judge decides a history, saves it and all that is made from it.
func judge(ctx context.Context, dir string, run reports.Run, setup history.Setup, ops []history.Op, doubts []string, oracle checker.Oracle) (*Outcome, error) {
	out := &Outcome{Dir: dir, Run: run, Setup: setup, Ops: ops}
	if err := history.Validate(setup, ops); err != nil {
		err = fmt.Errorf("the history breaks dlmtest's own rules, so it is not judged: %w; it is kept in %s", err, dir)
		return nil, errors.Join(err, draw(out, err))
	}
	if run.Interrupted != "" {
		doubts = append(doubts, run.Interrupted)
	}
	out.Result = checker.Judge(setup, ops)
	checker.Doubt(setup, &out.Result, doubts)
	if err := minimize(out); err != nil {
		return nil, errors.Join(err, save(out)) // what was found is not lost with it
	}
	oracle.Save = func(number int, page string) (string, error) {
		name := fmt.Sprintf("%d.html", number)
		err := Write(filepath.Join(dir, violationsDir), name, func(w io.Writer) error { _, err := io.WriteString(w, page); return err })
		return violationsDir + "/" + name, err
	}
	if err := checker.Confirm(ctx, oracle, setup, ops, &out.Result); err != nil {
		return nil, errors.Join(err, save(out))
	}
	return out, save(out)
}

// draw writes the report of a history that is not judged, with the reason: a drawing is
// needed most where something is wrong.
func draw(out *Outcome, why error) error {
	reason := why.Error()
	r := checker.Result{
		Service: checker.Answer{Sentence: "Not judged."}, Data: checker.Answer{Sentence: "Not judged."}, Doubts: []string{reason},
	}
	return Write(out.Dir, reportFile, func(w io.Writer) error { return reports.HTML(w, out.Run, out.Setup, out.Ops, r) })
}

// saveHistory writes the history in the order of time, then drops the file that
// was written as it came.
func saveHistory(dir string, setup history.Setup, ops []history.Op) error {
	err := Write(dir, historyFile, func(w io.Writer) error { return history.Encode(w, setup, ops) })
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
	var err error
	if out.Run.History, err = historyFileOf(out.Dir); err != nil {
		return err
	}
	out.Figures = reports.Measure(out.Setup, out.Ops, out.Result)
	files := []struct {
		name   string
		render func(io.Writer) error
	}{
		{runFile, func(w io.Writer) error { return writeJSON(w, out.Run) }},
		{resultsFile, func(w io.Writer) error { return writeJSON(w, results{out.Result, out.Figures}) }},
		{junitFile, func(w io.Writer) error { return reports.JUnit(w, out.Run, out.Result) }},
		{reportFile, func(w io.Writer) error { return reports.HTML(w, out.Run, out.Setup, out.Ops, out.Result) }},
	}
	for _, f := range files {
		if err := Write(out.Dir, f.name, f.render); err != nil {
			return err
		}
	}
	return nil
}

// results is results.json: the judgement, and the figures that docs/figures.md names.
type results struct {
	checker.Result
	Figures reports.Figures `json:"figures"`
}

// historyFileOf says how large the history is, and its digest.
func historyFileOf(dir string) (*reports.HistoryFile, error) {
	f, err := os.Open(filepath.Join(dir, historyFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return &reports.HistoryFile{Name: historyFile, Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Write makes a file whole or not at all.
func Write(dir, name string, render func(io.Writer) error) error {
	return whole.Write(dir, name, render)
}

// Check judges a saved run again, with no cluster. The history itself is left as
// it is; one that a killed run has left is written anew in the order of time.
func Check(ctx context.Context, dir string, oracle checker.Oracle) (*Outcome, error) {
	saved, err := readHistory(dir)
	if err != nil {
		return nil, err
	}
	run, err := readRun(dir)
	if err != nil {
		return nil, err
	}
	if saved.part {
		err := Write(dir, historyFile, func(w io.Writer) error { return history.Encode(w, saved.setup, saved.ops) })
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
	if _, err := os.Stat(dir); err != nil {
		return h, fmt.Errorf("%w: %w; DIR is the folder of a run, such as runs/latest", ErrUsage, err)
	}
	if StillGoing(dir) {
		return h, fmt.Errorf("%s: the run is still going on; check it when it has ended", dir)
	}
	f, err := os.Open(filepath.Join(dir, historyFile))
	if errors.Is(err, os.ErrNotExist) {
		h.part = true
		f, err = os.Open(filepath.Join(dir, partFile))
	}
	if err != nil {
		return h, fmt.Errorf("%w; DIR is the folder of a run, such as runs/latest", err)
	}
	defer f.Close()
	if h.part && syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == syscall.EWOULDBLOCK {
		return h, fmt.Errorf("%s: the run is still going on; check it when it has ended", dir)
	}
	h.setup, h.ops, err = history.Decode(f)
	if errors.Is(err, history.ErrTruncated) {
		h.doubts, err = []string{"The history ends in the middle of a line: what came after it is missing."}, nil
	}
	if err != nil {
		return h, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if h.part { // as it came: several nodes, each in its own order
		history.Sort(h.ops)
	}
	return h, nil
}

// mostOfARun is many times what run.json has of the largest scenario.
const mostOfARun = 64 << 20

func readRun(dir string) (reports.Run, error) {
	var run reports.Run
	data, err := bounded.ReadFile(filepath.Join(dir, runFile), mostOfARun)
	if errors.Is(err, os.ErrNotExist) { // killed before it could say more
		return reports.Run{Format: reports.Format, ID: filepath.Base(dir), State: reports.Killed, Interrupted: wasKilled}, nil
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
	return settled(run), nil
}
