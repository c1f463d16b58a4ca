package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/near"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/gate"
	"github.com/dlmtest/dlmtest/scenarios"
)

// notInGate are flags of dlmtest run that a gate file has fields for, or that are the
// business of the machine that runs it.
var notInGate = []string{"scenario", "backend", "library", "count", "parallel", "fresh", "seed", "out", "json", "runtime",
	"shard", "timings", "help", "allow-host", "trust"}

// cells makes of each cell of a file the options of its runs. What is wrong with them
// is found before anything runs, all of it, with the lines.
func (f gateFlags) cells(cmd *cobra.Command, c *gate.Config, seed uint64) (all []runner.Options, err error) {
	var problems scenarios.Problems
	for i, cell := range c.Cells {
		at := fmt.Sprintf("cells[%d]", i)
		o, bad, err := f.options(cell, seed) // its runs have seeds of their own
		for _, b := range bad {
			if p := c.ProblemAt(flagAt(c, at, b.name), b.error); !slices.Contains(problems, p) { // one above all cells is said once
				problems = append(problems, p)
			}
		}
		if err == nil && len(bad) == 0 {
			err = sense(cmd, o)
		}
		if err != nil && !isUsage(err) {
			return nil, err
		}
		if err != nil {
			problems = append(problems, c.ProblemAt(at, fmt.Errorf("%s: %w", cell.Label(), err)))
		}
		all = append(all, o)
	}
	if len(problems) > 0 {
		return nil, usageError{problems}
	}
	return all, nil
}

// flagAt is the path of a flag: of a cell's own, or of the one above all cells.
func flagAt(c *gate.Config, cell, name string) string {
	if path := cell + ".flags." + name; c.Has(path) {
		return path
	}
	return "flags." + name
}

// sense refuses a cell that makes no sense, which a matrix would skip.
func sense(cmd *cobra.Command, o runner.Options) error {
	reason, err := runner.Applies(cmd.Context(), o)
	if reason != "" {
		return usageError{errors.New(reason + "; take the cell out")}
	}
	return err
}

func isUsage(err error) bool {
	var u usageError
	return errors.As(err, &u) || errors.Is(err, runner.ErrUsage)
}

// badFlag is a mistake in a flag of a cell.
type badFlag struct {
	name string
	error
}

// options are those that dlmtest run would make of the same flags.
func (f gateFlags) options(cell gate.Cell, seed uint64) (o runner.Options, bad []badFlag, err error) {
	var r runFlags
	cmd := &cobra.Command{Use: "run"}
	r.register(cmd)
	for _, name := range slices.Sorted(maps.Keys(cell.Flags)) {
		if err := setFlag(cmd, name, cell.Flags[name]); err != nil {
			bad = append(bad, badFlag{name, err})
		}
	}
	if len(bad) > 0 {
		return o, bad, nil
	}
	set := map[string]string{"scenario": cell.Scenario, "backend": cell.Backend, "seed": fmt.Sprint(seed)}
	if cell.Library != history.Reference {
		set["library"] = cell.Library
	}
	if f.runtime != "auto" {
		set["runtime"] = f.runtime
	}
	if f.allowHost {
		set["allow-host"] = "true"
	}
	for name, value := range set {
		if err := cmd.Flags().Set(name, value); err != nil {
			return o, nil, usageError{err}
		}
	}
	r.out = f.out
	options, err := r.cells(cmd)
	if err != nil {
		return o, nil, err
	}
	if got := options[0]; got.Library != plain(cell.Library) && len(got.Adapter) == 0 {
		return o, nil, usageError{fmt.Errorf("the scenario names the library %s: give the cell the same", got.Library)}
	}
	return options[0], nil, nil
}

func setFlag(cmd *cobra.Command, name, value string) error {
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(notInGate, flag.Name) {
			names = append(names, flag.Name)
		}
	})
	name = strings.TrimPrefix(name, "--")
	if name == "trust" {
		return errors.New("a file does not decide what is trusted: give what the scenario names as flags of the cell")
	}
	if name == "allow-host" {
		return errors.New("a file does not decide what may reach this machine: give --allow-host to dlmtest gate")
	}
	if slices.Contains(notInGate, name) {
		return fmt.Errorf("the flag %q is not one of a cell; scenario, backend, library, count and seed are fields of "+
			"their own, the others are given to dlmtest gate", name)
	}
	if !slices.Contains(names, name) {
		return fmt.Errorf("unknown flag %q of dlmtest run%s", name, near.Hint(name, names))
	}
	if err := cmd.Flags().Set(name, value); err != nil {
		return fmt.Errorf("flag %s: %q: %w", name, value, err)
	}
	return nil
}
