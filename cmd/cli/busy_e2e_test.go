package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
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

	"github.com/dlmtest/dlmtest/checker"
)

// busyScenario is a short baseline: nothing is wrong with the lock.
const busyScenario = `name: busy
title: A sound lock on a busy machine
about: Clients compete and nothing is broken but the machine.
workload: guarded-write
clients: 8
keys: 3
lease: %s
renew: false
work: 10ms
think: 5ms
wait: 4 lease
duration: 1500ms
after: 0s
expect: {contention: 1}
`

// busyTrial is one run with what is done to the machine meanwhile.
type busyTrial struct {
	backend, runtime string
	loops            int           // processes that only use the processor
	stop             string        // whose process is stopped: server, client, resource (their agents), or runner, so that all pipes to it fill; "": nobody's
	at, length       time.Duration // from the begin of the load
}

func (b busyTrial) String() string {
	words := []string{b.backend, b.runtime}
	if b.loops > 0 {
		words = append(words, fmt.Sprintf("%d busy loops", b.loops))
	}
	if b.stop != "" {
		words = append(words, fmt.Sprintf("%s stopped %.1f s after the begin for %.1f s", b.stop, b.at.Seconds(), b.length.Seconds()))
	}
	return strings.Join(words, ", ")
}

// what is the row of a table in which a trial is counted.
func (b busyTrial) what() string {
	who := map[string]string{"": "nobody stopped", "runner": "full pipes (runner stopped)"}[b.stop]
	if who == "" {
		who = "agent stopped: " + b.stop
	}
	return fmt.Sprintf("%s, %d busy loops", who, b.loops)
}

// drawBusy draws a trial; a third of the stops lie around the end of the load.
func drawBusy(r *rand.Rand, runtime string, backends []string) busyTrial {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	b := busyTrial{backend: pick(backends...), runtime: runtime, stop: pick("server", "client", "resource", "resource", "runner", ""),
		at: time.Duration(r.IntN(1800)) * time.Millisecond, length: time.Duration(300+r.IntN(2700)) * time.Millisecond}
	if r.IntN(3) == 0 {
		b.at = 1100*time.Millisecond + time.Duration(r.IntN(500))*time.Millisecond
	}
	if b.stop == "" || r.IntN(2) == 0 {
		b.loops = 4 + 4*r.IntN(2)
	}
	return b
}

// An agent of the resource that is stopped before the load ends is waited for, and its
// records with it; one that stays away is a doubt. Neither accuses the lock.
func TestStoppedResourceAgent(t *testing.T) {
	t.Parallel()
	for _, runtime := range []string{"docker", "local"} {
		for _, length := range []time.Duration{2 * time.Second, 15 * time.Second} {
			if runtime == "docker" && length > 10*time.Second {
				continue // the same code as without Docker
			}
			t.Run(fmt.Sprintf("%s for %v", runtime, length), func(t *testing.T) {
				beside(t)
				trial := busyTrial{backend: "redis", runtime: runtime, stop: "resource", at: 1100 * time.Millisecond, length: length}
				f := trial.run(t, t.TempDir())
				for range 2 {
					if f.missed { // a busy daemon found the node when the run was over: nothing was tried
						f = trial.run(t, t.TempDir())
					}
				}
				if want := map[bool]string{true: "green", false: "inconclusive"}[length < 10*time.Second]; f.word() != want {
					t.Errorf("%s, want %s: %s", f.word(), want, f.why())
				}
				if f.missed {
					t.Error("nobody was stopped")
				}
				if f.word() == "inconclusive" && (!f.result.Incomplete || !strings.Contains(f.why(), "resource")) {
					t.Errorf("no doubt about the resource: %s", f.why())
				}
			})
		}
	}
}

