package cli

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/internal/settings/settingstest"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/gate"
	"github.com/dlmtest/dlmtest/runner/shrink"
	"github.com/dlmtest/dlmtest/scenarios"
)

// cellsOf are the options that dlmtest run makes of its flags.
func cellsOf(t *testing.T, words ...string) []runner.Options {
	t.Helper()
	var f runFlags
	cmd := &cobra.Command{Use: "run"}
	f.register(cmd)
	if err := cmd.ParseFlags(words); err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	cells, err := f.cells(cmd)
	if err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	return cells
}

// Every setting that is typed is that of each cell of a matrix, and of a gate's.
func TestEverySettingReachesItsRuns(t *testing.T) {
	for _, x := range settingstest.Others() {
		t.Run(x.Flag, func(t *testing.T) {
			words, want := x.Settings.Args(), x.Settings.Over(settings.Default())
			cells := cellsOf(t, append(words, "--scenario", "baseline,gc-pause", "--backend", "redis,redlock", "--seed", "7")...)
			if len(cells) != 4 {
				t.Errorf("%d cells", len(cells))
			}
			for _, o := range cells {
				if !reflect.DeepEqual(o.Settings, want) {
					t.Errorf("%s × %s has\n%+v\nwant\n%+v", o.Scenario.Name, o.Backend, o.Settings, want)
				}
			}
			cell, f := gate.Cell{Scenario: "gc-pause", Backend: "redlock", Library: gate.Library, Flags: map[string]string{}}, gateFlags{runtime: "auto"}
			switch x.Flag {
			case "library":
				cell.Library = want.Library
			case "allow-host":
				f.allowHost = true
			case "runtime":
				f.runtime = want.Runtime
			default:
				a, err := asked(append([]string{"dlmtest", "run", "--scenario", "gc-pause"}, words...))
				if cell.Flags = a.Flags; err != nil {
					t.Fatal(err)
				}
			}
			o, bad, err := f.options(cell, 7)
			if err != nil || len(bad) > 0 || !reflect.DeepEqual(o.Settings, want) {
				t.Errorf("the gate: %v %v\n%+v\nwant\n%+v", err, bad, o.Settings, want)
			}
		})
	}
}

// A scenario that shrink has saved makes the run that it comes from: by the command that
// it names, and by itself, once it is trusted. Flags lie over it.
func TestShrunkScenarioHasEverySetting(t *testing.T) {
	source, err := scenarios.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range settingstest.Others() {
		t.Run(x.Flag, func(t *testing.T) {
			want := x.Settings.Over(settings.Default())
			r := shrink.Regression{Name: "small", Property: "lease-exclusion", Options: runner.Options{Backend: "redlock", Seed: 1 << 60, Settings: want}}
			file := filepath.Join(t.TempDir(), "small.yaml")
			if err := r.Save(file, r.Scenario(*source)); err != nil {
				t.Fatal(err)
			}
			got := cellsOf(t, shrink.Command(r.Options, file)[2:]...)[0]
			if x.Flag == "fsync" {
				got.Fsync = got.Scenario.Fsync // which says it
			}
			if !reflect.DeepEqual(got.Settings, want) || got.Backend != "redlock" || got.Seed != 1<<60 {
				t.Errorf("by its command\n%+v\nwant\n%+v", got.Settings, want)
			}
			if x.Flag == "fsync" || x.Flag == "allow-host" {
				return
			}
			got = cellsOf(t, "--scenario", file, "--backend", "redlock", "--trust")[0]
			if !reflect.DeepEqual(got.Settings, want) {
				t.Errorf("by itself\n%+v\nwant\n%+v", got.Settings, want)
			}
			if x.Words != nil {
				got = cellsOf(t, "--scenario", file, "--backend", "redlock", "--"+x.Flag, x.Default)[0]
			}
			if x.Words != nil && !reflect.DeepEqual(got.Settings, settings.Default()) {
				t.Errorf("a flag over it\n%+v", got.Settings)
			}
		})
	}
}
