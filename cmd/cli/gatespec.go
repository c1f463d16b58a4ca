package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/gate"
)

// GateOptions are those of a gate that is no command.
type GateOptions struct {
	Seed    uint64 // of cells that have none
	Runtime string // docker, local or auto
	Out     string // folder of the gate's folder
	Version string // of dlmtest
	// Repeat is the command that makes one run again.
	Repeat func(o runner.Options) []string
}

// Gate makes of a gate that Config.Check accepts what gate.Run runs, as dlmtest gate
// does of a file. Mistakes are found before anything runs.
func Gate(ctx context.Context, c *gate.Config, o GateOptions) (gate.Spec, error) {
	spec := gate.Spec{Config: c, Seed: o.Seed, Parallel: 1, Out: o.Out, Version: o.Version, Repeat: o.Repeat}
	if err := oneOf("runtime", o.Runtime, "auto", "docker", "local"); err != nil {
		return spec, fmt.Errorf("the runtime: %w", err)
	}
	version = o.Version
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	cells, err := gateFlags{runtime: o.Runtime, out: o.Out}.cells(cmd, c, o.Seed)
	for i := range cells {
		cells[i].Command = o.Repeat(cells[i])
	}
	spec.Cells = cells
	if len(cells) > 0 {
		spec.Command = cells[0].Command
	}
	return spec, err
}
