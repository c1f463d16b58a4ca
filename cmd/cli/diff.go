package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/runner/diff"
)

const diffLong = `Compare what an old and a new release have shown: the folders of runs, matrices or
gates, cell by cell.

A property that was never violated before and is now is a regression, since a violation
is proven. How often something is violated is compared by Fisher's exact test. Latencies
of acquire and release (median and p99) and grants per second are compared by the
Mann-Whitney U test over the runs, each of which is one sample; five of each side or
more are needed. All tests are judged together (Holm, 5 %), and a significant change of
less than --threshold is none.

Exit codes: 0 no regression, 1 a regression, 2 inconclusive (a cell or a test is missing
on one side, some new runs do not test a property that all old runs tested, or
there are too few runs to tell; --latency=false asks for properties alone).`

func newDiff() *cobra.Command {
	var asJSON, markdown, latency, all bool
	var threshold float64
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two releases: properties, rates, latencies, with significance",
		Long:  diffLong,
		Example: `  dlmtest diff runs/v1_gate runs/v2_gate
  dlmtest diff runs/old-matrix runs/latest-matrix --threshold 20
  dlmtest diff runs/old-matrix runs/latest-matrix --markdown >> "$GITHUB_STEP_SUMMARY"`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if threshold < 0 || threshold > 1000 {
				return usageError{fmt.Errorf("--threshold %v: want a percentage from 0 to 1000", threshold)}
			}
			if asJSON && markdown {
				return usageError{fmt.Errorf("--json and --markdown: want one of them")}
			}
			for _, dir := range args {
				if info, err := os.Stat(dir); err != nil || !info.IsDir() {
					return usageError{fmt.Errorf("%s: no such folder; want one of a run, a matrix or a gate", dir)}
				}
			}
			var sets [2]diff.Set
			for i, dir := range args {
				var err error
				if sets[i], err = diff.Load(cmd.Context(), dir, latency, showReading(dir)); err != nil {
					return err
				}
			}
			r := diff.Compare(sets[0], sets[1], threshold/100)
			if err := tellDiff(cmd, r, asJSON, markdown, all); err != nil {
				return err
			}
			return verdictError{verdict: map[diff.State]checker.Verdict{diff.Regression: checker.Violated, diff.Unclear: checker.Unknown,
				diff.Same: checker.Holds, diff.Improvement: checker.Holds}[r.State]}
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of text")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print Markdown for a pull request instead of text")
	cmd.Flags().BoolVar(&latency, "latency", true, "compare latencies and grants per second, too")
	cmd.Flags().Float64Var(&threshold, "threshold", 10, "a change of a latency by less `percent` of its median is none")
	cmd.Flags().BoolVar(&all, "all", false, "show properties that held and hold, too")
	return cmd
}

func tellDiff(cmd *cobra.Command, r diff.Report, asJSON, markdown, all bool) error {
	switch {
	case asJSON:
		return diff.JSON(cmd.OutOrStdout(), r)
	case markdown:
		return diff.Markdown(cmd.OutOrStdout(), r)
	}
	return diff.Text(cmd.OutOrStdout(), r, textOptions().Width, all)
}

// showReading says on stderr how far the reading of many runs is, every two seconds.
func showReading(dir string) func(done, of int) {
	last := time.Now()
	return func(done, of int) {
		if time.Since(last) >= 2*time.Second {
			last = time.Now()
			fmt.Fprintf(stderr, "reading %s: run %d of %d\n", dir, done, of)
		}
	}
}
