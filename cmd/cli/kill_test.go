package cli

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/eventually"
	"github.com/dlmtest/dlmtest/internal/scratch"
)

const (
	// afterKill is how long what a killed command started may take to be gone: its janitor
	// waits for the daemon, and an agent for a hung file system.
	afterKill = eventually.Most
	// latestKill is the latest moment of a kill, but for commands that end sooner.
	latestKill = 10 * time.Second
)

// killed is a command that is started again and again, to be killed.
type killed struct {
	name   string
	args   []string // without --out and --runtime
	docker bool

	out, tmp, cache string
	cmd             *exec.Cmd
	said            *told
}

// proofs are the commands that must leave nothing, whenever they are killed.
func proofs(t *testing.T) []killed {
	t.Helper()
	stalled := writeFile(t, "stalled.yaml", scenarioWith("stalled", "  - {fault: disk-stall, target: servers, at: 0.25 lease, for: 4s}\n"))
	gate := writeFile(t, "gate.yaml", `{name: g, count: 2, cells: [{scenario: baseline, backend: redis}, {scenario: gc-pause, backend: etcd}]}`+"\n")
	return []killed{
		{name: "run", args: []string{"run", "--scenario", stalled, "--backend", "redis", "--fsync", "always", "--lease", "1s"}},
		{name: "matrix", args: []string{"run", "--scenario", "baseline,gc-pause", "--backend", "redis,postgres", "--lease", "1s", "--parallel", "2"}},
		{name: "gate", args: []string{"gate", "--config", gate}},
		{name: "conform", args: []string{"conform", "--backend", "redis"}},
		{name: "corpus", args: []string{"corpus", "redsync-extend-deletes"}},
		{name: "shrink", args: []string{"shrink", ""}},
		{name: "capacity", args: []string{"capacity", "--backend", "redis", "--locks", "100", "--sessions", "10", "--window", "1s"}},
		{name: "hunt", args: []string{"hunt", "--backend", "broken/no-renewal", "--for", "60s", "--parallel", "2"}},
		{name: "selftest", args: []string{"selftest", "--part", "controls"}},
	}
}

// A command that is killed leaves nothing but its runs, at whatever moment. KILLS=20 KILL=run,gate
// KILL_RUNTIME=local,docker KILL_SEED=7 widen it: see make kill-proof.
func TestKilledAnywhere(t *testing.T) {
	kills, commands := 1, []string{"run"}
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		kills = n
	}
	if chosen := os.Getenv("KILL"); chosen != "" {
		commands = strings.Split(chosen, ",")
	}
	runtimes := []string{"local"} // with Docker: TestKilledRunnerLeavesNothing
	if chosen := os.Getenv("KILL_RUNTIME"); chosen != "" {
		runtimes = strings.Split(chosen, ",")
	}
	seed, err := strconv.ParseUint(os.Getenv("KILL_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano()) % 1e6
	}
	t.Logf("KILL_SEED=%d", seed)
	adoptOrphans(t)
	for _, runtime := range runtimes {
		for _, k := range proofs(t) {
			if slices.Contains(commands, k.name) {
				k.docker = runtime == "docker"
				t.Run(k.name+" "+runtime, func(t *testing.T) { k.proof(t, kills, rand.New(rand.NewPCG(seed, 0))) })
			}
		}
	}
}

// A runner with a cluster in Docker is killed at five moments: nothing is left, nothing of it is green, and what it had
// made aside is gone after the next start.
func TestKilledRunnerLeavesNothing(t *testing.T) {
	adoptOrphans(t)
	k := &killed{name: "run", args: []string{"run", "--json", "--scenario", "gc-pause", "--backend", "redlock", "--lease", "1s"}, docker: true}
	k.folders(t)
	for _, m := range []struct {
		name, after string // a line that is seen
		wait        time.Duration
	}{
		{"at its start", "", 30 * time.Millisecond},
		{"while containers are made", "Starting", 300 * time.Millisecond},
		{"while nodes get ready", "Waiting until", 100 * time.Millisecond},
		{"in the pause", `"faults":1`, 200 * time.Millisecond},
		{"while it takes the cluster down", "Taking the cluster down", 50 * time.Millisecond},
	} {
		t.Run(m.name, func(t *testing.T) {
			k.start(t)
			eventually.True(t, m.after, func() bool { return strings.Contains(k.said.String(), m.after) })
			if m.after != "" {
				eventually.True(t, "something to be left behind", func() bool { things, _ := inDocker(t, k.cmd.Process.Pid); return len(things) > 0 })
			}
			time.Sleep(m.wait)
			tr := k.killNow(t)
			if left, _ := k.settle(t, tr); left.String() != "" {
				t.Errorf("left: %s", left)
			}
			k.judge(t)
		})
	}
	k.undisturbed(t) // the next start
	if left := listed(t, k.tmp, k.cache); len(left) > 0 {
		t.Errorf("files that the next start has not removed: %q", left)
	}
}

