package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent/lossy"
)

// What goes wrong with faults themselves ends in a clear error, never in a hang, and
// never in a proof.

func program(script string) *Child {
	return &Child{Argv: []string{"sh", "-c", "echo $$; " + script}}
}

func (r *remote) startServer(c *Child) (pid int) {
	r.t.Helper()
	if m := r.do(Command{Do: Start, Child: c}); m.Error != "" {
		r.t.Fatal(m.Error)
	}
	r.until(func(m Message) bool { n, _ := fmt.Sscan(m.Log, &pid); return n == 1 })
	return pid
}

func TestVictimThatAnOutsiderKills(t *testing.T) {
	r := startAgent(t)
	pid := r.startServer(program("sleep 100"))
	r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "pause", Max: time.Minute}})
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.do(Command{Do: Heal, Fault: 1})
	r.fault(1, history.Missed)
	r.fault(1, history.Heal)
	// Its sleeping child is stopped as well, holds the output and is continued by the heal;
	// only then is the end told, as one that no fault had planned.
	r.do(Command{Do: Kill})
	r.until(func(m Message) bool { return m.Exit != nil })
}

func TestFaultOnAProgramThatHasEnded(t *testing.T) {
	r := startAgent(t)
	r.startServer(program("exit 3"))
	r.until(func(m Message) bool { return m.Exit != nil })
	for i, kind := range []string{"pause", "kill"} {
		m := r.do(Command{Do: Inject, Arm: &Arm{Fault: i + 1, Kind: kind, Max: time.Minute}})
		if !strings.Contains(m.Error, kind+": the node's program has ended") {
			t.Errorf("%s: %+v", kind, m)
		}
		r.fault(i+1, history.Missed)
		r.fault(i+1, history.Heal) // else the whole history breaks its rules
		r.do(Command{Do: Heal, Fault: i + 1})
		if over := r.until(func(m Message) bool { return m.Over != nil }).Over; over.Fault != i+1 {
			t.Errorf("over %+v", over)
		}
	}
}

// A second fault on a node whose program a first one has killed: refused, and the
// program is started again once.
func TestTwoFaultsOnOneNode(t *testing.T) {
	r := startAgent(t)
	r.startServer(program("sleep 100"))
	r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "kill", Max: time.Minute}})
	for i, kind := range []string{"pause", "kill"} {
		if m := r.do(Command{Do: Inject, Arm: &Arm{Fault: i + 2, Kind: kind, Max: time.Minute}}); m.Error == "" {
			t.Errorf("%s was not refused", kind)
		}
	}
	for _, id := range []int{2, 3, 1} {
		r.do(Command{Do: Heal, Fault: id})
	}
	r.fault(1, history.Heal)
	pid := 0
	r.until(func(m Message) bool { n, _ := fmt.Sscan(m.Log, &pid); return n == 1 })
	if m := r.do(Command{Do: Inject, Arm: &Arm{Fault: 4, Kind: "pause", Max: time.Minute}}); m.Error != "" {
		t.Error(m.Error)
	}
	r.do(Command{Do: Heal, Fault: 4})
	r.fault(4, history.Observed)
}

func TestDiskFaultWithoutADisk(t *testing.T) {
	r := startAgent(t)
	r.startServer(program("sleep 100"))
	for i, kind := range []string{"crash", "disk-stall", "clock"} {
		if m := r.do(Command{Do: Inject, Arm: &Arm{Fault: i + 1, Kind: kind, Max: time.Minute}}); m.Error == "" {
			t.Errorf("%s was not refused", kind)
		}
		r.fault(i+1, history.Missed)
	}
}

// disk starts a server whose folder is on the lossy file system, and finds the process
// that serves it.
func (r *remote) disk() (dir string, fs int) {
	r.t.Helper()
	if _, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil || os.Geteuid() != 0 {
		r.t.Skip("needs root and /dev/fuse")
	}
	dir = r.t.TempDir()
	r.t.Cleanup(func() { _ = lossy.Detach(dir) })
	c := program("while :; do echo x >> log; sync log; sleep 0.01; done")
	c.Dir, c.Data = dir, dir
	r.startServer(c)
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, l := range lines {
		if text, _ := os.ReadFile(l); bytes.Contains(text, []byte("--mount\x00"+dir+"\x00")) {
			fs, _ = strconv.Atoi(strings.Split(l, "/")[2])
		}
	}
	if fs == 0 {
		r.t.Fatal("the process of the file system is not to be found")
	}
	return dir, fs
}

func TestCrashIsHealed(t *testing.T) {
	r := startAgent(t)
	r.disk()
	if m := r.do(Command{Do: Sync}); m.Error != "" {
		t.Error(m.Error)
	}
	r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "crash", Max: time.Minute}})
	r.do(Command{Do: Heal, Fault: 1})
	r.fault(1, history.Observed)
	r.fault(1, history.Heal)
}

// The file system is gone when the crash is to be healed.
func TestHealThatFails(t *testing.T) {
	r := startAgent(t)
	_, fs := r.disk()
	r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "crash", Max: time.Minute}})
	if err := syscall.Kill(fs, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.do(Command{Do: Heal, Fault: 1})
	if f := r.fault(1, history.Failed); !strings.Contains(f.Fault.Proof, "the file system") {
		t.Errorf("%+v", f.Fault)
	}
	if over := r.until(func(m Message) bool { return m.Over != nil }).Over; over.Error == "" {
		t.Errorf("over %+v", over)
	}
}

// A file system that does not answer holds neither a fault nor the agent's end, though
// the server on it cannot even be killed.
func TestFileSystemThatHangs(t *testing.T) {
	defer func(d time.Duration) { diskLimit = d }(diskLimit)
	diskLimit = time.Second
	r := startAgent(t)
	_, fs := r.disk()
	if err := syscall.Kill(fs, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(fs, syscall.SIGKILL) })
	time.Sleep(100 * time.Millisecond) // the server waits for it now
	m := r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "disk-stall", Max: time.Minute}})
	if !strings.Contains(m.Error, "has not answered") {
		t.Errorf("%+v", m)
	}
	r.do(Command{Do: Heal, Fault: 1})
	_ = r.in.Close()
	go func() {
		for r.lines.Scan() { // as long as somebody reads
		}
	}()
	select {
	case err := <-r.done:
		r.done <- err
	case <-time.After(20 * time.Second):
		t.Error("the agent does not end")
	}
}
