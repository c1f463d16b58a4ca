package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/nemesis"
)

// runtimes are where faults can be measured.
var runtimes = []string{"auto", "docker", "local"}

func newDoctor() *cobra.Command {
	var asJSON, deeply bool
	var runtime string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show what works on this machine, with Docker and without it, and how to install the rest",
		Long: `Test, per runtime, what runs and faults need: the daemon, images,
namespaces, nf_tables, ptrace, /dev/fuse, and the servers' programs.
Exits 0 when at least one runtime works, 3 when none does.

With --deep the faults are measured from outside too, in one runtime, within a minute:
the victims are programs that share no code with the faults, and what they see of their
pauses, clocks, files and packets is compared with the proof in the run's history.
Kernels differ, so do that once on each kind of machine. Exits 0 when every fault does
what it says; 3 when one does not, and names it and the scenarios that use it; 2 when
something could not be measured.`,
		Example: `  dlmtest doctor
  dlmtest doctor --deep --runtime local
  dlmtest doctor --deep --json >faults.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if runtime != "auto" && !deeply {
				return usageError{errors.New("--runtime goes with --deep; without it both are looked at")}
			}
			if !slices.Contains(runtimes, runtime) {
				return usageError{fmt.Errorf("--runtime %s: want %s", runtime, strings.Join(runtimes, ", "))}
			}
			findings := withFaults(clusters.Doctor(cmd.Context(), self()))
			if deeply {
				if !asJSON {
					doctorText(cmd.OutOrStdout(), findings)
				}
				d, err := measureFaults(cmd.Context(), findings, runtime)
				if err != nil {
					return err
				}
				return d.print(cmd.OutOrStdout(), asJSON)
			}
			if asJSON {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				if err := e.Encode(findings); err != nil {
					return err
				}
			} else {
				doctorText(cmd.OutOrStdout(), findings)
			}
			if !clusters.Works(findings, "docker") && !clusters.Works(findings, "local") {
				return fmt.Errorf("no runtime works on this machine")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&deeply, "deep", false, "measure the faults from outside, too: a minute")
	cmd.Flags().StringVar(&runtime, "runtime", "auto", "with --deep: docker, local, or auto: docker where it works")
	return cmd
}

// withFaults adds to each runtime's findings which faults work there, by their words
// in scenarios.
func withFaults(found []clusters.Finding) []clusters.Finding {
	var all []clusters.Finding
	for _, runtime := range []string{"docker", "local"} {
		f := clusters.Finding{Runtime: runtime, What: "faults"}
		lacks := map[string]bool{}
		for _, x := range found {
			if x.Runtime == runtime {
				all = append(all, x)
				lacks[x.What] = !x.OK
			}
		}
		var work, not []string
		for _, kind := range slices.Sorted(maps.Keys(nemesis.Kinds)) {
			if need := nemesis.Need(kind); need != "" && lacks[need] {
				not = append(not, kind+" ("+need+")")
			} else {
				work = append(work, kind)
			}
		}
		switch {
		case !clusters.Works(found, runtime):
			f.Detail, f.Fix = "none, as the runtime does not work", "first what is above"
		case len(not) > 0:
			f.Detail = "work: " + strings.Join(work, ", ") + "; refused before a run: " + strings.Join(not, ", ")
			f.Fix = "see what is above"
		default:
			f.OK, f.Detail = true, "work: "+strings.Join(work, ", ")
		}
		all = append(all, f)
	}
	return all
}

func doctorText(w io.Writer, findings []clusters.Finding) {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 4, WidthMax: 80, WidthMaxEnforcer: text.WrapSoft}})
	for _, f := range findings {
		mark := "✓"
		switch {
		case !f.OK && f.Needed:
			mark = "✗"
		case !f.OK:
			mark = "–"
		}
		says := f.Detail
		if !f.OK && f.Fix != "" {
			says += "; " + f.Fix
		}
		t.AppendRow(table.Row{mark, f.Runtime, f.What, says})
	}
	t.Render()
}
