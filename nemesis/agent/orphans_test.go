package agent

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/eventually"
)

// daemon is a program that leaves its group, its session and its parent, as daemons do,
// and then writes a line every few milliseconds.
const daemon = `(setsid sh -c '(while :; do echo >>"$0"; sleep 0.005; done) & echo $! ; exit' "$0" &) ; while :; do sleep 1; done`

// grown waits until a file has grown, and returns its length.
func grown(t *testing.T, file string, from int64) int64 {
	t.Helper()
	var size int64
	eventually.True(t, file+" grows", func() bool {
		i, err := os.Stat(file)
		if err == nil {
			size = i.Size()
		}
		return err == nil && size > from
	})
	return size
}

func TestPauseAndKillReachDaemons(t *testing.T) {
	r := startAgent(t)
	file := t.TempDir() + "/alive"
	r.do(Command{Do: Start, Child: &Child{Argv: []string{"sh", "-c", daemon, file}}})
	var pid int
	r.until(func(m Message) bool { n, _ := fmt.Sscan(m.Log, &pid); return n == 1 })
	grown(t, file, 20)
	if m := r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "pause", Min: 200 * time.Millisecond, Max: time.Minute}}); m.Error != "" {
		t.Fatal(m.Error)
	}
	before := grown(t, file, 0)
	time.Sleep(50 * time.Millisecond) // it writes ten lines in that time
	if i, err := os.Stat(file); err != nil || i.Size() != before {
		t.Errorf("the daemon went on from %d to %d bytes while the node was paused", before, i.Size())
	}
	r.do(Command{Do: Heal, Fault: 1})
	observed := r.fault(1, history.Observed)
	t.Log(observed.Fault.Proof)
	r.fault(1, history.Heal)
	grown(t, file, before) // it goes on
	r.do(Command{Do: Inject, Arm: &Arm{Fault: 2, Kind: "kill", Max: time.Minute}})
	if s, err := readStat(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && s.state != 'Z' && s.state != 'X' {
		t.Errorf("the daemon lives on through a kill in state %c", s.state)
	}
	r.do(Command{Do: Kill})
}

// TestPauseWithAHoleIsMissed: a process that ran for some milliseconds in between, and is
// stopped again when the proof looks.
func TestPauseWithAHoleIsMissed(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: &Child{Argv: []string{"sh", "-c", "echo $$; while :; do :; done"}}})
	var pid int
	r.until(func(m Message) bool { n, _ := fmt.Sscan(m.Log, &pid); return n == 1 })
	if m := r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "pause", Max: time.Minute}}); m.Error != "" {
		t.Fatal(m.Error)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	was := left(fmt.Sprintf("/proc/%d/status", pid))
	eventually.True(t, "it has run", func() bool { return left(fmt.Sprintf("/proc/%d/status", pid)) != was })
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	eventually.True(t, "it is stopped", func() bool {
		s, err := readStat(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || s.state == 'T'
	})
	r.do(Command{Do: Heal, Fault: 1})
	missed := r.fault(1, history.Missed)
	if !strings.Contains(missed.Fault.Proof, "has run meanwhile") && !strings.Contains(missed.Fault.Proof, "came meanwhile") {
		t.Errorf("proof %q", missed.Fault.Proof)
	}
}

// One process that cannot be woken keeps no other asleep.
func TestResumeReachesAll(t *testing.T) {
	var woken []int
	err := resume([]int{1, 2, 3, 4}, func(pid int, _ syscall.Signal) error {
		switch pid {
		case 4:
			return syscall.EPERM
		case 2:
			return syscall.ESRCH // it has ended
		}
		woken = append(woken, pid)
		return nil
	})
	if fmt.Sprint(woken) != "[3 1]" || err == nil || err.Error() != "resume: process 4: operation not permitted" {
		t.Errorf("woke %v: %v", woken, err)
	}
}