// told is what a command has said so far.
type told struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *told) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *told) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// proof kills the command so often, each time at another moment.
func (k *killed) proof(t *testing.T, kills int, random *rand.Rand) {
	k.folders(t)
	if k.name == "shrink" {
		k.args[1] = runScenario(t, "--scenario", "gc-pause", "--backend", "redis", "--lease", "1s", "--runtime", k.runtime()).dir
	}
	whole := min(k.undisturbed(t), latestKill)
	before := listed(t, k.tmp, k.cache)
	clean, later := 0, 0
	for n := 1; n <= kills; n++ {
		at := time.Duration(random.Float64() * float64(whole))
		if n%3 == 0 { // while it starts, where much is half made
			at /= 8
		}
		tr := k.killAt(t, at)
		left, took := k.settle(t, tr)
		fresh := notIn(listed(t, k.tmp, k.cache), before)
		t.Logf("%s, kill %d at %.2f s: had %d processes, %d namespaces, %d mounts of FUSE, %d in Docker; gone after %.1f s; files until the next start: %d", k.name, n, at.Seconds(),
			len(tr.had.processes), len(tr.had.namespaces), len(tr.had.fuse), len(tr.had.docker), took.Seconds(), len(fresh))
		later += len(fresh)
		if text := left.String(); text != "" {
			t.Errorf("%s, killed at %.2f s, left: %s", k.name, at.Seconds(), text)
		} else {
			clean++
		}
		k.judge(t)
	}
	k.undisturbed(t) // the next start
	if fresh := notIn(listed(t, k.tmp, k.cache), before); len(fresh) > 0 {
		t.Errorf("files that the next start has not removed: %q", fresh)
	}
	t.Logf("%s in %s: %d of %d kills left nothing; %d files and folders were left until the next start, and are gone", k.name, k.runtime(), clean, kills, later)
}

func (k *killed) runtime() string {
	if k.docker {
		return "docker"
	}
	return "local"
}

// folders gives the command a TMPDIR and a cache of its own. Nodes without Docker see
// nothing that is below /tmp.
func (k *killed) folders(t *testing.T) {
	t.Helper()
	own, err := scratch.In("/var/tmp", "dlmtest-kill-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Remove() })
	root := own.Path
	k.out, k.tmp, k.cache = filepath.Join(root, "out"), filepath.Join(root, "tmp"), filepath.Join(root, "cache")
	for dir, mode := range map[string]os.FileMode{root: 0o755, k.out: 0o755, k.tmp: 0o777 | os.ModeSticky, k.cache: 0o755} {
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, mode)); err != nil {
			t.Fatal(err)
		}
	}
}

// start starts the command.
func (k *killed) start(t *testing.T) {
	t.Helper()
	args := append(slices.Clone(k.args), "--runtime", k.runtime())
	if k.name != "conform" && k.name != "capacity" {
		args = append(args, "--out", k.out)
	}
	k.cmd, k.said = exec.Command(dlmtest(t), args...), &told{}
	k.cmd.Env = append(os.Environ(), "TMPDIR="+k.tmp, "XDG_CACHE_HOME="+k.cache)
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} { // the go command's own are not the command's
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		k.cmd.Env = append(k.cmd.Env, name+"="+strings.TrimSpace(string(out)))
	}
	k.cmd.Stdout, k.cmd.Stderr = k.said, k.said
	k.cmd.WaitDelay = 100 * time.Millisecond // its janitor outlives it with its stderr
	if err := k.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

// undisturbed lets the command come to its end, but for a long one, and says how long it took.
func (k *killed) undisturbed(t *testing.T) time.Duration {
	t.Helper()
	begun := time.Now()
	k.start(t)
	done := make(chan struct{})
	go func() { _ = k.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(latestKill):
		_ = k.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(endLimit):
			t.Errorf("%s does not end: %s", k.name, k.said)
			_ = k.cmd.Process.Kill()
			<-done
		}
	}
	if code := k.cmd.ProcessState.ExitCode(); code == exitUsage || code == exitFailed && time.Since(begun) < time.Second {
		t.Fatalf("%s: exit code %d: %s", k.name, code, k.said)
	}
	return time.Since(begun)
}

// killAt starts the command and kills it at a moment; one that has ended by then is
// killed sooner.
func (k *killed) killAt(t *testing.T, at time.Duration) trace {
	t.Helper()
	for {
		k.start(t)
		time.Sleep(at)
		if stateOf(k.cmd.Process.Pid) != "Z" {
			break
		}
		_ = k.cmd.Wait()
		at = at * 3 / 4
	}
	return k.killNow(t)
}

// killNow stops the command, takes down what it has, and kills it.
func (k *killed) killNow(t *testing.T) trace {
	t.Helper()
	if err := k.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	tr := k.trace(t)
	if err := k.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = k.cmd.Wait()
	return tr
}

// settle waits until nothing is left. What Docker itself cannot remove is named and not
// counted, nor is the janitor that goes on trying.
func (k *killed) settle(t *testing.T, tr trace) (left belongings, took time.Duration) {
	t.Helper()
	begun := time.Now()
	for time.Since(begun) < afterKill {
		if left = tr.left(t); left.String() == "" {
			return left, time.Since(begun)
		}
		time.Sleep(100 * time.Millisecond)
	}
	all := len(left.docker)
	left.docker = slices.DeleteFunc(left.docker, func(thing string) bool {
		is := stuck(thing)
		if is {
			t.Logf("%s has no container, and Docker does not remove it: has active endpoints", thing)
		}
		return is
	})
	if len(left.docker) < all {
		left.processes = slices.DeleteFunc(left.processes, func(pid int) bool {
			line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline") // it may just have ended
			return bytes.Contains(line, []byte("\x00janitor\x00"))
		})
	}
	return left, time.Since(begun)
}
