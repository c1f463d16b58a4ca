package matrix

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/golden"
	"github.com/dlmtest/dlmtest/internal/scratch"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
)

// runFolder is what a run leaves in the folder of its matrix when it is killed.
func runFolder(t *testing.T, dir, name, scenario, backend string, seed uint64) {
	t.Helper()
	at := filepath.Join(dir, name)
	if err := os.Mkdir(at, 0o755); err != nil {
		t.Fatal(err)
	}
	run, err := json.Marshal(reports.Run{Format: reports.Format, State: reports.Running, Scenario: scenario, Backend: backend, Library: "reference", Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	part, err := os.Create(filepath.Join(at, "history.jsonl.part"))
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	setup := history.Setup{Promise: history.Promise{Backend: backend, Library: "reference", Leased: true}, Lease: 1e9, Keys: []string{"k"}, Clients: []string{"client-1", "client-2"}, Fencing: "at-least", FenceOn: "write"}
	if err := history.Encode(part, setup, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "run.json"), run, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A matrix that was killed is judged: the run that was going on by its own folder, and
// what never began is no verdict. A folder that nobody can place is left out.
func TestCheckOfAKilledMatrix(t *testing.T) {
	stop, killed := context.WithCancel(t.Context())
	s := spec(t, []string{"baseline", "gc-pause"}, []string{"redis", "etcd"})
	m, _ := play(t, stop, s, func(_ context.Context, o runner.Options) (*runner.Outcome, error) {
		killed()
		return outcome(o, checker.Holds), nil
	})
	x := m.index // as it is after the first run
	x.Ended, x.Stopped = false, ""
	var done, going *pages.CellRun
	for i := range x.Cells {
		for n := range x.Cells[i].Runs {
			r := &x.Cells[i].Runs[n]
			switch {
			case r.Verdict == reports.Good:
				done = r
			case x.Cells[i].Name() == "gc-pause × etcd":
				going = r
				fallthrough
			default:
				r.Verdict = reports.Waiting
			}
		}
	}
	if done == nil || going == nil {
		t.Fatalf("%+v", x)
	}
	done.Dir, done.Properties = "", nil // its folder was a fake
	if err := save(golden.Root(t, m.dir), x); err != nil {
		t.Fatal(err)
	}
	runFolder(t, m.dir, "20260101T000000.000_gc-pause_etcd", "gc-pause", "etcd", going.Seed)
	runFolder(t, m.dir, "20260101T000000.000_storm_etcd", "storm", "etcd", going.Seed)
	if err := os.Symlink(t.TempDir(), filepath.Join(m.dir, "link")); err != nil {
		t.Fatal(err)
	}
	free := scratch.Hold(m.dir)
	nobody := func(pages.Cell, pages.CellRun) {}
	if _, err := Check(t.Context(), m.dir, checker.Oracle{}, nobody); err == nil || !strings.Contains(err.Error(), "still going on") {
		t.Errorf("while it goes on: %v", err)
	}
	free()
	for range 2 {
		got, err := Check(t.Context(), m.dir, checker.Oracle{}, nobody)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Ended || !strings.Contains(got.Stopped, "killed") || got.Worst() == reports.Good {
			t.Errorf("%+v", got)
		}
		for _, c := range got.Cells {
			for _, r := range c.Runs {
				switch {
				case c.Name() == "gc-pause × etcd":
					if r.Verdict != reports.Unclear || r.Dir != "20260101T000000.000_gc-pause_etcd" || !strings.Contains(strings.Join(r.Doubts, " "), "killed") {
						t.Errorf("%s: %+v", c.Name(), r)
					}
				case r.Verdict != reports.Good && r.Verdict != reports.NotRun, r.Dir != "":
					t.Errorf("%s: %+v", c.Name(), r)
				}
			}
		}
	}
}
