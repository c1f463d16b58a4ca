package local_test

import (
	"bufio"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/internal/eventually"
)

// A runner killed by SIGKILL leaves no process and no folder.
func TestKilledRunner(t *testing.T) {
	for _, after := range []time.Duration{0, 20, 60, 150} {
		id := runID().ID
		cmd := exec.Command(self, "runner", id)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if after == 0 { // when it is up
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "up\n" {
				t.Fatalf("runner said %q, %v", line, err)
			}
			eventually.True(t, "two agents, a child of one, and the run's first process",
				func() bool { return len(descendants(cmd.Process.Pid)) >= 4 })
		}
		time.Sleep(after * time.Millisecond)
		below := descendants(cmd.Process.Pid)
		cmd.Process.Kill()
		cmd.Wait()
		begin := time.Now()
		eventually.True(t, "no process and no folder of the run", func() bool { return len(folders()) == 0 && !anyAlive(below) })
		t.Logf("killed after %d ms: gone after %v", after, time.Since(begin))
	}
}

// When the run's first process is killed too, the next start removes the folder.
func TestSweep(t *testing.T) {
	cmd := exec.Command(self, "runner", runID().ID)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	bufio.NewReader(out).ReadString('\n')
	below := descendants(cmd.Process.Pid)
	for _, pid := range below {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	cmd.Process.Kill()
	cmd.Wait()
	eventually.True(t, "no process", func() bool { return !anyAlive(below) })
	if len(folders()) != 1 {
		t.Fatalf("folders %v", folders())
	}
	c := bringUp(t, clusters.ClientSpec("a"))
	if len(folders()) != 1 {
		t.Errorf("folders %v", folders())
	}
	bringUp(t, clusters.ClientSpec("b")) // does not touch a living run
	want(t, c.Node("a"), "sh echo x > /tmp/x && cat /tmp/x", "x")
}

// The same again as a user without any privilege.
func TestAsNobody(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("already an ordinary user")
	}
	dir, err := os.MkdirTemp("", "nobody-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	os.Chown(dir, 65534, 65534)
	binary, err := os.Open(self) // it lies in a folder of root's
	if err != nil {
		t.Fatal(err)
	}
	defer binary.Close()
	patience := 3 * time.Minute
	if end, ok := t.Deadline(); ok { // its stacks stand in our log before ours end us
		patience = time.Until(end) - 10*time.Second
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/fd/3", "-test.v", "-test.timeout="+patience.String())
	cmd.ExtraFiles = []*os.File{binary}
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, "GORACE=" + os.Getenv("GORACE"), composeText + "=" + string(clusters.Compose)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	text, err := cmd.CombinedOutput()
	t.Logf("%s", text)
	if err != nil {
		t.Error(err)
	}
}
