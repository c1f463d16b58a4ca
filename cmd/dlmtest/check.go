package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/runner"
)

func newCheck() *cobra.Command {
	var asJSON bool
	var oracle string
	cmd := &cobra.Command{
		Use:   "check DIR",
		Short: "Judge a saved run again, with no cluster",
		Long: `Judge the history of a saved run again and write its results and report anew.
The folder of a run that was killed can be judged too.`,
		Example: "  dlmtest check runs/latest",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("oracle", oracle, "windows", "off"); err != nil {
				return err
			}
			var start []string
			if oracle == "windows" {
				start = []string{self(), "oracle"}
			}
			out, err := runner.Check(cmd.Context(), filepath.Clean(args[0]), start)
			if err != nil {
				return err
			}
			return verdictError{out.Result.Verdict, tell(out, asJSON)}
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of text")
	cmd.Flags().StringVar(&oracle, "oracle", "windows", "Porcupine confirms the window around each violation: windows or off")
	return cmd
}
