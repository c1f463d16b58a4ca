package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/runner/capacity"
	"github.com/dlmtest/dlmtest/runner/choosing"
)

const choosingLong = `Write the page that says which lock to take for what, from saved matrices: what a stopped holder
costs with and without a fence, when only an idempotency key helps, what breaks the lock itself, what it costs.
Each advice follows by a rule from what the runs showed; where they show too little, it is refused.

Runs with --clients 1 give the latencies. Without DIR the page is made of the record of an earlier call.`

// mostOfCapacity is many times what dlmtest capacity writes.
const mostOfCapacity = 1 << 20

func newChoosing() *cobra.Command {
	var record string
	var capacities []string
	var short bool
	cmd := &cobra.Command{
		Use:   "choosing [DIR…] --record FILE",
		Short: "Write the page that says which lock to take for what, from saved matrices",
		Long:  choosingLong,
		Example: `  dlmtest report choosing whole reads alone --capacity redis.json --record choosing.json > choosing.md
  dlmtest report choosing --record docs/choosing.json`,
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if record == "" {
				return usageError{errors.New("--record FILE is missing: it keeps what the matrices showed")}
			}
			e, err := choosingOf(dirs, capacities, record)
			if err != nil {
				return err
			}
			if short {
				return choosing.Short(cmd.OutOrStdout(), e)
			}
			return choosing.Markdown(cmd.OutOrStdout(), e)
		},
	}
	cmd.Flags().StringVar(&record, "record", "", "`FILE` that keeps what the matrices showed; read where no DIR is given")
	cmd.Flags().StringSliceVar(&capacities, "capacity", nil, "`FILE` that dlmtest capacity --json wrote")
	cmd.Flags().BoolVar(&short, "short", false, "print the first table alone")
	return cmd
}

// choosingOf gathers what matrices show and keeps it, or reads what was kept.
func choosingOf(dirs, capacities []string, record string) (choosing.Evidence, error) {
	if len(dirs) == 0 {
		if len(capacities) > 0 {
			return choosing.Evidence{}, usageError{errors.New("--capacity goes with the DIR of matrices")}
		}
		e, err := choosing.Read(record)
		if err != nil {
			err = usageError{err}
		}
		return e, err
	}
	e, err := choosing.Gather(dirs)
	if err != nil {
		return e, usageError{err}
	}
	for _, path := range capacities {
		text, err := bounded.ReadNamed(path, mostOfCapacity)
		var r capacity.Report
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			return e, usageError{fmt.Errorf("--capacity %s: %w", path, err)}
		}
		e.Measured(r)
	}
	return e, output{path: record}.write(nil, e.Write)
}
