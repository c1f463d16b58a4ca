package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/gate"
	"github.com/dlmtest/dlmtest/scenarios"
)

const gateLong = `Run what a gate file lists, hold every property against what the file expects of it,
and say whether a release may pass.

The file lists scenario × backend with counts, seeds and flags of dlmtest run, and for
each property holds (all that is not named must hold), known-weakness (with a reason
and a link), must-detect (a lock that is broken on purpose), or not-judged (with a
reason). A new violation fails. A known weakness does not, and one that is not seen any
more is reported. A fault that was not observed, too little contention, or a run that
failed or did not take place makes the gate inconclusive, never green. A run that the machine
disturbed is repeated once, and both are listed. Each pass is printed with the upper bound of the
failure rate that it proves, at 95 % confidence.

A cell ends when no further run can change its result (--all executes them anyway). Under
--budget no run begins that would not end in time; what did not run is listed.

With --of DIR nothing is run: the file decides on the saved runs of a matrix, which may be
merged from many machines. They must have used its flags and scenarios, and a run whose own
folder contradicts the index is inconclusive.

The gate's folder has gate.html, gate.txt, gate.json, gate.jsonl, gate.xml (JUnit), gate.sarif and
gate.md, beside the index of all runs. Where GITHUB_STEP_SUMMARY is set, gate.md is
added to it.

Exit codes: 0 pass, 1 a property is not as expected, 2 inconclusive, 3 dlmtest or its
infrastructure failed, 64 wrong usage or a mistake in the file.`

// gateFlags are the flags of `dlmtest gate`.
type gateFlags struct {
	config, of, out, runtime string
	budget                   time.Duration
	seed                     uint64
	count, parallel          int
	all, asJSON, verbose     bool
	fresh                    bool
	allowHost                bool
	budgetSet, parallelGiven bool
}

