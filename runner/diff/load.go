// Package diff compares what two versions of a lock have shown: runs, matrices or
// gates of an old release with those of a new one. A new violation is a regression;
// of rates and latencies it is what chance does not explain.
package diff

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/internal/stats"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

// Set is what was run of one version.
type Set struct {
	Dir   string
	Cells []Cell
}

// Cell is one scenario against one backend.
type Cell struct {
	Name string
	Runs []Run
	Lost int // runs that failed, or did not take place
}

// Run is what one run has shown. Each is one sample of its measures: the operations
// within a run wait for one another, so they are no samples.
type Run struct {
	Verdicts map[string]checker.Verdict
	Measures map[string]float64
}

// Load reads the folder of a run, a matrix or a gate. read is told of each run that
// was read, of how many.
func Load(ctx context.Context, dir string, latency bool, read func(done, of int)) (Set, error) {
	s := Set{Dir: dir}
	if !matrix.Is(dir) {
		out, err := runner.Open(dir)
		if err != nil {
			return s, fmt.Errorf("%w; want the folder of a run, a matrix or a gate", err)
		}
		s.Cells = []Cell{{Name: out.Run.Scenario + " × " + history.LockName(out.Run.Backend, out.Run.Library), Runs: []Run{of(out, latency)}}}
		return s, nil
	}
	in, err := os.OpenRoot(dir)
	if err != nil {
		return s, err
	}
	defer func() { _ = in.Close() }() // it was read
	x, err := matrix.OpenIn(in)
	if err != nil {
		return s, err
	}
	total, done := 0, 0
	for _, c := range x.Cells {
		total += len(c.Runs)
	}
	for _, c := range x.Cells {
		cell := Cell{Name: c.Name()}
		var stays []string // what a disturbed run violated, whatever its repeat shows
		for _, r := range c.Runs {
			if ctx.Err() != nil {
				return s, errors.New("interrupted; nothing was compared")
			}
			done++
			read(done, total)
			switch {
			case r.Repeated: // the machine disturbed it; its repeat counts
				stays = violated(r)
				continue
			case r.Dir == "" || len(r.Properties) == 0 || r.Error != "":
				cell.Lost++ // and yet what was violated before it failed is
				if stays = append(stays, violated(r)...); len(stays) > 0 {
					cell.Runs = append(cell.Runs, Run{Verdicts: map[string]checker.Verdict{}}.violates(stays))
				}
			default:
				own, err := bounded.Below(in, r.Dir)
				if err != nil {
					return s, fmt.Errorf("%s: %s: %w", dir, c.Name(), err)
				}
				out, err := runner.OpenIn(own)
				if err = errors.Join(err, own.Close()); err != nil {
					return s, err
				}
				cell.Runs = append(cell.Runs, of(out, latency).violates(stays))
			}
			stays = nil
		}
		if len(cell.Runs)+cell.Lost > 0 {
			s.Cells = append(s.Cells, cell)
		}
	}
	return s, nil
}

// violates is the run with some properties that are violated whatever else it shows.
func (r Run) violates(names []string) Run {
	for _, name := range names {
		r.Verdicts[name] = checker.Violated
	}
	return r
}

func violated(r pages.CellRun) (names []string) {
	for _, p := range r.Properties {
		if p.Verdict == checker.Violated {
			names = append(names, p.Name)
		}
	}
	return names
}

// of is what there is to compare of a run.
func of(out *runner.Outcome, latency bool) Run {
	r := Run{Verdicts: map[string]checker.Verdict{}}
	for _, p := range out.Result.Properties {
		if r.Verdicts[p.Name] = p.Verdict; out.Result.JudgeFailed && p.Verdict == checker.Holds {
			r.Verdicts[p.Name] = checker.Unknown
		}
	}
	if latency {
		r.Measures = measure(out.Ops)
	}
	return r
}

// Measures are what is compared of a run beside its properties, in order.
var Measures = []Kind{
	{"acquire p50", "ms", false}, {"acquire p99", "ms", false}, {"release p50", "ms", false}, {"release p99", "ms", false},
	{"grants per second", "", true},
}

// Kind is one measure of a run.
type Kind struct {
	Name     string `json:"name"`
	Unit     string `json:"unit,omitempty"`
	UpIsGood bool   `json:"up_is_good,omitempty"`
}

// measure works the measures of a run out of its history: acquires that were granted,
// releases that were answered. What there is none of is left out.
func measure(ops []history.Op) map[string]float64 {
	begun := map[int]history.Op{} // by process, which has one operation at a time
	took := map[history.F][]float64{}
	var first, last int64
	for _, op := range ops {
		switch op.Type {
		case history.Invoke:
			begun[op.Process] = op
			if first == 0 {
				first = op.Time
			}
		case history.OK:
			if from, ok := begun[op.Process]; ok && from.F == op.F {
				took[kindOf(op.F)] = append(took[kindOf(op.F)], float64(op.Time-from.Time)/1e6)
				last = op.Time
			}
		}
	}
	m := map[string]float64{}
	for f, name := range map[history.F]string{history.Acquire: "acquire", history.Release: "release"} {
		if len(took[f]) > 0 {
			m[name+" p50"], m[name+" p99"] = stats.Quantile(took[f], 0.5), stats.Quantile(took[f], 0.99)
		}
	}
	if last > first {
		m["grants per second"] = float64(len(took[history.Acquire])) / (float64(last-first) / 1e9)
	}
	return m
}

// kindOf takes an attempt to acquire for an acquire.
func kindOf(f history.F) history.F {
	if f == history.Try {
		return history.Acquire
	}
	return f
}
