package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
)

// nodesGoal is how many client nodes two cores should carry.
const nodesGoal = 50

// BenchmarkNodes raises the number of client nodes that run baseline on redis until one of
// the run's heartbeats is missed: an agent, or a client, was not scheduled for an eighth of the
// lease. One miss is tried again, as any other program on the machine can be its cause.
// RUNTIMES names the runtimes (default: local docker), FROM the first size.
func BenchmarkNodes(b *testing.B) {
	runtimes := []string{"local", "docker"}
	if only := os.Getenv("RUNTIMES"); only != "" {
		runtimes = []string{only}
	}
	first, err := strconv.Atoi(os.Getenv("FROM"))
	if err != nil {
		first = 10
	}
	b.ResetTimer()
	for b.Loop() {
		for _, where := range runtimes {
			fmt.Printf("\nclient nodes that run baseline on redis, runtime %s (goal %d)\n%6s %9s %14s %9s  %s\n",
				where, nodesGoal, "nodes", "grants", "longest stall", "took", "load average")
			b.ReportMetric(float64(mostNodes(b, where, first)), where+"-nodes")
		}
	}
}

// mostNodes is the largest size at which no heartbeat was missed.
func mostNodes(b *testing.B, where string, first int) (most int) {
	for n := first; n <= 100; n += 10 {
		ok := carries(b, where, n)
		if !ok {
			ok = carries(b, where, n) // once may be the machine
		}
		if !ok {
			break
		}
		most = n
	}
	fmt.Printf("without a missed heartbeat on %s: %d client nodes\n", where, most)
	return most
}

// carries runs baseline with n client nodes and says whether every heartbeat came.
func carries(b *testing.B, where string, n int) bool {
	b.Helper()
	dir, load, begin := b.TempDir(), loadAverage(), time.Now()
	cmd := exec.CommandContext(b.Context(), dlmtest(b), "run", "--scenario", "baseline", "--backend", "redis", "--runtime", where,
		"--clients", strconv.Itoa(n), "--out", dir, "--seed", strconv.Itoa(n))
	out, err := cmd.CombinedOutput()
	code := cmd.ProcessState.ExitCode()
	if code < 0 || code > exitInconclusive {
		fmt.Printf("%6d did not come up: %v\n%s\n", n, err, out)
		return false
	}
	var r checker.Result
	data, err := os.ReadFile(filepath.Join(dir, "latest", "results.json"))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		b.Fatal(err)
	}
	stall := time.Duration(r.Counts.MaxStall)
	fmt.Printf("%6d %9d %14s %9s  %s\n", n, r.Counts.Grants, stall.Round(time.Millisecond), seconds(time.Since(begin)), load)
	return stall == 0
}
