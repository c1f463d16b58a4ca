package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
)

// endLimit is how long a runner may take to end, whatever hangs.
const endLimit = 90 * time.Second

// A run is taken down whatever state its nodes are in, by the runner or after its death: every pair of state, runtime
// and signal. They wait for the most part, so they go side by side.
func TestTeardown(t *testing.T) {
	t.Parallel()
	hung := "a hung file system" // the process that serves it is stopped as well
	tests := []struct {
		name, fault, runtime string
		end                  syscall.Signal
	}{
		{"a stopped server", "pause", "docker", syscall.SIGINT},
		{"a stopped server", "pause", "local", syscall.SIGKILL},
		{"a stalled disk", "disk-stall", "docker", syscall.SIGKILL},
		{"a stalled disk", "disk-stall", "local", syscall.SIGINT},
		{hung, "disk-stall", "docker", syscall.SIGINT},
		{hung, "disk-stall", "local", syscall.SIGKILL},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s, %s, %v", test.name, test.runtime, test.end), func(t *testing.T) {
			beside(t)
			scenario := writeFile(t, "state.yaml", scenarioWith("state", "  - {fault: "+test.fault+", target: servers, at: 0.25 lease, for: 20s}\n"))
			r := startRun(t, nil, "--scenario", scenario, "--backend", "redis", "--fsync", "always", "--runtime", test.runtime)
			r.await(t, `"faults":1`)
			pids := r.processes(t)
			if len(pids) < 5 {
				t.Errorf("only processes %v are there to be left behind", pids)
			}
			if test.name == hung {
				r.hangDisk(t, pids)
			}
			if err := r.cmd.Process.Signal(test.end); err != nil {
				t.Fatal(err)
			}
			r.end(t)
			noneAlive(t, pids)
			nothingLeft(t, r.cmd)
		})
	}
}

// The connection to the daemon is lost in the middle of a run: an error within a
// bound, and what is left goes as soon as the daemon can be reached again.
func TestDaemonConnectionLost(t *testing.T) {
	for _, back := range []bool{true, false} { // with the janitor, with the next start
		t.Run(fmt.Sprintf("it comes back %v", back), func(t *testing.T) {
			p := startProxy(t)
			r := startRun(t, []string{"DOCKER_HOST=unix://" + p.path}, "--scenario", "baseline", "--backend", "redis", "--runtime", "docker")
			r.await(t, `"grants":`)
			pids := r.processes(t)
			p.cut()
			if code := r.end(t); code != exitFailed {
				t.Errorf("exit code %d, want %d: %s", code, exitFailed, r.said.String())
			}
			if !strings.Contains(r.said.String(), "connection to the Docker daemon was lost") {
				t.Errorf("it says %s", r.said.String())
			}
			noneAlive(t, pids) // their agents read EOF
			if back {
				p.listen(t)
			} else {
				d, err := clusters.NewDocker(t.Context(), dlmtest(t))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := d.Sweep(t.Context()); err != nil {
					t.Error(err)
				}
			}
			nothingLeft(t, r.cmd)
		})
	}
}

// underway is a dlmtest run under way.
type underway struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	said  *bytes.Buffer // on stderr
	local bool
}

func startRun(t *testing.T, env []string, args ...string) *underway {
	t.Helper()
	r := &underway{cmd: exec.Command(dlmtest(t), append([]string{"run", "--json", "--out", t.TempDir()}, args...)...), said: &bytes.Buffer{},
		local: args[len(args)-1] == "local"}
	r.cmd.Env = append(os.Environ(), env...)
	r.cmd.Stderr = r.said
	// The janitor outlives the runner with its stderr: the end of the runner is enough.
	r.cmd.WaitDelay = time.Second
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	r.lines = bufio.NewScanner(stdout)
	r.lines.Buffer(nil, 1<<24)
	return r
}

// await reads up to the line with text.
func (r *underway) await(t *testing.T, text string) {
	t.Helper()
	for r.lines.Scan() {
		if strings.Contains(r.lines.Text(), text) {
			return
		}
	}
	t.Fatalf("%s never came: %s", text, r.said.String())
}

