package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/clusters"
)

// These benchmarks are what `make bench` prints. They assert nothing: how fast a
// machine is says nothing about whether the code is right.

const (
	benchLease  = 2 * time.Second
	wallGoal    = 15 * time.Second
	firstGoal   = benchLease + 2*time.Second
	loadPhase   = "Clients and nemesis"
	redlockLine = "--scenario gc-pause --backend redlock"
)

// timedRun is a run whose phases were stamped as it printed them.
type timedRun struct {
	begin, end time.Time
	phases     []timedPhase
	result     checker.Result
}

type timedPhase struct {
	text string
	at   time.Time
}

// at is when a phase began; a run that did not reach it fails the benchmark.
func (r timedRun) at(b *testing.B, text string) time.Time {
	for _, p := range r.phases {
		if strings.HasPrefix(p.text, text) {
			return p.at
		}
	}
	b.Fatalf("the run has no phase %q: %v", text, r.phases)
	return time.Time{}
}

func (r timedRun) wall() time.Duration { return r.end.Sub(r.begin) }

// runTimed runs gc-pause on redlock; a run of which only the start counts is interrupted under load.
func runTimed(b *testing.B, seed int, startOnly bool) timedRun {
	b.Helper()
	args := append([]string{"run", "--json", "--out", b.TempDir(), "--lease", benchLease.String(), "--seed", strconv.Itoa(seed)},
		strings.Fields(redlockLine)...)
	cmd := exec.CommandContext(b.Context(), dlmtest(b), args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	r := timedRun{begin: time.Now()}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if event := r.see(b, lines.Bytes()); startOnly && event == "live" {
			_ = cmd.Process.Signal(syscall.SIGINT) // one that has ended needs none
		}
	}
	_ = cmd.Wait() // the exit code is looked at
	r.end = time.Now()
	if code := cmd.ProcessState.ExitCode(); code < 0 || code > exitInconclusive {
		b.Fatalf("dlmtest run exited with %d\n%s", code, stderr.String())
	}
	return r
}

// see takes one line of a run in, and returns what kind of event it is.
func (r *timedRun) see(b *testing.B, line []byte) string {
	var event struct {
		Event, Text string
		Result      checker.Result
	}
	if err := json.Unmarshal(line, &event); err != nil {
		b.Fatalf("%q: %v", line, err)
	}
	switch event.Event {
	case "phase":
		r.phases = append(r.phases, timedPhase{event.Text, time.Now()})
	case "result":
		r.result = event.Result
	}
	return event.Event
}

// BenchmarkRun times whole runs, each with a seed of its own. -benchtime says how many: 20x.
func BenchmarkRun(b *testing.B) {
	runTimed(b, 1, true) // the first run of a new binary copies it into a volume
	var walls, firsts []time.Duration
	var runs []timedRun
	fmt.Printf("\ndlmtest run %s --lease %v\n%6s %9s %17s  %s\n", redlockLine, benchLease, "seed", "wall", "first violation", "load average")
	for b.Loop() {
		seed, before := len(runs)+1, loadAverage()
		r := runTimed(b, seed, false)
		runs, walls = append(runs, r), append(walls, r.wall())
		first := "none"
		if r.result.FirstViolation > 0 {
			firsts = append(firsts, time.Duration(r.result.FirstViolation))
			first = seconds(firsts[len(firsts)-1])
		}
		fmt.Printf("%6d %9s %17s  %s\n", seed, seconds(r.wall()), first, before)
	}
	fmt.Printf("wall time:       %s; %d of %d within %v\n", spread(walls), within(walls, wallGoal), len(runs), wallGoal)
	fmt.Printf("first violation: %s; %d of %d within a lease and 2 s\n", spread(firsts), within(firsts, firstGoal), len(runs))
	printPhases(runs)
	b.ReportMetric(median(walls).Seconds(), "wall-s")
	b.ReportMetric(median(firsts).Seconds(), "first-violation-s")
}

// printPhases says where the time goes.
func printPhases(runs []timedRun) {
	fmt.Println("of which:")
	for i, p := range runs[0].phases {
		var took []time.Duration
		for _, r := range runs {
			end := r.end
			if i+1 < len(r.phases) {
				end = r.phases[i+1].at
			}
			took = append(took, end.Sub(r.phases[i].at))
		}
		fmt.Printf("  %-56s %s\n", p.text, spread(took))
	}
}

