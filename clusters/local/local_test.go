package local_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
)

// self is the test binary, which plays dlmtest too: see TestMain.
const self = "/proc/self/exe"

// TestMain is a stand-in for dlmtest when it is called as one.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	var err error
	switch os.Args[1] {
	case "local-init":
		err = clusters.RunLocalInit(os.Args[2:])
	case "agent":
		err = echo()
	case "runner":
		err = runner(os.Args[2])
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// echo answers each line of commands with one line.
func echo() error {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "exit":
			code, _ := strconv.Atoi(rest)
			os.Exit(code)
		case "stderr":
			fmt.Fprintln(os.Stderr, rest)
		case "cat":
			text, err := os.ReadFile(rest)
			say(string(text), err)
		case "sh":
			out, err := exec.Command("sh", "-c", rest).CombinedOutput()
			say(string(out), err)
		case "dial":
			conn, err := net.DialTimeout("tcp", rest, 2*time.Second)
			if err == nil {
				text, _ := io.ReadAll(conn)
				say(string(text), conn.Close())
				break
			}
			say("", err)
		case "serve":
			say("", serve(rest))
		default:
			host, err := os.Hostname()
			say(host+" "+lines.Text(), err)
		}
	}
	return nil
}

func say(text string, err error) {
	if err != nil {
		text += "error: " + err.Error()
	}
	fmt.Println(strings.ReplaceAll(strings.TrimSpace(text), "\n", "|"))
}

func serve(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			host, _ := os.Hostname()
			fmt.Fprintf(conn, "%s saw %s", host, conn.RemoteAddr())
			conn.Close()
		}
	}()
	return nil
}

// runner brings up two nodes and waits to be killed.
func runner(id string) error {
	l, err := clusters.NewLocal(context.Background(), self)
	if err != nil {
		return err
	}
	nodes := []clusters.NodeSpec{clusters.ClientSpec("a"), clusters.ClientSpec("b")}
	c, err := l.Up(context.Background(), clusters.Run{ID: id}, nodes)
	if err != nil {
		return err
	}
	io.WriteString(c.Node("a").Stdin, "sh setsid sleep 1000 >/dev/null 2>&1 &\n")
	fmt.Println("up")
	select {}
}

func runtime(t *testing.T) *clusters.Local {
	t.Helper()
	l, err := clusters.NewLocal(t.Context(), self)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func runID() clusters.Run {
	return clusters.Run{ID: fmt.Sprintf("test-%d-%d", os.Getpid(), time.Now().UnixNano()%1e9)}
}

func bringUp(t *testing.T, nodes ...clusters.NodeSpec) *clusters.Cluster {
	t.Helper()
	begin := time.Now()
	c, err := runtime(t).Up(t.Context(), runID(), nodes)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d nodes up: %v", len(nodes), time.Since(begin))
	t.Cleanup(func() { c.Down(context.Background()) })
	return c
}

// ask sends a line to a node's agent and returns its answer.
func ask(t *testing.T, n *clusters.Node, line string) string {
	t.Helper()
	if _, err := io.WriteString(n.Stdin, line+"\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := bufio.NewReader(n.Stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", n.Spec.Name, err)
	}
	return strings.TrimSpace(answer)
}

func want(t *testing.T, n *clusters.Node, line, part string) {
	t.Helper()
	if got := ask(t, n, line); !strings.Contains(got, part) {
		t.Errorf("%s: %q answers %q, which lacks %q", n.Spec.Name, line, got, part)
	}
}

// folders are those of living and dead runs of the present user.
func folders() []string {
	id := os.Geteuid()
	if id == 0 {
		id = 65534
	}
	found, _ := filepath.Glob(filepath.Join(os.TempDir(), fmt.Sprintf("dlmtest-local-%d/run-*", id)))
	return found
}

func TestNodesReachEachOther(t *testing.T) {
	c := bringUp(t, clusters.ClientSpec("a"), clusters.ClientSpec("b"))
	a, b := c.Node("a"), c.Node("b")
	want(t, a, "hello", "a hello")
	want(t, b, "serve :7000", "")
	want(t, a, "dial b:7000", "b saw "+a.Addr.String())
	want(t, a, "dial "+b.Addr.String()+":7000", "b saw ")
	want(t, b, "dial b:7000", "b saw "+b.Addr.String())
	want(t, b, "dial localhost:7000", "b saw 127.0.0.1")
	want(t, a, "dial localhost:7000", "refused")
	want(t, a, "cat /etc/hosts", b.Addr.String()+"\tb")
	want(t, a, "dial unknown:7000", "no such host")
}

func TestNodeIsAlone(t *testing.T) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := bringUp(t, clusters.ClientSpec("a"), clusters.ClientSpec("b"))
	a := c.Node("a")
	port := l.Addr().(*net.TCPAddr).Port
	addrs, _ := net.InterfaceAddrs()
	for _, addr := range addrs {
		ip := addr.(*net.IPNet).IP
		if ip.To4() == nil || ip.IsLoopback() {
			continue
		}
		want(t, a, fmt.Sprintf("dial %s:%d", ip, port), "unreachable")
	}
	want(t, a, fmt.Sprintf("dial 127.0.0.1:%d", port), "refused")
	want(t, a, "sh wc -l < /proc/net/route", "2") // the heading and the run's own network
	want(t, a, "sh ls -d /proc/[0-9]* | wc -l", "4")
	want(t, a, "sh id -u", "1000")
	want(t, a, "sh touch /usr/x /etc/x /x", "Read-only")
	want(t, a, "sh echo mine > /tmp/x; echo mine > /var/lib/redis/x; cat /tmp/x /var/lib/redis/x", "mine|mine")
	want(t, c.Node("b"), "sh ls /tmp /var/lib/redis", "/tmp:||/var/lib/redis:")
	want(t, a, "sh ls /run", "lock")
	want(t, a, "sh ls /dev | grep -c -e sda -e vda -e mem", "0")
	want(t, a, "sh hostname changed; hostname", "changed")
	want(t, c.Node("b"), "sh hostname", "b")
}

