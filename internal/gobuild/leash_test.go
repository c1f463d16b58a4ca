package gobuild

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is also a process that is killed while it builds.
func TestMain(m *testing.M) {
	if os.Getenv("LEASH_TEST") == "" {
		os.Exit(m.Run())
	}
	group, _, err := leash()
	if err != nil {
		panic(err)
	}
	compiler := exec.Command("sleep", "60")
	compiler.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	if err := compiler.Start(); err != nil {
		panic(err)
	}
	fmt.Println(compiler.Process.Pid)
	time.Sleep(time.Minute)
}

// What builds ends with the process that asked for it, however that one ends.
func TestLeash(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "LEASH_TEST=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, errPID := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || errPID != nil || syscall.Kill(pid, 0) != nil {
		t.Fatalf("no compiler: %q %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("the compiler goes on")
		}
	}
}
