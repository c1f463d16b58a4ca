package vdso

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/eventually"
)

func state(t *testing.T, pid int) string {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "gone"
	}
	return strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))[0]
}

// killsChildren kills programs right after their exec, when their clocks are about to be bent.
const killsChildren = "import subprocess, sys\n" +
	"for i in range(100):\n  p = subprocess.Popen(['sleep', '9']); p.kill(); p.wait()\n" +
	"sys.exit(6)"

func TestExitIsThatOfTheProgram(t *testing.T) {
	p := newPage(t)
	for _, test := range []struct {
		argv []string
		code int
	}{
		{[]string{"true"}, 0},
		{[]string{"sh", "-c", "exit 7"}, 7},
		{[]string{"sh", "-c", "(sleep 2 &) ; exit 3"}, 3}, // it leaves a traced one behind
		{[]string{"sh", "-c", "kill -9 $$"}, -1},
		{[]string{"sh", "-c", "trap 'exit 5' TERM; kill -TERM $$; sleep 10"}, 5}, // signals get through
		{[]string{"python3", "-c", "import os, threading\nthreading.Thread(target=lambda: os._exit(9)).start()\nimport time; time.sleep(9)"}, 9},
		{[]string{"python3", "-c", "import os, threading\nthreading.Thread(target=lambda: os.execvp('sh', ['sh', '-c', 'exit 8'])).start()\nimport time; time.sleep(9)"}, 8},
		{[]string{"python3", "-c", killsChildren}, 6},
	} {
		if _, err := exec.LookPath(test.argv[0]); err != nil {
			continue
		}
		cmd := exec.Command(test.argv[0], test.argv[1:]...)
		process, err := Start(cmd, p)
		if err != nil {
			t.Fatal(err)
		}
		_ = process.Wait()
		if code := cmd.ProcessState.ExitCode(); code != test.code {
			t.Errorf("%q: exit %d, want %d", test.argv, code, test.code)
		}
		if err := process.Settle(); err != nil {
			t.Error(err)
		}
	}
}

func TestStartErrors(t *testing.T) {
	p := newPage(t)
	if _, err := Start(exec.Command("/no/such/program"), p); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing program: %v", err)
	}
	_ = p.Close() // and with its last process the page ends
	if _, err := Start(exec.Command("true"), p); err == nil || !strings.Contains(err.Error(), "shmat") {
		t.Errorf("a page that is gone: %v", err)
	}
	if _, err := Start(exec.Command("true"), newPage(t)); err != nil {
		t.Errorf("after an error: %v", err)
	}
}

// A pause has to look like one while execs are still followed, and SIGCONT has to end it.
func TestStopWhileTraced(t *testing.T) {
	p := newPage(t)
	for _, argv := range [][]string{
		{"sleep", "100"},
		{"python3", "-c", "import threading, time\nfor _ in range(4): threading.Thread(target=time.sleep, args=(100,)).start()"},
	} {
		if _, err := exec.LookPath(argv[0]); err != nil {
			continue
		}
		cmd := exec.Command(argv[0], argv[1:]...)
		process, err := Start(cmd, p)
		if err != nil {
			t.Fatal(err)
		}
		pid := cmd.Process.Pid
		time.Sleep(100 * time.Millisecond)
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		eventually.True(t, "every thread is in state T", func() bool {
			tasks, _ := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
			for _, task := range tasks {
				tid, _ := strconv.Atoi(task.Name())
				if state(t, tid) != "T" {
					return false
				}
			}
			return true
		})
		_ = syscall.Kill(pid, syscall.SIGCONT)
		eventually.True(t, "it runs again", func() bool { return state(t, pid) == "S" })
		_ = cmd.Process.Kill()
		_ = process.Wait()
		if err := process.Settle(); err != nil {
			t.Error(err)
		}
	}
}

// Settle in the middle of a storm of threads, forks and execs loses nothing.
func TestSettleUnderLoad(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	p := newPage(t)
	const storm = `
import os, subprocess, threading, time
def work():
    for _ in range(10):
        subprocess.run(["true"])
        x = threading.Thread(target=lambda: None); x.start(); x.join()
        if os.fork() == 0: os._exit(0)
ts = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in ts]; [t.join() for t in ts]
try:
    while True: os.wait()
except ChildProcessError: pass
print("done")`
	for _, after := range []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond} {
		var out, errs strings.Builder
		cmd := exec.Command("python3", "-W", "ignore", "-c", storm)
		cmd.Stdout, cmd.Stderr = &out, &errs
		process, err := Start(cmd, p)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(after)
		begin := time.Now()
		if err := process.Settle(); err != nil {
			t.Error(err)
		}
		took := time.Since(begin)
		ended := make(chan error, 1)
		go func() { ended <- process.Wait() }()
		select {
		case err := <-ended:
			if err != nil || strings.TrimSpace(out.String()) != "done" {
				t.Errorf("settled after %v: %v: %q %s", after, err, out.String(), errs.String())
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("settled after %v: hangs, state %s", after, state(t, cmd.Process.Pid))
		}
		t.Logf("settled after %v, in %v, %d execs", after, took, process.Execs())
	}
}
