package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner/matrix"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Of decides a gate on runs that are there already: those of a matrix, of a gate, or
// of many machines' that were merged. fits says whether a run was done with the flags
// of a cell; where one was not, nothing is decided. The report is saved in the folder.
func Of(s Spec, dir string, fits func(Cell, []string) error) (Report, error) {
	in, err := os.OpenRoot(dir)
	if err != nil {
		return Report{}, fmt.Errorf("%w; want the folder of a matrix or a gate", err)
	}
	defer func() { _ = in.Close() }() // all that was written is closed
	x, err := matrix.OpenIn(in)
	if err != nil {
		return Report{}, fmt.Errorf("%w; want the folder of a matrix or a gate", err)
	}
	found := pages.Index{ID: x.ID, Started: x.Started}
	for i, cell := range s.Config.Cells {
		is := pages.Cell{Scenario: scenarioName(cell.Scenario), Backend: column(cell), Named: cell.Name}
		if n := slices.IndexFunc(x.Cells, func(c pages.Cell) bool { return c.Name() == is.Name() }); n >= 0 {
			is = x.Cells[n]
		}
		is.Runs = slices.Clone(is.Runs)
		for n := range is.Runs {
			r := &is.Runs[n]
			if len(r.Properties) == 0 {
				continue // it has no verdict
			}
			own, err := bounded.Below(in, r.Dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				matrix.Doubt(r, "its verdict cannot be looked at: "+err.Error())
				continue
			}
			var run reports.Run
			var result checker.Result
			if err == nil {
				run, result, err = readRun(own)
				_ = own.Close() // it was read
			}
			if err == nil {
				err = errors.Join(fits(cell, run.Command), sameScenario(s.Cells[i].Scenario, run.Resolved))
			}
			if err != nil {
				return Report{}, s.Config.ProblemAt(fmt.Sprintf("cells[%d]", i), fmt.Errorf("%s, run %d: %w", cell.Label(), n+1, err))
			}
			matrix.Believe(r, result)
		}
		found.Cells = append(found.Cells, is)
	}
	g := &gate{Spec: s}
	r := g.report(found, x.Took)
	if !x.Ended || x.Stopped != "" {
		r.stop("These runs ended early, or still go on.")
	}
	return r, Save(in, r)
}

// sameScenario refuses a run of another scenario that has the same name: a file that
// was made milder since, or one of the user's own beside a built-in one. resolved is what
// the run says of its own; what a run that is older does not say cannot be compared.
func sameScenario(want scenarios.Scenario, resolved string) error {
	if resolved == "" {
		return nil
	}
	was, err := scenarios.Parse("run.json", []byte(resolved))
	if err != nil {
		return fmt.Errorf("its scenario cannot be read any more: %w; run it again", err)
	}
	if bare(*was) != bare(want) {
		return fmt.Errorf("it was run with another %s than the file's: the scenario was changed since; run it again", want.Name)
	}
	return nil
}

// bare is all of a scenario that decides a run.
func bare(s scenarios.Scenario) string {
	s.Title, s.About, s.From, s.Expected = "", "", "", nil
	return string(s.YAML())
}
