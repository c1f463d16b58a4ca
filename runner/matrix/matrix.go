package matrix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/scratch"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
)

// Spec is a matrix as it was asked for.
type Spec struct {
	Cells    []runner.Options                // row by row: all backends of a scenario, then the next scenario
	Count    int                             // runs a cell, with the seeds Seed, Seed+1, …
	Seed     uint64                          // of the first run of each cell
	Parallel int                             // runs at a time
	Fewer    bool                            // with each that the machine disturbed one fewer
	Out      string                          // folder of the matrix's folder
	Version  string                          // of dlmtest
	Command  []string                        // that repeats the matrix
	Repeat   func(o runner.Options) []string // the command that repeats one run

	Shard   Shard                    // the part to run; the zero value: all
	Timings map[string]time.Duration // by the names of cells: how long a run takes, where that is known

	Fresh  bool                              // each run has a cluster of its own; else runs of one lock may share one
	Kind   string                            // what the folder is called; empty: matrix
	Each   []Each                            // of each cell, in place of Count and Seed; nil: all are alike
	Rounds bool                              // the first run of every cell, then the second of every cell, …
	Before func(cell int, c pages.Cell) Next // asked before each run but a repeat; nil: all are done
}

// Watcher is told what goes on. Begins is called from several goroutines, the
// others from one at a time.
type Watcher interface {
	// Planned comes first: the index with the cells that are n/a, and how many runs there will be.
	Planned(dir string, x pages.Index, runs int)
	// Begins gives a run something to tell its progress to.
	Begins(cell string, seed uint64) runner.Progress
	// Ended is called when a run has ended and the index is written.
	Ended(s State, cell pages.Cell, r pages.CellRun)
}

// State is how far a matrix is.
type State struct {
	Done, Total int           // runs; a repeat is one more
	Left        time.Duration // until the end, a guess from the runs so far
	Again       bool          // the run that has ended was disturbed, and will be repeated
}

// ErrNothing says that no cell makes sense, so that nothing was run.
var ErrNothing = fmt.Errorf("%w: no scenario that was asked for makes sense on a backend that was", runner.ErrUsage)

// matrix is one that runs.
type matrix struct {
	spec Spec
	dir  string
	in   *os.Root // the same folder, held
	run  func(context.Context, runner.Options, runner.Progress) (*runner.Outcome, error)
	see  Watcher
	warm *runner.Warm // nil: runs share no cluster

	alike map[string]int // runs of a column: one alone has nobody to share a cluster with

	mu    sync.Mutex // of what follows
	index pages.Index
	state State
	spent time.Duration // by the runs that have ended, the sum
	left  [2]int        // runs that have not: in company, alone
	err   error         // the first one of the index itself
}

// job is one run of a cell.
type job struct{ cell, run int }

// Run runs a matrix and returns its folder and its index. A cell that fails does
// not end it. A cancel of ctx interrupts what runs, and the rest is marked. An
// error is dlmtest's own; one that matches runner.ErrUsage comes before any run.
func Run(ctx context.Context, s Spec, see Watcher) (string, pages.Index, error) {
	m := &matrix{spec: s, see: see, run: runner.Run}
	if err := m.plan(ctx); err != nil {
		return "", m.index, err
	}
	var err error
	if m.dir, err = newFolder(s.Out, cmp.Or(s.Kind, "matrix"), m.index.Started); err != nil {
		return "", m.index, err
	}
	defer scratch.Hold(m.dir)()
	if m.in, err = os.OpenRoot(m.dir); err != nil {
		return m.dir, m.index, err
	}
	defer func() { _ = m.in.Close() }() // all that was written is closed
	m.index.ID = filepath.Base(m.dir)
	err = m.all(ctx)
	if err == nil || !errors.Is(m.err, syscall.ENOSPC) { // of a disk that was full before, both tell the same
		err = errors.Join(err, m.err)
	}
	return m.dir, m.index, err
}

// plan lists the cells, and asks of each whether it makes sense.
func (m *matrix) plan(ctx context.Context) error {
	m.index = pages.Index{Format: pages.IndexFormat, Command: m.spec.Command, Version: m.spec.Version, Started: time.Now(),
		Count: m.spec.Count, Parallel: m.spec.Parallel}
	for i, o := range m.spec.Cells {
		c := pages.Cell{Scenario: o.Scenario.Name, Backend: m.spec.of(i).Column, Named: m.spec.of(i).Named, Alone: o.Scenario.Alone()}
		reason, err := runner.Applies(ctx, o)
		if errors.Is(err, runner.ErrUsage) || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		c.Reason = reason
		m.add(c, m.spec.of(i), err)
	}
	if m.state.Total == 0 {
		return fmt.Errorf("%w: %s: %s", ErrNothing, m.index.Cells[0].Name(), m.index.Cells[0].Reason)
	}
	return m.shard()
}

