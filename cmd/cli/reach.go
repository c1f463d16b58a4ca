package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/runner"
)

// tellReach says, once for all runs, what of their compose files reaches this machine. A
// single run says it of its own.
func tellReach(cmd *cobra.Command, cells []runner.Options) error {
	var said []string
	for _, o := range cells {
		if o.Compose == "" {
			continue
		}
		told, err := runner.Told(cmd.Context(), o)
		if err != nil {
			return err
		}
		for _, line := range told {
			if !slices.Contains(said, line) {
				said = append(said, line)
				fmt.Fprintln(cmd.ErrOrStderr(), line)
			}
		}
	}
	return nil
}
