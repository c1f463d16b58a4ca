package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
	"github.com/dlmtest/dlmtest/scenarios/near"
)

func newConform() *cobra.Command {
	var backend, lease, compose string
	cmd := &cobra.Command{
		Use:   "conform --backend NAME",
		Short: "Run the conformance suite of locks against a real cluster",
		Long: `Run the conformance suite that every lock must pass, inside a client node and
against a real cluster, with no faults: what a lock claims must be so.`,
		Example: "  dlmtest conform --backend etcd",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(backends(), backend) {
				return usageError{unknown("backend", backend, near.Nearest(backend, backends()), "dlmtest list")}
			}
			d, err := scenarios.ParseDuration(lease)
			if err != nil {
				return usageError{fmt.Errorf("--lease: %w", err)}
			}
			o := runner.Options{Backend: backend, Compose: compose, Self: self(), Version: version, Seed: newSeed()}
			o.Scenario.Lease = d
			checks, findings, err := runner.Conform(cmd.Context(), o, newProgress(false))
			if err != nil {
				return err
			}
			for _, f := range findings {
				fmt.Fprintln(cmd.OutOrStdout(), f)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %d of %d checks failed\n", backend, len(findings), checks)
			if len(findings) > 0 {
				return verdictError{verdict: checker.Violated}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&backend, "backend", "", "lock to test (see dlmtest list)")
	cmd.Flags().StringVar(&lease, "lease", "2s", "lease of the lock")
	cmd.Flags().StringVar(&compose, "compose", "", "your own compose file with the backend's profile")
	_ = cmd.RegisterFlagCompletionFunc("backend", complete(backends()))
	return cmd
}