// BenchmarkStartup times ten nodes brought up by dlmtest and by docker-compose, in turn.
func BenchmarkStartup(b *testing.B) {
	if _, err := exec.LookPath("docker-compose"); err != nil {
		b.Skip("docker-compose is missing: nothing to compare with")
	}
	dir := composeFolder(b)
	runTimed(b, 1, true) // the first run of a new binary copies it into a volume
	composeUp(b, dir)    // warm as well
	var ours, whole, theirs []time.Duration
	fmt.Print(`
five Redis and five client nodes
  dlmtest: from the phase Starting to the phase Clients and nemesis. It starts an eleventh node, the guarded
           resource, and ends when each client has done a lock operation and each server has told its version.
  command: the same, from the start of the command.
  compose: docker-compose up -d, the command from start to end. It does not wait until a server answers.
`)
	fmt.Printf("%6s %9s %9s %9s  %s\n", "round", "dlmtest", "command", "compose", "load average")
	for b.Loop() {
		before := loadAverage()
		r := runTimed(b, len(ours)+1, true)
		ready := r.at(b, loadPhase)
		ours, whole = append(ours, ready.Sub(r.at(b, "Starting"))), append(whole, ready.Sub(r.begin))
		theirs = append(theirs, composeUp(b, dir))
		n := len(ours)
		fmt.Printf("%6d %9s %9s %9s  %s\n", n, seconds(ours[n-1]), seconds(whole[n-1]), seconds(theirs[n-1]), before)
	}
	m := median(theirs).Seconds()
	fmt.Printf("median %9s %9s %9s\n", seconds(median(ours)), seconds(median(whole)), seconds(median(theirs)))
	fmt.Printf("compose / dlmtest: %.2f; compose / command: %.2f\n", m/median(ours).Seconds(), m/median(whole).Seconds())
	b.ReportMetric(median(ours).Seconds(), "dlmtest-s")
	b.ReportMetric(m, "compose-s")
}

// composeFolder writes the embedded compose file and one with five clients.
func composeFolder(b *testing.B) string {
	dir := b.TempDir()
	clients := "services:\n"
	for n := 1; n <= 5; n++ {
		clients += fmt.Sprintf("  client-%d: {image: \"dlmtest/client:latest\", profiles: [redlock], hostname: client-%d, command: [sleep, infinity]}\n", n, n)
	}
	for name, text := range map[string][]byte{"servers.yml": clusters.Compose, "clients.yml": []byte(clients)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// composeUp times docker-compose up -d, and takes down what it made, also after an error.
func composeUp(b *testing.B, dir string) time.Duration {
	b.Helper()
	compose := func(args ...string) ([]byte, error) {
		cmd := exec.Command("docker-compose", append([]string{"-p", fmt.Sprintf("dlmtest-bench-%d", os.Getpid()),
			"-f", "servers.yml", "-f", "clients.yml", "--profile", "redlock"}, args...)...)
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is not for it
		return cmd.CombinedOutput()
	}
	defer func() {
		if out, err := compose("down", "-t", "0"); err != nil {
			b.Errorf("docker-compose down: %v\n%s", err, out)
		}
	}()
	begin := time.Now()
	out, err := compose("up", "-d")
	took := time.Since(begin)
	if err != nil {
		b.Fatalf("docker-compose up: %v\n%s", err, out)
	}
	return took
}

// figure is what go test printed of the judge or the reader, at a size and on a kind of history.
var figure = regexp.MustCompile(`(?m)^Benchmark(Judge|DecodeFile)/(\d+)/(\w+)\S*\s+\d+\s+(\S+) ns/op`)

// BenchmarkChecker runs the benchmarks of the checker and prints them as a table.
func BenchmarkChecker(b *testing.B) {
	before := loadAverage()
	cmd := exec.CommandContext(b.Context(), "go", "test", "-run", "^$", "-bench", "^Benchmark(Judge|DecodeFile)$",
		"-benchtime", "0.3s", "-count", "3", "-timeout", "30m", "../../checker")
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	best := map[string]float64{} // the least of three: what else the machine does only adds
	for _, f := range figure.FindAllStringSubmatch(string(out), -1) {
		ns, _ := strconv.ParseFloat(f[4], 64) // go test printed it
		if name := f[1] + f[3] + f[2]; best[name] == 0 || ns < best[name] {
			best[name] = ns
		}
	}
	fmt.Printf("\nbest of three, load average %s to %s\n%-11s %-8s %10s %10s %7s %7s %8s\n", before, loadAverage(),
		"what", "history", "operations", "time", "each", "growth", "n log n")
	for _, what := range []string{"Judge", "DecodeFile"} {
		for _, kind := range []string{"valid", "unknown", "zombies"} {
			printGrowth(what, kind, best)
		}
	}
}

// printGrowth prints a line a size; growth is against a tenth of the size, beside what n log n would be.
func printGrowth(what, kind string, best map[string]float64) {
	for _, n := range []float64{1e4, 1e5, 1e6} {
		ns, before := best[fmt.Sprintf("%s%s%.0f", what, kind, n)], best[fmt.Sprintf("%s%s%.0f", what, kind, n/10)]
		fmt.Printf("%-11s %-8s %10.0f %7.1f ms %4.0f ns", what, kind, n, ns/1e6, ns/n)
		if before > 0 {
			fmt.Printf(" %6.1fx %7.1fx", ns/before, 10*math.Log(n)/math.Log(n/10))
		}
		fmt.Println()
	}
}

// loadAverage is that of the last minute, so that a reader sees a busy machine.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

func spread(all []time.Duration) string {
	if len(all) == 0 {
		return "none"
	}
	return fmt.Sprintf("min %s, median %s, max %s", seconds(slices.Min(all)), seconds(median(all)), seconds(slices.Max(all)))
}

// median is the mean of the middle two when their number is even.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func within(all []time.Duration, limit time.Duration) (n int) {
	for _, d := range all {
		if d <= limit {
			n++
		}
	}
	return n
}