func newGate() *cobra.Command {
	var f gateFlags
	cmd := &cobra.Command{
		Use:   "gate",
		Short: "Run a list of scenarios and decide whether a release may pass",
		Long:  gateLong,
		Example: `  dlmtest gate init runs/latest-matrix -o gate.yaml
  dlmtest gate --config gate.yaml
  dlmtest gate --config gate.yaml --budget 20m --parallel 2 --out artefacts
  dlmtest gate --config gate.yaml --of runs/latest-matrix
  dlmtest gate --config gate.yaml --json | jq 'select(.event == "judged" and .state == "fail")'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.budgetSet, f.parallelGiven = cmd.Flags().Changed("budget"), cmd.Flags().Changed("parallel")
			return f.gate(cmd)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.config, "config", "gate.yaml", "the gate's `file`")
	flags.StringVar(&f.of, "of", "", "decide on the runs of this `folder` of a matrix or a gate, and run nothing")
	flags.DurationVar(&f.budget, "budget", 0, "the longest that it may take, such as 20m (default: the file's, or no limit)")
	flags.IntVar(&f.count, "count", 0, "runs of every cell, in place of the file's")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of cells that have none in the file (default: a new one, printed)")
	flags.IntVar(&f.parallel, "parallel", 1, "runs at a time (default: the file's); timing-sensitive ones execute alone")
	flags.BoolVar(&f.fresh, "fresh", false, "start a cluster for each run (default: runs of one lock may share one, each with keys of its own)")
	flags.BoolVar(&f.all, "all", false, "run everything, though all may be decided: for rates")
	flags.StringVar(&f.runtime, "runtime", "auto", "docker, local, or auto")
	flags.BoolVar(&f.allowHost, "allow-host", false, "let the compose files of cells reach this machine, as dlmtest run has it; a gate file cannot ask for it")
	flags.StringVar(&f.out, "out", "runs", "folder for the gate's folder, the artefact of a CI job")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON lines instead of text")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show properties that are not promised, too")
	_ = cmd.RegisterFlagCompletionFunc("runtime", complete([]string{"auto", "docker", "local"}))
	cmd.AddCommand(patient(newGateInit()))
	return cmd
}

// gate runs one gate, from its file to its exit code.
func (f gateFlags) gate(cmd *cobra.Command) error {
	spec, err := f.spec(cmd)
	if err != nil {
		return err
	}
	if f.of != "" {
		return f.decide(cmd, spec)
	}
	if !f.asJSON {
		fmt.Fprintln(stderr, "gate "+spec.Config.Name+ownSeed(spec))
	}
	see := newMatrixWatcher(cmd.OutOrStdout(), f.asJSON)
	dir, r, err := gate.Run(cmd.Context(), spec, see)
	see.Done()
	if dir == "" {
		return err
	}
	err = errors.Join(runner.NoRoom(err, fmt.Sprintf("dlmtest check %s and dlmtest gate --config %s --of %s", dir, f.config, dir)),
		f.tell(cmd.OutOrStdout(), dir, r), jobSummary(r))
	if r.Stopped != "" {
		fmt.Fprintln(stderr, "dlmtest: "+r.Stopped+" What did not run is inconclusive and listed; nothing is left running.")
	}
	return gateError(r, err)
}

// ownSeed is the seed of the cells that have none in the file; "": each has one.
func ownSeed(s gate.Spec) string {
	if !slices.ContainsFunc(s.Config.Cells, func(c gate.Cell) bool { return c.Seed == 0 }) {
		return ""
	}
	return fmt.Sprintf(", seed %d", s.Seed)
}

// decide holds runs that are there against the file.
func (f gateFlags) decide(cmd *cobra.Command, spec gate.Spec) error {
	for _, name := range []string{"budget", "seed", "parallel", "fresh", "all", "runtime", "out"} {
		if cmd.Flags().Changed(name) {
			return usageError{fmt.Errorf("--%s: nothing runs with --of", name)}
		}
	}
	if info, err := os.Stat(f.of); err != nil || !info.IsDir() {
		return usageError{fmt.Errorf("--of %s: no such folder; want one of a matrix or a gate", f.of)}
	}
	r, err := gate.Of(spec, f.of, sameFlags)
	var problem scenarios.Problem
	if errors.As(err, &problem) {
		return usageError{err}
	}
	if r.State == "" {
		return err
	}
	return gateError(r, errors.Join(err, f.tell(cmd.OutOrStdout(), f.of, r), jobSummary(r)))
}

// spec reads the file and makes of its cells the options of their runs.
func (f gateFlags) spec(cmd *cobra.Command) (gate.Spec, error) {
	spec := gate.Spec{Seed: f.seed, Parallel: f.parallel, Fresh: f.fresh, Budget: f.budget, All: f.all, Out: f.out, Version: version, Command: f.command(cmd),
		Repeat: func(o runner.Options) []string { return withSeed(o.Command, o.Seed) }}
	if err := errors.Join(parallelWithin(f.parallel), oneOf("runtime", f.runtime, "auto", "docker", "local")); err != nil {
		return spec, err
	}
	if f.budgetSet && f.budget <= 0 {
		return spec, usageError{fmt.Errorf("--budget %v: want a time such as 20m", f.budget)}
	}
	if cmd.Flags().Changed("count") {
		if err := atLeastOne("count", f.count); err != nil {
			return spec, err
		}
	}
	c, err := gate.Load(f.config)
	if err != nil {
		return spec, usageError{err}
	}
	spec.Config = c
	if f.count > 0 {
		if err := c.SetCount(f.count); err != nil {
			return spec, usageError{fmt.Errorf("--count %d: %w", f.count, err)}
		}
	}
	if !f.parallelGiven {
		spec.Parallel = c.Parallel
	}
	if err := parallelWithin(spec.Parallel); err != nil && f.of == "" {
		return spec, err
	}
	if !f.budgetSet {
		spec.Budget = c.Limit()
	}
	if spec.Seed == 0 {
		spec.Seed = newSeed()
	}
	spec.Cells, err = f.cells(cmd, c, spec.Seed)
	if err == nil && f.of == "" {
		err = tellReach(cmd, spec.Cells)
	}
	return spec, err
}

// command is what repeats the gate.
func (f gateFlags) command(cmd *cobra.Command) []string {
	words := []string{"dlmtest", "gate", "--config", f.config}
	for _, name := range []string{"budget", "count", "seed", "parallel", "fresh", "all", "runtime"} {
		if flag := cmd.Flags().Lookup(name); flag.Changed {
			words = append(words, fmt.Sprintf("--%s=%s", name, flag.Value))
		}
	}
	return words
}

// tell prints what was decided.
func (f gateFlags) tell(w io.Writer, dir string, r gate.Report) error {
	if f.asJSON {
		return gate.Lines(w, r)
	}
	fmt.Fprintln(w)
	if err := gate.Text(w, dir, r, f.verbose); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "folder  %s\n", filepath.Clean(dir)+string(filepath.Separator))
	return err
}

// jobSummary adds the report to the page of a job on GitHub.
func jobSummary(r gate.Report) error {
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("the job summary (GITHUB_STEP_SUMMARY): %w", err)
	}
	var b strings.Builder
	if err := gate.Markdown(&b, r); err != nil {
		return errors.Join(err, file.Close())
	}
	to := visible.File(file)
	_, err = io.WriteString(to, b.String())
	return errors.Join(err, to.Close())
}

// gateError gives a gate its exit code.
func gateError(r gate.Report, err error) error {
	switch {
	case r.State == gate.Fail:
		return verdictError{checker.Violated, err}
	case err != nil:
		return err
	case r.State == gate.Broken:
		return errors.New("a run failed, which says nothing about its lock; see above")
	case r.State == gate.Pass:
		return verdictError{checker.Holds, nil}
	}
	return verdictError{checker.Unknown, nil}
}
