package runner

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/scenarios"
)

// What a service survives is known of dlmtest's own servers alone, by what they write to their disks.
func TestSurvives(t *testing.T) {
	for _, c := range []struct {
		backend, fsync, compose, mode string
		want                          history.Survival
	}{
		{"etcd", "", "", "", history.Restart},
		{"etcd", "none", "", "", history.Absence},
		{"etcd", "", "mine.yaml", "", ""},
		{"etcd", "", "", "lose-all", history.Absence},
		{"zookeeper", "always", "", "torn", history.Restart},
		{"http", "", "", "", history.Restart},
		{"redlock", "", "", "", history.Absence},
		{"redlock", "always", "", "", history.Restart},
		{"redis", "always", "", "", ""},
		{"redis-replicated", "always", "", "", ""},
	} {
		p := &plan{Options: Options{Settings: settings.Settings{Fsync: c.fsync, Compose: c.compose},
			Scenario: scenarios.Scenario{Faults: []scenarios.Fault{{Fault: "crash", Mode: c.mode}}}}}
		if got := p.promise(locks.Table[c.backend]).Survives; got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