// add lists a cell with the runs that it is to have, or the error that it cannot
// be planned for.
func (m *matrix) add(c pages.Cell, each Each, err error) {
	switch {
	case c.Reason != "":
		c.Verdict, c.Answers = reports.NoSense, checker.Skipped()
	default:
		for n := range each.Count {
			r := pages.CellRun{Seed: each.Seed + uint64(n), Verdict: reports.Waiting}
			if err != nil {
				r.Verdict, r.Error = reports.Failed, err.Error()
			} else {
				m.left[side(c)]++
			}
			c.Runs = append(c.Runs, r)
		}
		m.state.Total += each.Count
		c.Settle()
	}
	m.index.Cells = append(m.index.Cells, c)
	if title := m.spec.Cells[len(m.index.Cells)-1].Scenario.Title; title != "" {
		if m.index.Titles == nil {
			m.index.Titles = map[string]string{}
		}
		m.index.Titles[c.Scenario] = title
	}
	for _, list := range []struct {
		names *[]string
		name  string
	}{{&m.index.Scenarios, c.Scenario}, {&m.index.Backends, c.Backend}} {
		if !slices.Contains(*list.names, list.name) {
			*list.names = append(*list.names, list.name)
		}
	}
}

// side is the place of a cell in matrix.left.
func side(c pages.Cell) int {
	if c.Alone {
		return 1
	}
	return 0
}

// all runs every cell.
func (m *matrix) all(ctx context.Context) error {
	if err := errors.Join(save(m.in, m.index), runner.Link(m.dir, "latest-"+cmp.Or(m.spec.Kind, "matrix"))); err != nil {
		return err
	}
	m.see.Planned(m.dir, m.index, m.state.Total)
	var jobs []job
	for i, c := range m.index.Cells {
		for _, r := range c.Runs {
			n := int(r.Seed - m.spec.of(i).Seed)
			if r.Verdict == reports.Waiting {
				jobs = append(jobs, job{i, n})
			} else {
				m.note(job{i, n}, r, false) // it could not even be planned
			}
		}
	}
	if !m.spec.Fresh {
		m.warm = &runner.Warm{Most: max(1, m.spec.Parallel)}
	}
	slices.SortStableFunc(jobs, m.order)
	m.alike = map[string]int{}
	for _, j := range jobs {
		m.alike[m.index.Cells[j.cell].Backend]++
	}
	left := Work[job]{Parallel: m.spec.Parallel, Fewer: m.spec.Fewer, Alone: func(j job) bool { return m.index.Cells[j.cell].Alone }, Do: m.do}.Run(ctx, jobs)
	closed := m.warm.Close(context.WithoutCancel(ctx))
	for _, j := range left {
		m.at(j).Verdict = reports.NotRun
	}
	if ctx.Err() != nil {
		m.index.Stopped = "This matrix was interrupted before its end."
	}
	m.index.Ended = true
	for i := range m.index.Cells {
		if m.index.Cells[i].Verdict != reports.NoSense {
			m.index.Cells[i].Settle()
		}
	}
	if m.spec.Kind == "" { // a gate compares nothing
		if err := compareAll(ctx, m.in, &m.index); err != nil {
			return errors.Join(closed, err)
		}
	}
	return errors.Join(closed, m.save())
}

// order is that of jobs: those whose runs may share a cluster follow each other.
func (m *matrix) order(a, b job) int {
	if m.spec.Rounds && a.run != b.run {
		return cmp.Compare(a.run, b.run)
	}
	if m.warm == nil {
		return 0
	}
	place := func(j job) int { return slices.Index(m.index.Backends, m.index.Cells[j.cell].Backend) }
	return cmp.Compare(place(a), place(b))
}

// at is the run of a job: the one with its seed that was not repeated.
func (m *matrix) at(j job) *pages.CellRun {
	runs := m.index.Cells[j.cell].Runs
	seed := m.spec.of(j.cell).Seed + uint64(j.run)
	return &runs[slices.IndexFunc(runs, func(r pages.CellRun) bool { return r.Seed == seed && !r.Repeated })]
}

// do does one run.
func (m *matrix) do(ctx context.Context, j job, again bool) (disturbed bool) {
	if !again && m.leftOut(j) {
		return false
	}
	o := m.spec.Cells[j.cell]
	o.Seed, o.Out, o.Part = m.spec.of(j.cell).Seed+uint64(j.run), m.dir, true
	o.Command = m.spec.Repeat(o)
	if again {
		m.repeats(j)
	} else if m.alike[m.index.Cells[j.cell].Backend] > 1 {
		o.Warm = m.warm
	}
	begun := time.Now()
	out, err := m.run(ctx, o, m.see.Begins(o.Scenario.Name+" × "+m.spec.of(j.cell).Column, o.Seed))
	r := judged(m.dir, out, err)
	r.Seed, r.Took = o.Seed, time.Since(begun)
	if out == nil && ctx.Err() != nil { // interrupted before there was anything to judge
		r.Verdict, r.Error = reports.NotRun, ""
	}
	disturbed = ctx.Err() == nil && !again && (errors.Is(err, runner.ErrShared) || out != nil && Disturbed(out.Result))
	m.note(j, r, disturbed)
	return disturbed
}

// note enters a run that has ended, writes the index and tells the watcher.
func (m *matrix) note(j job, r pages.CellRun, again bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*m.at(j) = r
	c := &m.index.Cells[j.cell]
	c.Settle()
	if r.Took > 0 {
		m.spent += r.Took
		m.left[side(*c)]--
	}
	m.state.Done++
	m.state.Again = again
	each := m.spent / time.Duration(m.state.Done)
	m.state.Left = each * time.Duration(m.left[1]+m.left[0]/max(1, m.spec.Parallel))
	if err := m.save(); err != nil && m.err == nil {
		m.err = err // what runs goes on: its own folder may still be written
	}
	m.see.Ended(m.state, *c, r)
}

// save writes the index as it is.
func (m *matrix) save() error {
	m.index.Took = time.Since(m.index.Started)
	return save(m.in, m.index)
}
