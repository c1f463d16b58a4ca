package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// repeat is the command that runs the same again: the flags that were given, and the seed.
func repeat(cmd *cobra.Command, seed uint64) []string {
	words := []string{"dlmtest", cmd.Name()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case f.Name == "seed" || f.Name == "out" || f.Name == "json":
		case f.Value.Type() == "bool":
			words = append(words, fmt.Sprintf("--%s=%s", f.Name, f.Value))
		default:
			words = append(words, "--"+f.Name, f.Value.String())
		}
	})
	return append(words, "--seed", fmt.Sprint(seed))
}
