package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

const countsLong = `Print saved matrices as one table in Markdown. A cell names what its runs violated, in how many runs
(unless it was all of them), and the shortest time from the first grant to the violation. Runs of one
cell in several matrices are counted together.

ME mutual-exclusion, LE lease-exclusion, FM fencing-monotonic, FW fenced-writes, LU and LF an update lost
in the unfenced and in the fenced copy, AV availability; other properties have their full names. A run
that was repeated because the machine disturbed it does not count.`

func newCounts() *cobra.Command {
	return &cobra.Command{
		Use:   "counts MATRIX…",
		Short: "Print what the runs of each cell of saved matrices violated, and how many of them",
		Long:  countsLong,
		Example: `  dlmtest run --scenario gc-pause,storm --backend all --count 3
  dlmtest report counts runs/latest-matrix`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var all []pages.Index
			for _, dir := range args {
				x, err := matrix.Open(dir)
				if errors.Is(err, fs.ErrNotExist) {
					err = fmt.Errorf("%s is no saved matrix: %w; dlmtest run --scenario gc-pause,baseline --backend all makes one", dir, err)
				}
				if err != nil {
					return usageError{err}
				}
				all = append(all, x)
			}
			return matrix.Counts(cmd.OutOrStdout(), all...)
		},
	}
}
