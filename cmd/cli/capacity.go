package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/internal/near"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/capacity"
)

func newCapacity() *cobra.Command {
	var backend, where string
	var sizes runner.Sizes
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "capacity --backend NAME",
		Short: "Measure what a lock and a session cost at the server, and extrapolate to a million",
		Long: `Start the real servers of a backend, hold more and more locks and then more and more sessions,
and measure at each of several sizes: the memory of a server, as the kernel counts it and as the
server tells itself, and the bytes that sessions send and receive to stay alive. A straight line
is fitted through the sizes and extrapolated to 1,000,000 locks and 100,000 clients, with its
error, beside the usual estimates, and with what it does not count.

No property is judged: the exit code is 0 unless dlmtest fails (3) or is used wrongly (64).`,
		Example: `  dlmtest capacity --backend redis
  dlmtest capacity --backend zookeeper --locks 10000 --sessions 500 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkCapacity(cmd, backend, where, &sizes); err != nil {
				return err
			}
			o := runner.Options{Backend: backend, Self: self(), Version: version, Seed: newSeed(), Settings: settings.Settings{Oracle: "off", Runtime: where}}
			r, err := runner.Capacity(cmd.Context(), o, sizes, newProgress(false))
			if err != nil {
				return err
			}
			if !asJSON {
				return r.Text(cmd.OutOrStdout())
			}
			e := json.NewEncoder(cmd.OutOrStdout())
			e.SetIndent("", "  ")
			return e.Encode(r)
		},
	}
	cmd.Flags().StringVar(&backend, "backend", "", "redis, etcd, zookeeper or postgres")
	cmd.Flags().IntVar(&sizes.Locks, "locks", 0, "most locks held at once (default: as many as the backend makes in seconds)")
	cmd.Flags().IntVar(&sizes.Sessions, "sessions", 0, "most sessions open at once (default: as many as the backend opens in seconds)")
	cmd.Flags().IntVar(&sizes.Steps, "sizes", 5, "how many sizes of each are measured, beside none")
	cmd.Flags().DurationVar(&sizes.Window, "window", 6*time.Second, "how long bytes are counted at each number of sessions; a session renews each 2 s")
	cmd.Flags().StringVar(&where, "runtime", "auto", "auto, docker or local")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of text")
	_ = cmd.RegisterFlagCompletionFunc("backend", complete(measurable()))
	_ = cmd.RegisterFlagCompletionFunc("runtime", complete([]string{"auto", "docker", "local"}))
	return cmd
}

// measurable are the backends whose capacity can be measured.
func measurable() []string { return slices.Sorted(maps.Keys(capacity.Asks)) }

// checkCapacity refuses what cannot be measured, and fills in what was not given.
func checkCapacity(cmd *cobra.Command, backend, where string, sizes *runner.Sizes) error {
	ask, ok := capacity.Asks[backend]
	if !ok {
		return usageError{unknown("backend", backend, near.Nearest(backend, measurable()),
			"dlmtest capacity --help: redis, etcd, zookeeper and postgres can be measured")}
	}
	if err := oneOf("runtime", where, "auto", "docker", "local"); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		n    *int
		most int
	}{{"locks", &sizes.Locks, ask.Locks}, {"sessions", &sizes.Sessions, ask.Sessions}} {
		switch {
		case !cmd.Flags().Changed(f.name):
			*f.n = f.most
		case *f.n < 10 || *f.n > 1_000_000:
			return usageError{fmt.Errorf("--%s %d is not between 10 and 1000000", f.name, *f.n)}
		}
	}
	if why := ask.Fits(sizes.Locks, sizes.Sessions); why != "" {
		return usageError{fmt.Errorf("--backend %s: %s", backend, why)}
	}
	switch {
	case sizes.Steps < 2 || sizes.Steps > 20:
		return usageError{fmt.Errorf("--sizes %d is not between 2 and 20: two points fit any line", sizes.Steps)}
	case sizes.Window < time.Second || sizes.Window > 10*time.Minute:
		return usageError{fmt.Errorf("--window %v is not between 1s and 10m", sizes.Window)}
	}
	return nil
}
