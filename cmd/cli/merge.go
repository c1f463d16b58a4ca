package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/runner/hunt"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

const mergeLong = `Make one matrix of the parts that dlmtest run --shard i/n has left, from any number of machines:
one index in OUT, with a copy of every run's folder and its report. The parts of dlmtest hunt --shard
i/n make one hunt in the same way: what was tried is added up, and a finding of one cause is one.

The parts must be of one version of dlmtest and one command, with one seed. A run that is in two
parts is an error that names both. What is missing (a shard, a run, a part that was interrupted)
is in the index as not run, with what it is; then nothing is green, and the exit code is 2. A run
whose folder is missing, or whose results.json says otherwise than its index, is not believed.

The exit code is that of the whole matrix: a violation 1, else a failure of dlmtest 3, else
inconclusive or incomplete 2, else 0.`

func newMerge() *cobra.Command {
	var m matrix.Merging
	var copied, asJSON bool
	cmd := &cobra.Command{
		Use:   "merge DIR… -o OUT",
		Short: "Make one matrix, or one hunt, of its shards, and say what is missing or twice",
		Long:  mergeLong,
		Example: `  dlmtest report merge shard-1 shard-2 shard-3 -o whole
  dlmtest report merge runs/*/latest-matrix -o whole
  dlmtest report merge shard-* -o whole --copy=false`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if m.Out == "" {
				return usageError{errors.New("-o OUT is missing: the folder of the whole matrix, new or empty")}
			}
			m.Dirs, m.Link = args, !copied
			if slices.ContainsFunc(args, hunt.Is) {
				return mergeHunts(cmd, m, asJSON)
			}
			m.Copying = func(dir string, runs int) { fmt.Fprintf(stderr, "copying %d runs of %s\n", runs, dir) }
			x, err := matrix.Merge(m)
			if err != nil {
				return err
			}
			tellMatrix(cmd.OutOrStdout(), m.Out, x, asJSON)
			if x.Stopped != "" {
				fmt.Fprintln(stderr, "dlmtest: "+x.Stopped)
			}
			return matrixError(x, nil)
		},
	}
	cmd.Flags().StringVarP(&m.Out, "output", "o", "", "`folder` of the whole matrix; new, or empty")
	cmd.Flags().BoolVar(&copied, "copy", true, "copy the runs' folders; --copy=false links to the parts instead, by relative links")
	cmd.Flags().BoolVar(&m.AllowDuplicates, "allow-duplicates", false, "a run may be in two parts; both are kept, and both count")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of text")
	return cmd
}

// mergeHunts makes one hunt of its shards.
func mergeHunts(cmd *cobra.Command, m matrix.Merging, asJSON bool) error {
	r, err := hunt.Merge(m)
	if err != nil {
		return err
	}
	tellHunt(m.Out, r, asJSON)
	return huntError(cmd.Context(), r, nil)
}