// end waits for the runner and returns its exit code; one that hangs is an error.
func (r *underway) end(t *testing.T) int {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		for r.lines.Scan() { // to the end: Wait closes the pipe
		}
		_ = r.cmd.Wait() // the exit code is looked at
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(endLimit):
		t.Errorf("the runner goes on after %v", endLimit)
		_ = r.cmd.Process.Kill()
		<-ended
	}
	return r.cmd.ProcessState.ExitCode()
}

// processes are those of the run's nodes, as the host sees them.
func (r *underway) processes(t *testing.T) []int {
	t.Helper()
	roots := []int{r.cmd.Process.Pid}
	if !r.local {
		roots = nil
		list, err := exec.Command("docker", "ps", "--filter", "label=dlmtest", "--format", `{{.ID}} {{.Label "dlmtest.owner"}}`).Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(list)) {
			id, owner, _ := strings.Cut(strings.TrimSpace(line), " ")
			if words := strings.Split(owner, "/"); len(words) < 2 || words[1] != strconv.Itoa(r.cmd.Process.Pid) {
				continue
			}
			text, err := exec.Command("docker", "inspect", "-f", "{{.State.Pid}}", id).Output()
			if pid, _ := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 1 {
				roots = append(roots, pid)
			}
		}
	}
	var all []int
	for queue := roots; len(queue) > 0; queue = queue[1:] {
		if queue[0] != r.cmd.Process.Pid {
			all = append(all, queue[0])
		}
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", queue[0])) // it may have ended
		for _, path := range lists {
			text, _ := os.ReadFile(path)
			for _, word := range strings.Fields(string(text)) {
				child, _ := strconv.Atoi(word) // the kernel wrote it
				queue = append(queue, child)
			}
		}
	}
	return all
}

// hangDisk stops the processes that serve the nodes' files, and waits until a server
// waits for one of them.
func (r *underway) hangDisk(t *testing.T, pids []int) {
	t.Helper()
	found := 0
	for _, pid := range pids {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may have ended
		if bytes.Contains(line, []byte("\x00fs\x00--backing\x00")) {
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			found++
		}
	}
	if found == 0 {
		t.Fatal("nobody serves the nodes' files")
	}
	time.Sleep(500 * time.Millisecond)
}

// noneAlive wants all of the processes to end within some seconds.
func noneAlive(t *testing.T, pids []int) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		left = left[:0]
		for _, pid := range pids {
			if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !bytes.Contains(stat, []byte(") Z ")) {
				left = append(left, strings.Join(strings.Fields(string(stat))[:3], " "))
			}
		}
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("processes left: %q", left)
}

// proxy stands between a runner and the daemon.
type proxy struct {
	path string
	mu   sync.Mutex
	open []net.Conn
	at   net.Listener
}

func startProxy(t *testing.T) *proxy {
	t.Helper()
	dir, err := os.MkdirTemp("", "dlmtest-proxy-*") // a test's own folder has a name too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{path: filepath.Join(dir, "docker.sock")}
	p.listen(t)
	t.Cleanup(func() { p.cut(); _ = os.RemoveAll(dir) })
	return p
}

func (p *proxy) listen(t *testing.T) {
	t.Helper()
	l, err := net.Listen("unix", p.path)
	if err != nil {
		t.Fatal(err)
	}
	p.at = l
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.pass(c)
		}
	}()
}

// pass hands on both directions, the end of one without the other's: an attached
// stream is closed by halves.
func (p *proxy) pass(client net.Conn) {
	path, ok := strings.CutPrefix(os.Getenv("DOCKER_HOST"), "unix://")
	if !ok {
		path = "/var/run/docker.sock"
	}
	daemon, err := net.Dial("unix", path)
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	p.open = append(p.open, client, daemon)
	p.mu.Unlock()
	for _, way := range [][2]net.Conn{{client, daemon}, {daemon, client}} {
		go func() {
			_, _ = io.Copy(way[1], way[0]) // cut, or at its end
			_ = way[1].(*net.UnixConn).CloseWrite()
		}()
	}
}

// cut ends every connection and takes no more.
func (p *proxy) cut() {
	_ = p.at.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		_ = c.Close()
	}
	p.open = nil
}
