package cli

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dlmtest/dlmtest/internal/secret"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/gate"
)

const gateInitLong = `Write a gate file from what a run, a matrix or a gate has shown: what held must hold.
What was violated becomes a known weakness where the scenario expects that of the lock
(its "expected:"). All else that was violated is written as undecided, with the first
violation and the run's report, and no gate runs with the file until you have said of
each whether it is a bug (holds) or a weakness that you accept (known-weakness).

A property that this run happened not to test is written as holds, so that a later run must
test it; a property that the scenario never tests is written as not-judged.`

func newGateInit() *cobra.Command {
	var out string
	var force, trust bool
	cmd := &cobra.Command{
		Use:     "init [DIR]",
		Short:   "Write a gate file from a run or a matrix",
		Long:    gateInitLong,
		Example: "  dlmtest gate init\n  dlmtest gate init runs/latest-matrix -o gate.yaml",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "runs/latest"
			if len(args) > 0 {
				dir = args[0]
			}
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return usageError{fmt.Errorf("%s: no such folder; want one of a run or a matrix, such as runs/latest", dir)}
			}
			c, notes, err := gate.From(dir, asked)
			if err != nil {
				return err
			}
			data, err := c.YAML()
			if err != nil {
				return err
			}
			if err := tellPrograms(cmd, dir, c, trust); err != nil {
				return err
			}
			for _, n := range notes {
				fmt.Fprintln(stderr, "note: "+visible.Line(n)) // it has words of the folder
			}
			return writeNew(cmd, out, data, force)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "-", "`file` to write; - is standard output")
	cmd.Flags().BoolVar(&force, "force", false, "write over a file that is there")
	cmd.Flags().BoolVar(&trust, "trust", false, "write what the folder names: adapter, files, image, compose file, endpoints")
	return cmd
}

// tellPrograms refuses to write what a gate would start, show to code or call because a
// run's folder says so.
func tellPrograms(cmd *cobra.Command, dir string, c *gate.Config, trust bool) error {
	var open []string
	for i, cell := range c.Cells {
		for _, name := range []string{"adapter", "adapter-files", "client-image", "compose", "endpoint"} {
			if value, ok := cell.Flags[name]; ok {
				open = append(open, fmt.Sprintf("cells[%d].flags.%-14s %+q", i, name, value))
			}
			if name == "compose" && runner.Below(dir, cell.Flags[name]) {
				return usageError{fmt.Errorf("cells[%d].flags.compose: %+q: a compose file is never taken from the "+
					"folder of a run; copy it, and write its path yourself", i, cell.Flags[name])}
			}
		}
		if runner.Unreleased(cell.Library) {
			open = append(open, fmt.Sprintf("cells[%d].library%15s %+q", i, "", cell.Library))
		}
	}
	text := strings.Join(open, "\n  ")
	if len(open) > 0 && !trust {
		return usageError{fmt.Errorf("a run's folder is data, and %+q names what the gate would start, show to code or "+
			"call:\n  %s\nNothing was written. Give --trust if you wrote this folder yourself or have read each line", dir, text)}
	}
	if len(open) > 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "trusted:\n  "+text)
	}
	return nil
}

// writeNew writes a file that must not be there yet.
func writeNew(cmd *cobra.Command, path string, data []byte, force bool) error {
	if path == "-" {
		_, err := cmd.OutOrStdout().Write(data)
		return err
	}
	how := os.O_CREATE | os.O_WRONLY | os.O_EXCL
	if force {
		how = os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	}
	file, err := os.OpenFile(path, how, 0o644)
	if errors.Is(err, os.ErrExist) {
		return usageError{fmt.Errorf("%s is there already; give another file with -o, or --force", path)}
	}
	if err != nil {
		return err
	}
	to := visible.File(file)
	_, err = to.Write(data)
	return errors.Join(err, to.Close())
}

// asked reads the command of a run back.
func asked(command []string) (gate.Asked, error) {
	var r runFlags
	cmd := &cobra.Command{Use: "run"}
	r.register(cmd)
	if len(command) < 2 || command[1] != "run" {
		return gate.Asked{}, fmt.Errorf("%q is not one of dlmtest run", command)
	}
	if err := cmd.ParseFlags(command[2:]); err != nil {
		return gate.Asked{}, err
	}
	a := gate.Asked{Flags: map[string]string{}}
	if len(r.scenarios) != 1 {
		return a, fmt.Errorf("%q has not one scenario", command)
	}
	a.Scenario = r.scenarios[0]
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(notInGate, f.Name) {
			a.Flags[f.Name] = secret.Mask(f.Value.String())
			if list, ok := f.Value.(pflag.SliceValue); ok {
				a.Flags[f.Name] = strings.Join(secret.Endpoints(list.GetSlice()), ",")
			}
		}
	})
	return a, nil
}

// sameFlags refuses a run that was done with other flags than those of a cell.
func sameFlags(cell gate.Cell, command []string) error {
	was, err := asked(command)
	if err != nil {
		return err
	}
	words := []string{"dlmtest", "run", "--scenario", cell.Scenario}
	for _, name := range slices.Sorted(maps.Keys(cell.Flags)) {
		words = append(words, "--"+name+"="+cell.Flags[name])
	}
	want, err := asked(words)
	if err != nil {
		return err
	}
	if !maps.Equal(was.Flags, want.Flags) {
		return fmt.Errorf("it was run with the flags %v, and the file wants %v", was.Flags, want.Flags)
	}
	return nil
}