func TestNodeExits(t *testing.T) {
	c := bringUp(t, clusters.ClientSpec("a"), clusters.ClientSpec("b"), clusters.ClientSpec("c"))
	io.WriteString(c.Node("a").Stdin, "stderr so it goes\nexit 3\n")
	if e := <-c.Node("a").Exited; e.Code != 3 || e.Stderr != "so it goes" || e.Node != "a" {
		t.Errorf("exit %+v", e)
	}
	c.Node("b").Stdin.Close() // as when the runner dies
	if e := <-c.Node("b").Exited; e.Code != 0 {
		t.Errorf("after EOF: %v", e)
	}
	begin := time.Now()
	if err := c.Down(t.Context()); err != nil {
		t.Errorf("down: %v", err)
	}
	t.Logf("down: %v", time.Since(begin))
	if e := <-c.Node("c").Exited; e.Code != 137 {
		t.Errorf("killed node: %v", e)
	}
	if _, err := io.ReadAll(c.Node("c").Stdout); err != nil {
		t.Errorf("stdout of a killed node: %v", err)
	}
	if left := folders(); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	if err := c.Down(t.Context()); err != nil {
		t.Errorf("down again: %v", err)
	}
}

func TestTwoRunsSideBySide(t *testing.T) {
	one := bringUp(t, clusters.ClientSpec("a"))
	two := bringUp(t, clusters.ClientSpec("a"))
	want(t, one.Node("a"), "serve :7000", "")
	want(t, two.Node("a"), "dial a:7000", "refused")
	if err := one.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, two.Node("a"), "still", "a still")
}

func TestFailedUpLeavesNothing(t *testing.T) {
	bad := clusters.ClientSpec("bad")
	bad.Devices = []string{"/dev/there-is-no-such-device"}
	if _, err := runtime(t).Up(t.Context(), runID(), []clusters.NodeSpec{clusters.ClientSpec("good"), bad}); err == nil || !strings.Contains(err.Error(), "no-such-device") {
		t.Errorf("error %v", err)
	}
	foreign := clusters.NodeSpec{Name: "x", Image: "foreign:1", Command: []string{"there-is-no-such-server"}}
	if _, err := runtime(t).Up(t.Context(), runID(), []clusters.NodeSpec{foreign}); err == nil || !strings.Contains(err.Error(), "node x: there-is-no-such-server is not on this machine; install it") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := runtime(t).Up(ctx, runID(), []clusters.NodeSpec{clusters.ClientSpec("a")}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if left := folders(); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestMounts(t *testing.T) {
	dir := t.TempDir()
	os.Chmod(dir, 0o755)
	os.Chmod(filepath.Dir(dir), 0o755)
	os.WriteFile(filepath.Join(dir, "f"), []byte("from the host"), 0o644)
	mounts := []clusters.Mount{
		{Type: "bind", Source: filepath.Join(dir, "f"), Target: "/data/f", ReadOnly: true},
		{Type: "volume", Source: "shared", Target: "/shared"},
		{Type: "tmpfs", Target: "/fast"},
	}
	a, b := clusters.ClientSpec("a"), clusters.ClientSpec("b")
	a.Mounts, b.Mounts = mounts, mounts
	c := bringUp(t, a, b)
	want(t, c.Node("a"), "cat /data/f", "from the host")
	want(t, c.Node("a"), "sh echo x > /data/f", "Read-only")
	want(t, c.Node("a"), "sh echo all > /shared/x; echo mine > /fast/x; cat /fast/x", "mine")
	want(t, c.Node("b"), "sh cat /shared/x; ls /fast", "all")
}

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
			time.Sleep(100 * time.Millisecond) // the node's own child starts
			if n := processesBelow(cmd.Process.Pid); n < 4 {
				t.Errorf("%d processes of a run of two nodes with a child", n)
			}
		}
		time.Sleep(after * time.Millisecond)
		below := descendants(cmd.Process.Pid)
		cmd.Process.Kill()
		cmd.Wait()
		begin := time.Now()
		eventually(t, "no process and no folder of the run", func() bool { return len(folders()) == 0 && !anyAlive(below) })
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
	eventually(t, "no process", func() bool { return !anyAlive(below) })
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
	cmd := exec.Command("/proc/self/fd/3", "-test.v")
	cmd.ExtraFiles = []*os.File{binary}
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	text, err := cmd.CombinedOutput()
	t.Logf("%s", text)
	if err != nil {
		t.Error(err)
	}
}

func descendants(root int) []int {
	var found []int
	all, _ := filepath.Glob("/proc/[0-9]*/task/[0-9]*/children")
	_ = all
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		for pid := range children(queue[0]) {
			found, queue = append(found, pid), append(queue, pid)
		}
	}
	return found
}

func children(pid int) map[int]bool {
	found := map[int]bool{}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range lists {
		text, _ := os.ReadFile(path)
		for _, word := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(word)
			found[child] = true
		}
	}
	return found
}

func processesBelow(pid int) int { return len(descendants(pid)) }

func anyAlive(pids []int) bool {
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && !strings.Contains(string(stat), ") Z ") {
			return true
		}
	}
	return false
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 500 {
		if is() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("not in 10 s: %s; folders %v", what, folders())
}