// TestBusyMachine disturbs short runs of sound locks on purpose: none may be red. BUSY is
// how many (make reliability-busy N=200), RUNTIMES where, PARALLEL how many at a time; after
// LIMIT no more is begun.
func TestBusyMachine(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("BUSY"))
	parallel, _ := strconv.Atoi(os.Getenv("PARALLEL"))
	runtimes := strings.Fields(os.Getenv("RUNTIMES"))
	if n == 0 {
		n = 4
	}
	if len(runtimes) == 0 {
		runtimes = []string{"local"}
	}
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	random := rand.New(rand.NewPCG(seed, 5))
	out := os.Getenv("OUT")
	if out == "" {
		out = t.TempDir()
	}
	trials := make(chan busyTrial, n)
	for i := range n {
		trials <- drawBusy(random, runtimes[i%len(runtimes)], []string{"redis", "redlock", "etcd", "postgres"})
	}
	close(trials)
	dlmtest(t)
	limit, err := time.ParseDuration(os.Getenv("LIMIT"))
	if err != nil {
		limit = time.Hour
	}
	begun := time.Now()
	table := map[string]map[string]int{}
	var lock sync.Mutex
	var all sync.WaitGroup
	for range max(parallel, 1) {
		all.Go(func() {
			for b := range trials {
				if time.Since(begun) > limit {
					continue
				}
				f := b.run(t, out)
				lock.Lock()
				row := b.what()
				if f.missed {
					row = "not struck: the run was over before"
				}
				if table[row] == nil {
					table[row] = map[string]int{}
				}
				table[row][f.word()]++
				t.Logf("%-70s %-12s %.1f s %s", b, f.word(), f.took.Seconds(), f.why())
				if f.word() == "red" {
					t.Errorf("%s: a sound lock is accused: see %s", b, f.dir)
				}
				lock.Unlock()
			}
		})
	}
	all.Wait()
	for _, what := range slices.Sorted(mapKeys(table)) {
		c := table[what]
		t.Logf("| %s | %d | %d | %d | %d |", what, c["green"], c["inconclusive"], c["red"], c["error"])
	}
}

func mapKeys(m map[string]map[string]int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// busyRun is a run that has ended.
type busyRun struct {
	finished
	took   time.Duration
	missed bool // nobody was stopped: the run was over before
}

func (f busyRun) word() string {
	switch f.code {
	case exitHolds:
		return "green"
	case exitInconclusive:
		return "inconclusive"
	case exitViolated:
		return "red"
	}
	return "error"
}

func (f busyRun) why() string {
	switch f.word() {
	case "green":
		return ""
	case "error":
		return strings.TrimSpace(f.stderr)
	}
	says := slices.Clone(f.result.Doubts)
	for _, p := range f.result.Properties {
		if p.Verdict == checker.Violated {
			says = append(says, p.Name+": "+p.Violations[0].Message)
		}
	}
	return strings.Join(append(says, f.dir), " ")
}

// run runs a trial to its end.
func (b busyTrial) run(t *testing.T, out string) busyRun {
	lease := "1s"
	if b.backend == "etcd" { // whole seconds, and at least two elections
		lease = "2s"
	}
	file := filepath.Join(t.TempDir(), "busy.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, busyScenario, lease), 0o644); err != nil {
		t.Error(err)
	}
	for range b.loops {
		loop := exec.Command("sh", "-c", "while :; do :; done")
		loop.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := loop.Start(); err != nil {
			t.Error(err)
			break
		}
		defer func() { _ = loop.Process.Kill(); _ = loop.Wait() }()
	}
	begun := time.Now()
	cmd := exec.Command(dlmtest(t), "run", "--json", "--scenario", file, "--backend", b.backend, "--runtime", b.runtime, "--out", out)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return busyRun{}
	}
	limit := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() })
	defer limit.Stop()
	var f busyRun
	var stopped sync.WaitGroup
	victim := make(chan int, 1)
	for lines := bufio.NewReader(stdout); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var event struct {
			Event, Text, Dir string
			Result           checker.Result
		}
		_ = json.Unmarshal(line, &event) // of another shape: not one of these
		switch {
		case event.Event == "phase" && strings.HasPrefix(event.Text, "Waiting until a lock") && b.stop != "":
			go func() { victim <- b.find(cmd.Process.Pid) }() // Docker takes its time on such a machine
		case event.Event == "phase" && strings.HasPrefix(event.Text, "Clients and nemesis") && b.stop != "":
			stopped.Go(func() { f.missed = !b.strike(<-victim) })
		case event.Event == "result":
			f.dir, f.result = event.Dir, event.Result
		}
	}
	_ = cmd.Wait() // the exit code is looked at
	stopped.Wait()
	f.code, f.stderr, f.took = cmd.ProcessState.ExitCode(), stderr.String(), time.Since(begun)
	return f
}
