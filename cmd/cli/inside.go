package cli

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/clusters"
	_ "github.com/dlmtest/dlmtest/cmd/early" // nodes start so
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/locks/service"
	"github.com/dlmtest/dlmtest/runner/faultcheck/outside"
	"github.com/dlmtest/dlmtest/workloads"
	"github.com/dlmtest/dlmtest/workloads/resource"
)

// insideCommands are the roles that dlmtest plays for itself: in a node, beside
// the runner, or as a child with limits. Nobody types them. The roles that need little
// of this binary come before main: see cmd/early.
func insideCommands() []*cobra.Command {
	commands := []*cobra.Command{
		{Use: "worker", Short: "Lock client of a node", RunE: func(cmd *cobra.Command, _ []string) error {
			records, err := ownOutput()
			if err != nil {
				return err
			}
			return workloads.Worker(cmd.Context(), os.Stdin, records)
		}},
		{Use: "oracle", Short: "Porcupine with limits", Run: func(*cobra.Command, []string) {
			os.Exit(checker.OracleMain(os.Stdin, os.Stdout))
		}},
		{Use: "janitor", Short: "Removes what a killed runner leaves", RunE: func(*cobra.Command, []string) error {
			return clusters.RunJanitor(os.Stdin)
		}},
		{Use: "lockservice", Short: "A node of the lock service in locks/service", DisableFlagParsing: true,
			RunE: func(cmd *cobra.Command, args []string) error {
				return service.Main(cmd.Context(), args, os.Stderr)
			}},
		{Use: "outside", Short: "Measures faults from within a node, with none of the agent's code",
			DisableFlagParsing: true, RunE: func(_ *cobra.Command, args []string) error {
				return outside.Main(args)
			}},
		{Use: "trial", Short: "Ends at once: the program of a clock fault's trial", Run: func(*cobra.Command, []string) {}},
		newStore(),
	}
	for _, c := range commands {
		c.Hidden = true
	}
	return commands
}

// ownOutput keeps the standard output for what is recorded: a library that prints to it
// writes to the log from now on, and breaks no line.
func ownOutput() (*os.File, error) {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		err = unix.Dup3(2, 1, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("keep the standard output for records: %w", err)
	}
	return os.NewFile(uintptr(fd), "records"), nil
}

// Inside says whether a process was started as one of these, by its arguments.
func Inside(args []string) bool {
	return len(args) > 1 && slices.ContainsFunc(insideCommands(), func(c *cobra.Command) bool { return c.Name() == args[1] })
}

func newStore() *cobra.Command {
	var listen string
	var s settings.Settings
	cmd := &cobra.Command{Use: "store", Short: "The built-in guarded resource", RunE: func(cmd *cobra.Command, _ []string) error {
		records, err := ownOutput()
		if err != nil {
			return err
		}
		rules := resource.RulesOf(s)
		rules.Key = os.Getenv(resource.KeyVariable)
		return workloads.Store(cmd.Context(), os.Stdin, records, listen, rules)
	}}
	cmd.Flags().StringVar(&listen, "listen", ":7000", "address")
	settingFlags(cmd, &s, "fencing", "fence-on")
	return cmd
}
