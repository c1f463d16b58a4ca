package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The helpers of a run are killed one by one, with the runner or, in make kill-proof,
// without: nothing stays.
func TestKilledHelpers(t *testing.T) {
	adoptOrphans(t)
	commands, before := map[string]*killed{}, map[string][]string{} // of a runtime
	for _, c := range []struct {
		runtime, name, mark string // of the helper's command line
		runner              bool   // is killed right after
		next                bool   // only the next start removes all
	}{
		{"local", "an agent", "\x00agent\x00", false, false},
		{"local", "who serves a node's files", "\x00fs\x00--backing\x00", false, false},
		{"local", "who serves a node's files, and the runner", "\x00fs\x00--backing\x00", true, false},
		{"local", "the run's first process", "dlmtest\x00local-init\x00", false, true},
		{"local", "the run's first process, and the runner", "dlmtest\x00local-init\x00", true, true},
		{"docker", "the janitor", "\x00janitor\x00", false, false},
		{"docker", "the janitor, and the runner", "\x00janitor\x00", true, true},
		{"docker", "an agent", "\x00agent\x00", false, false},
		{"docker", "who serves a node's files, and the runner", "\x00fs\x00--backing\x00", true, false},
	} {
		if os.Getenv("KILLS") == "" && (!c.runner || c.runtime == "docker") { // each takes a run and more
			continue
		}
		if commands[c.runtime] == nil {
			k := proofs(t)[0]
			k.docker = c.runtime == "docker"
			k.folders(t)
			k.undisturbed(t)
			commands[c.runtime], before[c.runtime] = &k, listed(t, k.tmp, k.cache)
		}
		t.Run(c.runtime+": "+c.name, func(t *testing.T) {
			k, before := commands[c.runtime], before[c.runtime]
			k.start(t)
			k.find(t, c.mark)
			time.Sleep(time.Second)     // the load is on, and the disk stalls
			victim := k.find(t, c.mark) // what was found at first may have been a trial of this machine
			tr := k.trace(t)
			if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if c.runner {
				_ = k.cmd.Process.Kill()
			}
			k.ends(t)
			left, _ := k.settle(t, tr)
			if c.next {
				t.Logf("before the next start: %s; files %q", left, notIn(listed(t, k.tmp, k.cache), before))
				k.undisturbed(t)
				left, _ = k.settle(t, tr)
			}
			if text := left.String(); text != "" {
				t.Errorf("left: %s", text)
			}
			if fresh := notIn(listed(t, k.tmp, k.cache), before); len(fresh) > 0 {
				t.Errorf("left: %q", fresh)
			}
			k.judge(t)
		})
	}
}

// find waits for a process of the command.
func (k *killed) find(t *testing.T, mark string) int {
	t.Helper()
	for deadline := time.Now().Add(endLimit); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		pids := descendants(k.cmd.Process.Pid)
		if k.docker {
			_, containers := inDocker(t, k.cmd.Process.Pid)
			for _, c := range containers {
				if c.State.Pid > 0 {
					pids = append(append(pids, c.State.Pid), descendants(c.State.Pid)...)
				}
			}
		}
		for _, pid := range pids {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			has := func(word string) bool { return bytes.Contains(line, []byte(word)) }
			if has(mark) && !has("\x00probe\x00") && !has("\x00node\x00") { // what becomes an agent is local-init, too, for a moment
				return pid
			}
		}
	}
	t.Fatalf("nobody is %q: %s", mark, k.said)
	return 0
}

// ends waits for the end of the command.
func (k *killed) ends(t *testing.T) {
	t.Helper()
	done := make(chan struct{})
	go func() { _ = k.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(endLimit):
		_ = k.cmd.Process.Kill()
		<-done
		t.Errorf("it goes on after %v: %s", endLimit, k.said)
	}
}

// The first signal to a run without Docker is as with it: it is judged, and nothing is left.
func TestInterruptedWithoutDocker(t *testing.T) {
	adoptOrphans(t)
	k := proofs(t)[0]
	k.folders(t)
	k.start(t)
	k.find(t, "\x00fs\x00--backing\x00")
	time.Sleep(2 * time.Second) // the load is on
	tr := k.trace(t)
	if err := k.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	k.ends(t)
	if code := k.cmd.ProcessState.ExitCode(); code != exitInconclusive || !strings.Contains(k.said.String(), "verdict") {
		t.Errorf("exit code %d: %s", code, k.said)
	}
	if left := tr.left(t); left.String() != "" {
		t.Errorf("left: %s", left)
	}
	for _, path := range listed(t, k.tmp, k.cache) {
		if strings.Contains(path, "/run-") {
			t.Errorf("left: %s", path)
		}
	}
}
