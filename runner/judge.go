package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/figures"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/scenarios"
)

// judge decides a history, and saves it and all that is made from it. The verdict comes
// first: it is saved, and judged is told of it, before anything is looked for that only
// shows it better, and that a cancel of ctx ends. What is known is returned with an error of saving, too.
func judge(ctx context.Context, in *os.Root, run reports.Run, setup history.Setup, ops []history.Op, doubts []string,
	oracle checker.Oracle, judged func(*Outcome)) (*Outcome, error) {
	ops = history.Mend(setup, ops)
	dir := in.Name()
	out := &Outcome{Dir: dir, Run: run, Setup: setup, Ops: ops}
	if err := history.Validate(setup, ops); err != nil {
		err = fmt.Errorf("the history breaks dlmtest's own rules, so it is not judged: %w; it is kept in %s", err, dir)
		return nil, errors.Join(err, draw(in, out, err))
	}
	if run.Interrupted != "" {
		doubts = append(doubts, run.Interrupted)
	}
	out.Result = checker.Judge(setup, ops)
	out.Result.Expected = expected(run)
	if doubt := out.Result.EarlyDoubt(); doubt != "" {
		doubts = append(doubts, doubt)
	}
	checker.Doubt(setup, &out.Result, doubts)
	checker.Await(&out.Result)
	out.Figures = figures.Measure(setup, ops, out.Result)
	err := saveVerdict(in, out)
	if judged != nil {
		judged(out)
	}
	if err != nil {
		return out, fmt.Errorf("the verdict is not saved: %w; free some room, or see that %s can be written, then dlmtest check %s", err, dir, dir)
	}
	known := len(out.Result.Doubts)
	err = evidence(ctx, in, out, oracle)
	if len(out.Result.Doubts) > known {
		checker.Doubt(setup, &out.Result, nil)
		out.Figures = figures.Measure(setup, ops, out.Result) // a doubt is a part of them
	}
	return out, errors.Join(err, NoRoom(save(in, out), "dlmtest check "+dir+", which writes the report again"))
}

// expected is what the scenario of a run expects of its lock, by property; nil where it says nothing.
func expected(run reports.Run) map[string]checker.Expectation {
	scenario, err := scenarios.Parse(runFile, []byte(run.Resolved))
	if err != nil {
		return nil // of a run that was killed before it could say
	}
	return scenario.ExpectedOf(history.LockName(run.Backend, run.Library), run.Options["fence-on"], run.Idles())
}

// Verdict is the judgement in one line, for whoever waits for its evidence.
func (out *Outcome) Verdict() string {
	var violated []string
	for _, p := range out.Result.Properties {
		if p.Verdict == checker.Violated {
			violated = append(violated, p.Name)
		}
	}
	if len(violated) == 0 {
		return "verdict: " + out.Result.Verdict.String()
	}
	return "verdict: violated: " + strings.Join(violated, ", ")
}

// evidence finds what shows the violations best, and has Porcupine confirm and draw it.
// That of an earlier judgement stays until the new is whole: who is killed, or finds the
// disk full, loses nothing.
func evidence(ctx context.Context, in *os.Root, out *Outcome, oracle checker.Oracle) error {
	if err := in.RemoveAll(freshDir); err != nil {
		return err
	}
	err := minimize(ctx, in, out)
	oracle.Save = func(number int, page string) (string, error) {
		name := fmt.Sprintf("%d.html", number)
		err := writeFresh(in, name, func(w io.Writer) error { _, err := io.WriteString(w, page); return err })
		return violationsDir + "/" + name, err
	}
	if err == nil {
		err = checker.Confirm(ctx, oracle, out.Setup, out.Ops, &out.Result)
	}
	if err != nil {
		forget(&out.Result)
		return errors.Join(err, in.RemoveAll(freshDir))
	}
	return inPlace(ctx, in)
}

// freshDir is where new evidence is until it is whole.
const freshDir = violationsDir + ".new"

// writeFresh writes a file of the new evidence.
func writeFresh(in *os.Root, name string, render func(io.Writer) error) error {
	fresh, err := bounded.Made(in, freshDir)
	if err != nil {
		return err
	}
	return errors.Join(Write(fresh, name, render), fresh.Close())
}

// inPlace puts new evidence where that of an earlier judgement is. An interrupt may have
// come before there was any; then the old stays.
func inPlace(ctx context.Context, in *os.Root) error {
	if _, err := in.Lstat(freshDir); errors.Is(err, os.ErrNotExist) {
		if ctx.Err() != nil {
			return nil
		}
		return in.RemoveAll(violationsDir) // nothing is violated any more
	}
	dir, err := in.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // a folder
	at := int(dir.Fd())
	if err := unix.Renameat2(at, freshDir, at, violationsDir, unix.RENAME_EXCHANGE); err == nil {
		return in.RemoveAll(freshDir)
	}
	// There is no old evidence, or no exchange on this file system.
	return errors.Join(in.RemoveAll(violationsDir), in.Rename(freshDir, violationsDir))
}

