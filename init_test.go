package dlmtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The locks of this package's tests. Each is the lock of a program that is a node, too.
var (
	sleeper  = redisLock("sleeper", nil)
	panicker = redisLock("panicker", func() { panic("boom in the library") })
	noOwner  = redisLock("no-owner", nil)
)

func TestMain(m *testing.M) {
	Init(sleeper, panicker, noOwner)
	m.Run()
}

// inner runs tests of this binary that are there to fail, and returns what they print.
func inner(t *testing.T, name string, env ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.v", "-test.count=1", "-test.artifacts", "-test.outputdir", t.TempDir(), "-test.run", "^TestInner$/^"+name+"$")
	cmd.Env = append(append(os.Environ(), "DLMTEST_INNER=1"), env...)
	out, err := cmd.CombinedOutput()
	if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return string(out)
}

// TestInner are those that inner runs.
func TestInner(t *testing.T) {
	if os.Getenv("DLMTEST_INNER") == "" {
		t.Skip("run by other tests")
	}
	local := []Option{Runtime("local"), Flag("lease", "1s")}
	t.Run("unknown lock", func(t *testing.T) {
		Test(t, Lock{Name: "other"}, Scenario("baseline"))
	})
	t.Run("no scenario", func(t *testing.T) { Test(t, sleeper) })
	t.Run("mistakes", func(t *testing.T) {
		Test(t, sleeper, Scenario("gc-paus"), KnownWeakness("mutual-exclusio", "", "x y"), Flag("leese", "1s"))
	})
	t.Run("bad flag", func(t *testing.T) { Test(t, sleeper, Scenario("baseline"), Flag("leese", "1s")) })
	t.Run("elsewhere", func(t *testing.T) { Test(t, sleeper, Scenario("baseline"), Backend("etcd")) })
	t.Run("violated", func(t *testing.T) {
		Test(t, noOwner, append(local, Scenario("naive-release"), Seed(7))...)
	})
	t.Run("panics", func(t *testing.T) { Test(t, panicker, append(local, Scenario("baseline"))...) })
}

// Mistakes in a test are told before anything runs, with what to write.
func TestMistakes(t *testing.T) {
	for name, wants := range map[string][]string{
		"unknown_lock": {`Init was not called with the lock "other"`, "func TestMain(m *testing.M)", "dlmtest.Init(lock)"},
		"no_scenario":  {`no scenario: add dlmtest.Scenario("gc-pause")`},
		"mistakes":     {`unknown scenario "gc-paus"`, "gc-pause", `unknown property "mutual-exclusio"`, "mutual-exclusion"},
		"bad_flag":     {`unknown flag "leese"`, "lease"},
		"elsewhere":    {"sleeper", "redis"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := inner(t, name)
			for _, want := range append(wants, "--- FAIL: TestInner/"+name) {
				if !strings.Contains(out, want) {
					t.Errorf("want %q in:\n%s", want, out)
				}
			}
		})
	}
}

// A failure names the property, how it came about, the report, and how to see it again.
func TestViolated(t *testing.T) {
	needsRedis(t)
	out := inner(t, "violated")
	for _, want := range []string{"honest-claims: violated in 1 of 1 run", "report: ", "client-", "report.html", "DLMTEST_SEED=7", "--- FAIL: TestInner/violated"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in:\n%s", want, out)
		}
	}
}

// A lock that panics is no verdict: its own words are told, and where.
func TestPanics(t *testing.T) {
	needsRedis(t)
	out := inner(t, "panics")
	for _, want := range []string{"boom in the library", "Acquire panicked", "redis_test.go:", "no verdict about", "--- FAIL: TestInner/panics"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in:\n%s", want, out)
		}
	}
	if strings.Contains(out, "violated in") {
		t.Errorf("a verdict about a lock that panics:\n%s", out)
	}
}

func needsRedis(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Fatal("redis-server is missing: make test-deps")
	}
}

// A test that is interrupted takes its nodes with it.
func TestInterrupted(t *testing.T) {
	needsRedis(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^TestInner$/^violated$", "-test.artifacts", "-test.outputdir", t.TempDir())
	cmd.Env = append(os.Environ(), "DLMTEST_INNER=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	limit := time.After(time.Minute)
	wait := func(what string, done func() bool) {
		t.Helper()
		for tick := time.NewTicker(20 * time.Millisecond); !done(); {
			select {
			case <-tick.C:
			case <-limit:
				_ = cmd.Process.Kill()
				t.Fatal("not within a minute: " + what)
			}
		}
	}
	var nodes []int
	wait("seven agents", func() bool { nodes = below(cmd.Process.Pid); return len(nodes) > 7 })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	wait("the end of all nodes", func() bool {
		return !slices.ContainsFunc(nodes, func(pid int) bool { return syscall.Kill(pid, 0) == nil })
	})
	<-ended
}

// below are the processes that a process has started, and those that they have.
func below(pid int) (all []int) {
	var text []byte
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		more, _ := os.ReadFile(task)
		text = append(text, more...)
	}
	for _, word := range strings.Fields(string(text)) {
		child, err := strconv.Atoi(word)
		if err == nil && !slices.Contains(all, child) {
			all = append(append(all, child), below(child)...)
		}
	}
	return all
}
