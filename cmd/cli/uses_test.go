package cli

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/runner/capacity"
)

// The effects of a use in a real PostgreSQL: a zombie's second charge is known by its key.
func TestEffectsInPostgres(t *testing.T) {
	beside(t)
	f := runScenario(t, "--scenario", "payment-key-pause", "--backend", "redis", "--resource", "postgres", "--runtime", "local")
	for _, property := range []string{"charged-once/unfenced", "charged-once/fenced"} {
		p := f.result.Property(property)
		if got := f.verdict(property); got != "holds" || !strings.Contains(p.Reason, "refused, as its key was known") {
			t.Errorf("%s: %s: %+v", property, got, p)
		}
	}
}

// Capacity measures a real server: more locks take more memory, and each session talks.
func TestCapacity(t *testing.T) {
	beside(t)
	cmd := exec.Command(dlmtest(t), "capacity", "--backend", "redis", "--runtime", "local", "--json",
		"--locks", "3000", "--sessions", "40", "--sizes", "2", "--window", "2s")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var r capacity.Report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 6 || len(r.Not) == 0 || r.Version == "unknown" {
		t.Fatalf("%+v", r)
	}
	for _, i := range []int{0, 4} { // used_memory, and the bytes at the clients
		if row := r.Rows[i]; row.Line.Slope < 20 || row.Line.Slope > 5000 {
			t.Errorf("%s: %+v", row.What, row.Line)
		}
	}
}

// What a server in Go or Java holds is asked of the server itself, by what its node has.
func TestCapacityAsksTheServer(t *testing.T) {
	beside(t)
	for _, backend := range []string{"etcd", "zookeeper"} {
		cmd := exec.Command(dlmtest(t), "capacity", "--backend", backend, "--runtime", "local", "--json",
			"--locks", "10", "--sessions", "10", "--sizes", "2", "--window", "1s")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", backend, err, out)
		}
		var r capacity.Report
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatal(err)
		}
		for _, s := range append(r.Locks, r.Sessions...) {
			if s.Own < 1e6 || s.Own > 100e6 {
				t.Errorf("%s with %d locks and %d sessions holds %.0f bytes", backend, s.Locks, s.Sessions, s.Own)
			}
		}
	}
}