// forget names no files of evidence that was not saved.
func forget(r *checker.Result) {
	for _, p := range r.Properties {
		for _, v := range p.Violations {
			if v.Minimal != nil {
				v.Minimal.File, v.Minimal.Drawing = "", ""
			}
		}
	}
}

// draw writes the report of a history that is not judged, with the reason: a drawing is
// needed most where something is wrong.
func draw(in *os.Root, out *Outcome, why error) error {
	reason := why.Error()
	const not = "Not judged."
	r := checker.Result{Sentences: checker.Sentences{Promise: not, Unfenced: not, Fenced: not, WentOn: not}, Doubts: []string{reason}}
	if out.Run.Interrupted != "" {
		r.Doubts = append(r.Doubts, out.Run.Interrupted)
	}
	return Write(in, reportFile, func(w io.Writer) error { return pages.HTML(w, out.Run, out.Setup, out.Ops, r) })
}

// Check judges a saved run again, with no cluster. The history itself is left as
// it is; one that a killed run has left is written anew in the order of time. judged,
// where it is given, is told of the verdict as soon as it is saved, before evidence is
// looked for. With an error of saving comes what is known.
func Check(ctx context.Context, dir string, oracle checker.Oracle, judged ...func(*Outcome)) (*Outcome, error) {
	in, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	out, err := CheckIn(ctx, in, oracle, judged...)
	return out, errors.Join(err, in.Close())
}

// CheckIn is Check of a folder that is held: nothing is read or written outside of it.
func CheckIn(ctx context.Context, in *os.Root, oracle checker.Oracle, judged ...func(*Outcome)) (*Outcome, error) {
	saved, err := readHistory(in)
	if err != nil {
		return nil, err
	}
	run, err := readRun(in)
	if err != nil {
		return nil, err
	}
	run.History = nil // it may be another by now
	var unsaved error
	if saved.part {
		unsaved = Write(in, HistoryFile, func(w io.Writer) error { return history.Encode(w, saved.setup, saved.ops) })
	}
	doubts := append(slices.Clone(run.Doubts), saved.doubts...)
	out, err := judge(ctx, in, run, saved.setup, saved.ops, doubts, oracle, func(out *Outcome) {
		for _, tell := range judged {
			tell(out)
		}
	})
	return out, errors.Join(unsaved, err)
}

// saved is a history read back.
type saved struct {
	setup  history.Setup
	ops    []history.Op
	part   bool     // as it came, from a run that did not end
	doubts []string // why it may be incomplete
}

// readHistory reads a finished history, or what a killed run has left.
func readHistory(in *os.Root) (saved, error) {
	var h saved
	if StillGoing(in) {
		return h, fmt.Errorf("%s: the run is still going on; check it when it has ended", in.Name())
	}
	f, err := bounded.OpenIn(in, HistoryFile)
	if errors.Is(err, os.ErrNotExist) {
		h.part = true
		f, err = bounded.OpenIn(in, partFile)
	}
	if err != nil {
		return h, fmt.Errorf("%w; DIR is the folder of a run, such as runs/latest", err)
	}
	defer f.Close()
	if h.part && syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == syscall.EWOULDBLOCK {
		return h, fmt.Errorf("%s: the run is still going on; check it when it has ended", in.Name())
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

func readRun(in *os.Root) (reports.Run, error) {
	var run reports.Run
	data, err := bounded.ReadIn(in, runFile, mostOfARun)
	if errors.Is(err, os.ErrNotExist) { // killed before it could say more
		return reports.Run{Format: reports.Format, ID: filepath.Base(in.Name()), State: reports.Killed, Interrupted: wasKilled}, nil
	}
	if err != nil {
		return run, err
	}
	if run, err = DecodeRun(filepath.Join(in.Name(), runFile), data); err != nil {
		return run, err
	}
	return settled(run), nil
}

// minimize saves the smallest history of each of the first violations in N.jsonl of the new evidence.
func minimize(ctx context.Context, in *os.Root, out *Outcome) error {
	return checker.Minimize(ctx, out.Setup, out.Ops, &out.Result,
		func(number int, setup history.Setup, ops []history.Op) (string, history.Setup, []history.Op, error) {
			name := fmt.Sprintf("%d.jsonl", number)
			var text bytes.Buffer
			err := history.Encode(&text, setup, ops)
			if err == nil {
				err = writeFresh(in, name, func(w io.Writer) error { _, err := w.Write(text.Bytes()); return err })
			}
			if err == nil {
				setup, ops, err = history.Decode(&text)
			}
			return violationsDir + "/" + name, setup, ops, err
		})
}
