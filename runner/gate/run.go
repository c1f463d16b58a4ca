package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

// Kind is what the folders of gates are called, and their link latest-gate.
const Kind = "gate"

// Spec is a gate as it was asked for.
type Spec struct {
	Config   *Config
	Cells    []runner.Options // of Config.Cells, in their order
	Seed     uint64           // of cells that have none
	Parallel int
	Fresh    bool          // each run has a cluster of its own
	Budget   time.Duration // 0: as long as it takes
	All      bool          // every run takes place, though all is decided
	Out      string        // folder of the gate's folder
	Version  string        // of dlmtest
	Command  []string      // that repeats the gate
	Repeat   func(o runner.Options) []string
}

// Run runs a gate and returns its folder and what it decided. A cancel of ctx ends it
// early, and what did not run is inconclusive. An error is dlmtest's own; the report
// stands beside it where there is one.
func Run(ctx context.Context, s Spec, see matrix.Watcher) (dir string, r Report, err error) {
	started := time.Now()
	g := &gate{Spec: s, ends: started.Add(s.Budget - reserve(s.Budget))}
	m := matrix.Spec{Cells: s.Cells, Parallel: s.Parallel, Fresh: s.Fresh, Out: s.Out, Version: s.Version, Command: s.Command, Repeat: s.Repeat,
		Kind: Kind, Rounds: true, Before: g.before}
	for i, c := range s.Config.Cells {
		m.Each = append(m.Each, matrix.Each{Count: c.Count, Seed: g.seed(i), Column: column(c), Named: c.Name})
	}
	within, cancel := ctx, context.CancelFunc(func() {})
	if s.Budget > 0 {
		within, cancel = context.WithDeadline(ctx, g.ends)
	}
	defer cancel()
	dir, x, err := matrix.Run(within, m, see)
	if dir == "" {
		return "", r, err
	}
	r = g.report(x, time.Since(started))
	switch {
	case ctx.Err() != nil:
		r.stop("The gate was interrupted before its end.")
	case r.State != Pass && (g.late || within.Err() != nil):
		r.stop(fmt.Sprintf("The budget of %v was used up before the end.", s.Budget))
	}
	in, unsaved := os.OpenRoot(dir)
	if unsaved == nil {
		unsaved = errors.Join(Save(in, r), in.Close())
	}
	return dir, r, errors.Join(err, unsaved)
}

// gate is one that runs.
type gate struct {
	Spec
	ends    time.Time     // what runs then is stopped: the budget less the reserve
	longest time.Duration // run so far
	late    bool
}

func (g *gate) seed(i int) uint64 {
	if seed := g.Config.Cells[i].Seed; seed > 0 {
		return uint64(seed)
	}
	return g.Seed
}

// column is what the lock of a cell is called in the index.
func column(c Cell) string {
	return pages.Column(history.LockName(c.Backend, c.Library), c.Name)
}

// reserve is what is kept of a budget for healing, taking down and judging.
func reserve(budget time.Duration) time.Duration { return min(10*time.Second, budget/5) }

// before implements matrix.Spec.Before; it is called by one goroutine at a time. A
// run that would not end in time is not begun: by the longest one so far of its cell,
// or of all where the cell has none yet.
func (g *gate) before(i int, c pages.Cell) matrix.Next {
	if !g.All && Judge(g.Config.Cells[i], c.Runs).Decided() {
		return matrix.Enough
	}
	if g.Budget == 0 {
		return matrix.Go
	}
	var longest time.Duration
	for _, r := range c.Runs {
		longest = max(longest, r.Took)
	}
	g.longest = max(g.longest, longest)
	if longest == 0 {
		longest = g.longest
	}
	if time.Now().Add(longest).After(g.ends) {
		g.late = true
		return matrix.Late
	}
	return matrix.Go
}

// report decides every cell.
func (g *gate) report(x pages.Index, took time.Duration) Report {
	r := Report{Format: Format, ID: x.ID, Name: g.Config.Name, File: g.Config.file, Command: g.Command, Version: g.Version,
		Started: x.Started, Took: took, Budget: g.Budget, Seed: g.Seed}
	var all []State
	for i, c := range x.Cells {
		cell := Judge(g.Config.Cells[i], c.Runs)
		path := fmt.Sprintf("cells[%d]", i)
		cell.Line = g.Config.Line(path)
		for n := range cell.Properties {
			p := &cell.Properties[n]
			p.Line = g.Config.Line(path + ".expect." + p.Property)
			if p.State == Undecided {
				p.State, p.Why = Inconclusive, fmt.Sprintf("%s of %d missing", nouns.Count(p.Tally.Left, "run"), p.Tally.planned())
				cell.Left = 0 // they were needed
			}
		}
		if cell.State == Undecided {
			cell.State = Inconclusive
		}
		if c.Verdict == reports.NoSense {
			cell.Notes = append(cell.Notes, "makes no sense: "+c.Reason)
		}
		r.Cells = append(r.Cells, cell)
		all = append(all, cell.State)
	}
	if r.State = Worst(all); r.State == Skipped {
		r.State = Inconclusive
	}
	return r
}

// ReportOf is the page of a run, below the gate's folder; "": it has none.
func ReportOf(run pages.CellRun) string {
	if run.Dir == "" {
		return ""
	}
	return filepath.ToSlash(filepath.Join(filepath.FromSlash(run.Dir), "report.html"))
}
