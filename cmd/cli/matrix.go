package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

// runMatrix runs every cell and says what was found.
func (f *runFlags) runMatrix(cmd *cobra.Command, cells []runner.Options) error {
	shard, timings, err := f.shardOf(os.LookupEnv)
	if err != nil {
		return err
	}
	spec := matrix.Spec{Shard: shard, Timings: timings, Cells: cells, Count: f.count, Seed: f.seed, Parallel: f.parallel,
		Fewer: f.bears, Fresh: f.fresh, Out: f.out, Version: version,
		Command: repeatAll(cmd, *f), Repeat: func(o runner.Options) []string { return withSeed(o.Command, o.Seed) }}
	see := newMatrixWatcher(cmd.OutOrStdout(), f.json)
	dir, x, err := matrix.Run(cmd.Context(), spec, see)
	see.Done()
	if dir == "" {
		return err
	}
	tellMatrix(cmd.OutOrStdout(), dir, x, f.json)
	return endOfMatrix(x, runner.NoRoom(err, "dlmtest check "+dir+", which judges what was recorded and writes the index again"))
}

// endOfMatrix gives a matrix that was run its exit code. One that a signal ended has no verdict as a whole, whatever
// its runs had shown: who starts shards again by their exit code (a Kubernetes Job, a CI job) must start this one again.
func endOfMatrix(x pages.Index, err error) error {
	if x.Stopped == "" {
		return matrixError(x, err)
	}
	return errors.Join(err, errors.New(x.Stopped+
		" It has no verdict as a whole; the index has what was seen, and marks what had not begun. Nothing is left running."))
}

// matrixError gives a matrix its exit code: the worst of its cells.
func matrixError(x pages.Index, err error) error {
	switch worst := x.Worst(); {
	case worst == reports.Violates:
		return verdictError{checker.Violated, err}
	case err != nil:
		return err
	case worst == reports.Failed:
		return errors.New("a run failed, which says nothing about its lock; see above or the index")
	case worst == reports.Good && x.Stopped == "": // else something is missing
		return verdictError{checker.Holds, nil}
	}
	return verdictError{checker.Unknown, nil}
}

// tellMatrix ends the output of a matrix.
func tellMatrix(w io.Writer, dir string, x pages.Index, asJSON bool) {
	page := filepath.Join(dir, matrix.PageFile)
	if asJSON {
		event(w, map[string]any{"event": "summary", "dir": dir, "index": page, "summary": x.Summary(), "worst": x.Worst(), "interrupted": x.Stopped})
		return
	}
	fmt.Fprintf(w, "\n%s, in %v\nindex   %s\n", x.Summary(), x.Took.Round(time.Second), page)
}

func event(w io.Writer, v any) { _ = json.NewEncoder(w).Encode(v) } // a closed pipe ends the run by signal

// matrixWatcher shows a matrix while it runs.
type matrixWatcher interface {
	matrix.Watcher
	Done()
}

func newMatrixWatcher(w io.Writer, asJSON bool) matrixWatcher {
	if asJSON {
		return &jsonMatrix{out: w}
	}
	return &textMatrix{out: w, status: newStatus(cursor, onTerminal())}
}

// textMatrix prints a line for each run that has ended and, on a terminal, one
// below that says what runs now.
type textMatrix struct {
	out    io.Writer
	status *status
	dir    string
}

func (t *textMatrix) Planned(dir string, x pages.Index, runs int) {
	t.dir = dir
	fmt.Fprintf(t.out, "%d runs, from seed %d\n", runs, x.FirstSeed())
	if s := x.Shard; s != nil {
		fmt.Fprintf(t.out, "shard %d of %d: %d of %d runs, about %v\n", s.Index, s.Count, runs, len(s.Plan), s.Expected.Round(time.Second))
	}
	for _, c := range x.Cells {
		if c.Verdict == reports.NoSense {
			fmt.Fprintf(t.out, "n/a  %s\n", visible.Line(c.Name()+": "+c.Reason))
		}
	}
	t.status.begin(runs)
}

func (t *textMatrix) Begins(cell string, _ uint64) runner.Progress { return t.status.run(cell) }

func (t *textMatrix) Ended(s matrix.State, c pages.Cell, r pages.CellRun) {
	t.status.ended(s, c.Name())
	t.status.aside(func() { fmt.Fprintf(t.out, "[%d/%d] %s\n", s.Done, s.Total, runLine(t.dir, c, r, s.Again)) })
}

func (t *textMatrix) Done() { t.status.end() }

// runLine is a run of a cell in one line, and more lines for what is not as a
// reader would expect. again says that it will be repeated.
func runLine(dir string, c pages.Cell, r pages.CellRun, again bool) string {
	text := visible.Line(fmt.Sprintf("%s  %s", c.RunName(r), r.Says()))
	if again {
		text += "; disturbed, it will be repeated"
	}
	if r.Took > 0 {
		text += fmt.Sprintf("  %.1f s", r.Took.Seconds())
	}
	if r.Dir != "" {
		text += "  " + visible.Line(filepath.Join(dir, filepath.FromSlash(r.Dir)))
	}
	for _, more := range []string{r.DiffersText(), r.Error, disturbance(r)} {
		if more != "" {
			text += "\n      " + strings.ReplaceAll(more, "\n", "\n      ")
		}
	}
	return text
}

// disturbance says why an inconclusive run is.
func disturbance(r pages.CellRun) string {
	if r.Verdict != reports.Unclear {
		return ""
	}
	return strings.Join(r.Doubts, "\n")
}

// jsonMatrix prints a JSON object a line.
type jsonMatrix struct {
	mu  sync.Mutex
	out io.Writer
}

func (j *jsonMatrix) say(v map[string]any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	event(j.out, v)
}

func (j *jsonMatrix) Planned(dir string, x pages.Index, runs int) {
	skipped := []pages.Cell{}
	for _, c := range x.Cells {
		if c.Verdict == reports.NoSense {
			skipped = append(skipped, c)
		}
	}
	j.say(map[string]any{"event": "matrix", "dir": dir, "runs": runs, "skipped": skipped, "shard": x.Shard})
}

func (j *jsonMatrix) Begins(cell string, seed uint64) runner.Progress {
	j.say(map[string]any{"event": "begin", "cell": cell, "seed": seed})
	return quiet{}
}

func (j *jsonMatrix) Ended(s matrix.State, c pages.Cell, r pages.CellRun) {
	j.say(map[string]any{"event": "end", "done": s.Done, "total": s.Total, "left": s.Left, "again": s.Again,
		"cell": c.Name(), "scenario": c.Scenario, "backend": c.Backend, "differs": r.DiffersText(), "run": r})
}

func (j *jsonMatrix) Done() {}
