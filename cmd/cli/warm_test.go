package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Runs on one cluster, one after another, are each judged as if it were their own: every record has come, every fault is
// seen, and nothing of the others shows. A cluster whose server was killed serves nobody any more.
func TestRunsShareACluster(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ runtime, backend string }{{"local", "redis"}, {"local", "etcd"}, {"docker", "redlock"}} {
		t.Run(c.runtime+" "+c.backend, func(t *testing.T) {
			beside(t)
			warm := &runner.Warm{Most: 1}
			defer func() {
				if err := warm.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}()
			keys := map[string]bool{}
			for i, next := range []struct {
				clients int
				shared  bool
				fault   string
			}{
				{2, false, ""},
				{4, true, "{fault: pause, target: holder, on: before-write, for: 0.5 lease}"},
				{3, true, "{fault: latency, target: clients, at: 0.1 lease, latency: 0.01 lease, for: 1 lease}"},
				{2, true, "{fault: partition, target: client-1, at: 0.1 lease, for: 0.5 lease}"},
				{7, false, ""}, // more than are there
				{5, true, "{fault: kill, target: a-server, at: 1 lease, for: 0.5 lease}"},
				{5, false, ""},
			} {
				s, err := scenarios.Parse("warm.yaml", fmt.Appendf(nil, "name: warm-%d\ntitle: Warm\nabout: One of several.\nworkload: guarded-write\n"+
					"clients: %d\nkeys: 2\nlease: 2s\nthink: 0.02 lease\nrenew: true\nduration: 2 lease\nafter: 1 lease\nfaults: [%s]\n", i, next.clients, next.fault))
				if err != nil {
					t.Fatal(err)
				}
				out, err := runner.Run(t.Context(), runner.Options{Settings: settings.Settings{Oracle: "off", Runtime: c.runtime}, Scenario: *s, Backend: c.backend,
					Seed: 7, Out: filepath.Join(t.TempDir(), "runs"), Part: true, Self: dlmtest(t), Warm: warm}, quiet{})
				if err != nil {
					t.Fatalf("run %d: %v", i, err)
				}
				if out.Run.Shared > 0 != next.shared {
					t.Errorf("run %d: its cluster has served %d runs", i, out.Run.Shared)
				}
				ends, seen := 0, next.fault == ""
				for _, op := range out.Ops {
					if op.F == history.End && op.Type == history.Note {
						ends++
					}
					seen = seen || op.Fault != nil && op.Fault.Phase == history.Observed
					if op.Key != "" && op.Key != "ready" && !slices.Contains(out.Setup.Keys, op.Key) {
						t.Fatalf("run %d knows of %s: %+v", i, op.Key, op)
					}
				}
				if ends != len(out.Setup.Sources) || !seen {
					t.Errorf("run %d: %d of %d sources end, its fault is seen: %v", i, ends, len(out.Setup.Sources), seen)
				}
				if p := out.Result.Property("fencing-monotonic"); p == nil {
					t.Errorf("run %d was not judged", i)
				}
				for _, k := range out.Setup.Keys {
					if keys[k] {
						t.Errorf("run %d uses %s again", i, k)
					}
					keys[k] = true
				}
				if out.Result.Counts.Grants == 0 || len(out.Run.Doubts) > 0 {
					t.Errorf("run %d: %d grants, doubts %q", i, out.Result.Counts.Grants, out.Run.Doubts)
				}
			}
		})
	}
}
