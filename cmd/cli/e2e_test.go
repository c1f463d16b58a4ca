package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/eventually"
	"github.com/dlmtest/dlmtest/internal/scratch"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/figures"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

// These tests start real servers in Docker. They do not skip: without a daemon
// they fail.

// shared are folders that outlive the test that makes them. TestMain removes them; those of tests that are killed
// go with the next start.
var shared struct {
	mu  sync.Mutex
	all []*scratch.Folder
}

func sharedFolder() (string, error) {
	f, err := scratch.New("e2e")
	if err != nil {
		return "", err
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.all = append(shared.all, f)
	return f.Path, nil
}

// tidied are tests that leave nothing.
type tidied struct{ *testing.M }

// Run runs the tests, and removes what they share.
func (t tidied) Run() int {
	code := t.M.Run()
	for _, f := range shared.all {
		_ = f.Remove() // else it goes with the next start
	}
	return code
}

var built struct {
	once sync.Once
	path string
	err  error
}

// dlmtest builds the static binary once, as nodes need it.
func dlmtest(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if built.path = os.Getenv("DLMTEST_BINARY"); built.path != "" { // several of these tests at a time need it once
			return
		}
		dir, err := sharedFolder()
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(dir, "dlmtest")
		build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", built.path, "../../cmd/dlmtest")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// ownCopy is the binary in a file of this test's own, so that its processes can be told from those of tests beside it.
// Another process writes it: a fork of this one meanwhile would keep it open, and then it cannot be started.
func ownCopy(t testing.TB) string {
	t.Helper()
	own := filepath.Join(t.TempDir(), "dlmtest")
	if out, err := exec.Command("cp", dlmtest(t), own).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return own
}

// finished is a run that has ended.
type finished struct {
	runner *exec.Cmd
	code   int
	dir    string
	result checker.Result
	stderr string
}

func (f finished) verdict(property string) string {
	if p := f.result.Property(property); p != nil {
		return p.Verdict.String()
	}
	return "missing"
}

// runScenario runs dlmtest run with --json and returns what it said.
func runScenario(t testing.TB, args ...string) finished {
	t.Helper()
	return runIn(t, t.TempDir(), args...)
}

// settled is runScenario, up to twice more where the machine was starved, as in selftest: that is no verdict on the lock.
func settled(t testing.TB, args ...string) finished {
	t.Helper()
	f := runScenario(t, args...)
	for more := 0; more < mostAgain && matrix.Disturbed(f.result); more++ {
		f = runScenario(t, args...)
	}
	return f
}

// paused is a gc-pause on redis that several tests look at.
var paused struct {
	once sync.Once
	finished
}

func pausedOnRedis(t testing.TB) finished {
	t.Helper()
	paused.once.Do(func() {
		out, err := sharedFolder()
		if err != nil {
			t.Fatal(err)
		}
		paused.finished = runIn(t, out, "--scenario", "gc-pause", "--lease", "2s", "--backend", "redis")
	})
	if paused.dir == "" {
		t.Fatal("the run that several tests look at has failed before")
	}
	return paused.finished
}

func runIn(t testing.TB, out string, args ...string) finished {
	t.Helper()
	cmd := exec.Command(dlmtest(t), append([]string{"run", "--json", "--out", out}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit code is looked at
	f := finished{runner: cmd, code: cmd.ProcessState.ExitCode(), stderr: stderr.String()}
	for line := range bytes.Lines(stdout.Bytes()) {
		var event struct {
			Event  string         `json:"event"`
			Dir    string         `json:"dir"`
			Result checker.Result `json:"result"`
		}
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if event.Event == "result" {
			f.dir, f.result = event.Dir, event.Result
		}
	}
	if f.dir == "" {
		t.Fatalf("no result; exit %d\n%s\n%s", f.code, stdout.String(), stderr.String())
	}
	return f
}

// nothingLeft wants no container, network and volume of a runner that has ended, after a while. Others go on beside it.
func nothingLeft(t testing.TB, runner *exec.Cmd) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(eventually.Most); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if left, _ = inDocker(t, runner.Process.Pid); len(left) == 0 {
			return
		}
	}
	for _, thing := range left {
		if !stuck(thing) {
			t.Errorf("left behind: %s", thing)
		}
	}
}

// stuck tells a network without containers that Docker 20.10 refuses to remove.
func stuck(line string) bool {
	name, ok := strings.CutPrefix(line, "network ")
	if !ok {
		return false
	}
	said, _ := exec.Command("docker", "network", "rm", name).CombinedOutput() // refused is what is looked for
	users, err := exec.Command("docker", "network", "inspect", "-f", "{{len .Containers}}", name).Output()
	return err == nil && strings.TrimSpace(string(users)) == "0" && strings.Contains(string(said), "has active endpoints")
}

// TestGCPause is the table of what the main job must show. Runs go side by side: they do not disturb each other.
func TestGCPause(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		want map[string]string
	}{
		{"redis", []string{"--backend", "redis"}, map[string]string{
			"mutual-exclusion": "violated", "lease-exclusion": "holds", "fencing-monotonic": "holds",
			"no-lost-update/unfenced": "violated", "no-lost-update/fenced": "holds", "fenced-writes": "holds", "deadlock-freedom": "holds"}},
		{"redlock", []string{"--backend", "redlock"}, map[string]string{
			"mutual-exclusion": "violated", "lease-exclusion": "holds", "fencing-monotonic": "n/a",
			"no-lost-update/unfenced": "violated", "fenced-writes": "n/a", "deadlock-freedom": "holds"}},
		{"etcd", []string{"--backend", "etcd"}, map[string]string{
			"mutual-exclusion": "violated", "lease-exclusion": "holds", "fencing-monotonic": "holds",
			"no-lost-update/unfenced": "violated", "no-lost-update/fenced": "holds", "fenced-writes": "holds", "deadlock-freedom": "holds"}},
		{"zookeeper", []string{"--backend", "zookeeper"}, map[string]string{
			"mutual-exclusion": "violated", "lease-exclusion": "holds", "fencing-monotonic": "holds",
			"no-lost-update/unfenced": "violated", "no-lost-update/fenced": "holds", "fenced-writes": "holds", "deadlock-freedom": "holds"}},
		{"postgres", []string{"--backend", "postgres"}, map[string]string{
			"mutual-exclusion": "holds", "lease-exclusion": "n/a", "no-lost-update/unfenced": "holds", "availability": "violated"}},
		{"postgres with an idle timeout", []string{"--backend", "postgres", "--idle-timeout", "lease"}, map[string]string{
			"mutual-exclusion": "violated", "lease-exclusion": "n/a",
			"no-lost-update/unfenced": "violated", "fenced-writes": "holds", "no-lost-update/fenced": "holds"}},
		{"postgres-advisory", []string{"--backend", "postgres-advisory"}, map[string]string{
			"mutual-exclusion": "holds", "lease-exclusion": "n/a", "no-lost-update/unfenced": "holds", "availability": "violated"}},
		{"a PostgreSQL table as resource", []string{"--backend", "redis", "--resource", "postgres"}, map[string]string{
			"mutual-exclusion": "violated", "lease-exclusion": "holds",
			"no-lost-update/unfenced": "violated", "no-lost-update/fenced": "holds", "fenced-writes": "holds"}},
		{"self-fencing by deadline", []string{"--backend", "redis", "--self-fence", "check-deadline"}, map[string]string{
			"mutual-exclusion": "holds", "lease-exclusion": "holds", "no-lost-update/unfenced": "holds", "fenced-writes": "unknown"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			beside(t) // a pause is waited for at a checkpoint, however busy the machine is
			var f finished
			if test.name == "redis" {
				f = pausedOnRedis(t)
			} else {
				f = settled(t, append([]string{"--scenario", "gc-pause", "--lease", "2s"}, test.args...)...)
			}
			for property, want := range test.want {
				if got := f.verdict(property); got != want {
					p := f.result.Property(property)
					t.Errorf("%s: %s, want %s: %+v", property, got, want, p)
				}
			}
			if want := exitOf(f.result.Verdict); f.code != want {
				t.Errorf("exit code %d for the verdict %v", f.code, f.result.Verdict)
			}
			described(t, f)
			if t.Failed() {
				keep(t, f)
			}
			nothingLeft(t, f.runner)
		})
	}
}

// described wants of a run with one fault on a holder what its report rests on: the
// figures, the plan of the fault, the servers' configuration, the digest of the history.
func described(t *testing.T, f finished) {
	t.Helper()
	var results struct{ Figures figures.Figures }
	var run reports.Run
	for name, into := range map[string]any{"results.json": &results, "run.json": &run} {
		b, err := os.ReadFile(filepath.Join(f.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	m := results.Figures
	if len(m.Latencies) == 0 || m.Grants == nil || len(m.Clients) != 5 || len(m.Recoveries) != 1 || !m.Recoveries[0].Held || len(m.Clocks) < 5 || len(m.Claims) == 0 {
		t.Errorf("figures: %+v", m)
	}
	for name, why := range m.Missing {
		if strings.Contains(why, "bug") {
			t.Errorf("%s: %s", name, why)
		}
	}
	if len(run.Planned) != 1 || run.Planned[0].Fault != "pause" || run.History == nil || run.Machine == "" {
		t.Errorf("planned %+v, history %+v, machine %q", run.Planned, run.History, run.Machine)
	}
	for _, n := range run.Nodes {
		if n.Role == reports.Server && len(n.Command) == 0 {
			t.Errorf("how %s was started is not known", n.Name)
		}
	}
}

// outlives is where kept runs go: a test may look at a TMPDIR of its own, and removes it.
var outlives = os.TempDir()

// keep copies a run's folder to where it outlives the test.
func keep(t testing.TB, f finished) {
	t.Helper()
	dir, err := os.MkdirTemp(outlives, "dlmtest-failed-*")
	if err == nil {
		err = os.CopyFS(dir, os.DirFS(f.dir))
	}
	t.Logf("the run is kept in %s (%v); counts %+v, doubts %q", dir, err, f.result.Counts, f.result.Doubts)
}

// The zombie wakes between the other's read and its write: fencing writes alone
// does not save a read-modify-write, fencing reads as well does.
func TestGCPauseRead(t *testing.T) {
	t.Parallel()
	for fenceOn, want := range map[string]string{"write": "violated", "read": "holds"} {
		t.Run(fenceOn, func(t *testing.T) {
			beside(t)
			f := settled(t, "--scenario", "gc-pause-read", "--backend", "redis", "--lease", "2s", "--fence-on", fenceOn)
			if got := f.verdict("no-lost-update/fenced"); got != want {
				t.Errorf("no-lost-update/fenced: %s, want %s: %+v", got, want, f.result.Property("no-lost-update/fenced"))
				keep(t, f)
			}
		})
	}
}

// A sound lock without faults is green: a false red is the second worst bug. Clusters that no other test starts in Docker start there here.
func TestBaseline(t *testing.T) {
	t.Parallel()
	for _, backend := range locks.Intact() {
		t.Run(backend, func(t *testing.T) {
			beside(t)
			runtime := "local"
			if slices.Contains([]string{"redis-replicated", "http", "grpc"}, backend) {
				runtime = "docker"
			}
			f := runScenario(t, "--scenario", "baseline", "--backend", backend, "--runtime", runtime)
			disturbed := strings.Contains(strings.Join(f.result.Doubts, " "), "Disturbed") // a starved machine: no verdict on the lock
			if f.result.Verdict != checker.Holds && !(disturbed && f.result.Verdict == checker.Unknown) {
				t.Errorf("verdict %v: %+v", f.result.Verdict, f.result)
				keep(t, f)
			}
		})
	}
}

func TestCheckJudgesAgain(t *testing.T) {
	beside(t)
	f := pausedOnRedis(t)
	before, err := os.ReadFile(filepath.Join(f.dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	check := exec.Command(dlmtest(t), "check", f.dir)
	check.Env = append(os.Environ(), "DOCKER_HOST=unix:///nowhere")
	out, _ := check.CombinedOutput()
	if check.ProcessState.ExitCode() != f.code {
		t.Fatalf("exit %d, the run had %d:\n%s", check.ProcessState.ExitCode(), f.code, out)
	}
	after, err := os.ReadFile(filepath.Join(f.dir, "results.json"))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("a second judgement differs (%v):\n%s\n%s", err, before, after)
	}
}

// Every reference lock passes the conformance suite on its real cluster. The suite waits for
// leases for the most part, so two go side by side.
func TestConform(t *testing.T) {
	t.Parallel()
	for _, backend := range locks.Intact() {
		if backend == "grpc" {
			continue // the same service as http; by grpc it is TestServiceConforms of locktest
		}
		t.Run(backend, func(t *testing.T) {
			beside(t)
			out, err := exec.Command(dlmtest(t), "conform", "--backend", backend, "--runtime", "local").CombinedOutput()
			if err != nil && strings.Contains(string(out), "timeout") { // a starved machine: no word on the lock
				t.Logf("once more, after\n%s", out)
				out, err = exec.Command(dlmtest(t), "conform", "--backend", backend, "--runtime", "local").CombinedOutput()
			}
			if err != nil || !strings.Contains(string(out), ": 0 of ") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// A run that was interrupted is healed, taken down and judged.
func TestInterrupt(t *testing.T) {
	beside(t)
	out := t.TempDir()
	cmd := exec.Command(dlmtest(t), "run", "--json", "--out", out, "--scenario", "gc-pause", "--backend", "redis", "--lease", "2s")
	last := interruptAt(t, cmd, `"faults":1`)
	if code := cmd.ProcessState.ExitCode(); code != exitInconclusive && code != exitViolated {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(last, "interrupted") {
		t.Errorf("the result does not say that the run was interrupted: %s", last)
	}
	if _, err := os.Stat(filepath.Join(out, "latest", "report.html")); err != nil {
		t.Error(err)
	}
	nothingLeft(t, cmd)
}

// A server that does not come up: its last log lines, exit 3, nothing left.
func TestServerThatDoesNotComeUp(t *testing.T) {
	beside(t)
	compose := filepath.Join(t.TempDir(), "compose.yml")
	err := os.WriteFile(compose, []byte(`services:
  redis-1:
    image: dlmtest/redis:latest
    profiles: [redis]
    command: [redis-server, --port, "6379", --nonsense, "1"]
    expose: ["6379"]
    healthcheck: {test: [CMD, redis-cli, PING]}
`), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(dlmtest(t), "run", "--out", t.TempDir(), "--scenario", "baseline", "--backend", "redis", "--compose", compose)
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"redis-1", "nonsense"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the error does not show %q:\n%s", want, out)
		}
	}
	nothingLeft(t, cmd)
}

// Every kind of fault on real servers: it is seen at its victim, it heals, and what the lock promises is
// decided. Each kind in both runtimes is TestFaultsStayInTheirNodes.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []faultTest{
		{"partition-minority", "redlock", "docker", map[string]string{"mutual-exclusion": "holds", "lease-exclusion": "holds"}},
		{"holder-isolated", "redis", "local", map[string]string{"mutual-exclusion": "violated", "lease-exclusion": "holds", "fenced-writes": "holds"}},
		{"leader-crash", "zookeeper", "docker", map[string]string{"mutual-exclusion": "holds", "fencing-monotonic": "holds"}},
		{"orphan", "etcd", "local", map[string]string{"mutual-exclusion": "holds", "lease-exclusion": "holds", "deadlock-freedom": "holds"}},
		{"stall-worker", "redis", "local", map[string]string{"mutual-exclusion": "holds"}},
		{"delayed-restart", "redlock", "docker", map[string]string{"lease-exclusion": "holds", "mutual-exclusion": "holds"}},
		{"token-amnesia", "redis", "local", map[string]string{"fencing-monotonic": "violated"}},
		{"storm", "etcd", "local", map[string]string{"lease-exclusion": "holds"}},
		{"delayed-write", "redis", "local", map[string]string{"no-lost-update/unfenced": "violated", "lease-exclusion": "holds", "fenced-writes": "holds"}},
		{"half-open", "etcd", "local", map[string]string{"mutual-exclusion": "violated", "lease-exclusion": "holds", "fenced-writes": "holds"}},
		{"cut-after-create", "zookeeper", "local", map[string]string{"mutual-exclusion": "holds", "deadlock-freedom": "holds", "availability": "holds"}},
		{"lost-answer", "redis", "local", map[string]string{"mutual-exclusion": "holds", "release-by-owner": "holds", "deadlock-freedom": "holds"}},
		{"slow-links-short", "postgres", "local", map[string]string{"mutual-exclusion": "holds", "availability": "holds"}},
		{"server-pause", "etcd", "local", map[string]string{"availability": "holds", "lease-exclusion": "holds"}},
		{"payment-pause", "etcd", "local", map[string]string{"charged-once/unfenced": "violated", "charged-once/fenced": "violated", "no-lost-update/fenced": "holds"}},
		{"file-pause", "redis", "local", map[string]string{"no-interleaving/unfenced": "violated", "no-interleaving/fenced": "holds"}},
		{"disk-stall", "etcd", "local", map[string]string{"mutual-exclusion": "holds", "lease-exclusion": "holds"}},
	} {
		t.Run(test.String(), func(t *testing.T) {
			beside(t)
			test.run(t)
		})
	}
}

// The faults whose outcome depends on who is first run alone.
func TestFaultsAlone(t *testing.T) {
	for _, test := range []faultTest{
		{"clock-jump", "redlock", "docker", map[string]string{"lease-exclusion": "violated"}},
		{"clock-jump", "etcd", "docker", map[string]string{"lease-exclusion": "holds"}},
		{"crash-amnesia", "redlock", "docker", map[string]string{"lease-exclusion": "violated"}},
		{"clock-strobe", "redis", "local", map[string]string{"lease-exclusion": "violated"}},
	} {
		t.Run(test.String(), test.run)
	}
}

// faultTest is a run with a fault, and the verdicts that it must have.
type faultTest struct {
	scenario, backend, runtime string
	want                       map[string]string
}

func (test faultTest) String() string { return test.scenario + " " + test.backend + " " + test.runtime }

func (test faultTest) run(t *testing.T) {
	f := settled(t, "--scenario", test.scenario, "--backend", test.backend, "--runtime", test.runtime)
	if f.result.Counts.Faults == 0 || f.result.Counts.FaultsSeen != f.result.Counts.Faults {
		t.Errorf("%d of %d faults were seen", f.result.Counts.FaultsSeen, f.result.Counts.Faults)
	}
	for property, want := range test.want {
		if got := f.verdict(property); got != want {
			t.Errorf("%s: %s, want %s: %+v", property, got, want, f.result.Property(property))
		}
	}
	if t.Failed() {
		keep(t, f)
	}
	nothingLeft(t, f.runner)
}

// A matrix of two by two with a cell that makes no sense: its index leads to reports
// that are there, and a second judgement leaves it as it is.
func TestMatrix(t *testing.T) {
	beside(t)
	out, program := t.TempDir(), ownCopy(t)
	cmd := exec.Command(program, "run", "--runtime", "local", "--parallel", "2", "--scenario", "gc-pause,leader-crash",
		"--backend", "redis,etcd", "--lease", "2s", "--seed", "5", "--out", out)
	said, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != exitViolated {
		t.Fatalf("exit %d\n%s", code, said)
	}
	dir := filepath.Join(out, "latest-matrix")
	x := readIndex(t, dir)
	for cell, want := range map[string]reports.Outcome{"gc-pause redis": reports.Violates, "gc-pause etcd": reports.Violates, "leader-crash redis": reports.NoSense} {
		scenario, backend, _ := strings.Cut(cell, " ")
		if c := x.Cell(scenario, backend); c == nil || c.Verdict != want {
			t.Errorf("%s: %+v, want %s\n%s", cell, c, want, said)
		}
	}
	crash := x.Cell("leader-crash", "etcd")
	if v := crash.Verdict; v != reports.Good && v != reports.Unclear || x.FirstSeed() != 5 || !x.Ended { // unknown: a starved machine
		t.Errorf("%+v\n%s", crash, said)
	}
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range x.Cells {
		for _, r := range c.Runs {
			if _, err := os.Stat(filepath.Join(dir, r.Dir, "report.html")); err != nil || !bytes.Contains(page, []byte(r.Dir+"/report.html")) {
				t.Errorf("%s: the index does not lead to its report (%v)", c.RunName(r), err)
			}
		}
	}
	said, _ = exec.Command(program, "check", dir).CombinedOutput()
	if again := readIndex(t, dir); !reflect.DeepEqual(again, x) {
		t.Errorf("a second judgement differs:\n%+v\n%+v\n%s", x, again, said)
	}
	noneRuns(t, program)
}

// noneRuns wants no process of this very binary within some seconds. A cluster
// without Docker depends on one: the first process of its namespaces, with which all
// others end.
func noneRuns(t *testing.T, path string) {
	t.Helper()
	binary, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	left := 1
	for deadline := time.Now().Add(10 * time.Second); left > 0 && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		left = 0
		all, _ := filepath.Glob("/proc/[0-9]*/exe") // the pattern is right
		for _, exe := range all {
			if info, err := os.Stat(exe); err == nil && os.SameFile(info, binary) { // an error: it has ended
				left++
			}
		}
	}
	if left > 0 {
		t.Errorf("%d processes of %s are left", left, path)
	}
}

func readIndex(t *testing.T, dir string) (x pages.Index) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err == nil {
		err = json.Unmarshal(data, &x)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// interruptAt starts a command, interrupts it at the first line with text, waits for
// its end and returns its last line.
func interruptAt(t *testing.T, cmd *exec.Cmd, text string) (last string) {
	t.Helper()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && !strings.Contains(lines.Text(), text) {
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		last = lines.Text()
	}
	_ = cmd.Wait() // the exit code is looked at
	return last
}

// An interrupted matrix judges what runs, marks the rest and leaves nothing.
func TestMatrixInterrupt(t *testing.T) {
	beside(t)
	out, program := t.TempDir(), ownCopy(t)
	cmd := exec.Command(program, "run", "--json", "--runtime", "local", "--parallel", "2", "--scenario", "gc-pause,orphan",
		"--backend", "redis,etcd", "--lease", "2s", "--out", out)
	last := interruptAt(t, cmd, `"event":"end"`)
	if code := cmd.ProcessState.ExitCode(); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	x := readIndex(t, filepath.Join(out, "latest-matrix"))
	ended, unbegun := 0, 0
	for _, c := range x.Cells {
		for _, r := range c.Runs {
			if r.Dir != "" {
				ended++
			} else if r.Verdict == reports.NotRun {
				unbegun++
			}
		}
	}
	if !strings.Contains(last, `"event":"summary"`) || x.Stopped == "" || ended == 0 || unbegun == 0 || ended+unbegun < 4 {
		t.Errorf("%d ended, %d not run, stopped %q, last %s", ended, unbegun, x.Stopped, last)
	}
	noneRuns(t, program)
}

// Broken locks are caught, and faults that do nothing are not believed. The sound
// locks are TestBaseline's.
func TestSelftest(t *testing.T) {
	beside(t)
	for part, runtime := range map[string]string{"controls": "local", "lies": "docker"} {
		cmd := exec.Command(dlmtest(t), "selftest", "--part", part, "--runtime", runtime, "--out", t.TempDir())
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
		nothingLeft(t, cmd)
	}
}

func TestDoctor(t *testing.T) {
	beside(t)
	cmd := exec.Command(dlmtest(t), "doctor")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "nf_tables") {
		t.Errorf("%v\n%s", err, out)
	}
	nothingLeft(t, cmd)
}
