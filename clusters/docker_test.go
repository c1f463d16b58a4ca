package clusters

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/eventually"
)

var agentBinary string

// TestMain builds the stand-in for dlmtest that the nodes run.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "clusters")
	if err != nil {
		panic(err)
	}
	agentBinary = filepath.Join(dir, "agent")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", agentBinary, "./testdata/agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the test agent: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// docker needs a daemon: without one the tests fail, for nothing was tested.
func docker(t *testing.T) *Docker {
	t.Helper()
	d, err := NewDocker(t.Context(), agentBinary)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.EnsureImages(t.Context(), []string{ClientImage, "dlmtest/redis:latest"}, func(s string) { t.Log(s) }); err != nil {
		t.Fatal(err)
	}
	return d
}

func runID(t *testing.T) Run {
	return Run{ID: fmt.Sprintf("test-%d-%d", os.Getpid(), time.Now().UnixNano()%1e9)}
}

func bringUp(t *testing.T, d *Docker, nodes []NodeSpec) *Cluster {
	t.Helper()
	c, err := d.Up(t.Context(), runID(t), nodes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Down(context.Background()) })
	return c
}

// ask sends a line to a node's agent and returns the answer.
func ask(t *testing.T, n *Node, line string) string {
	t.Helper()
	if _, err := io.WriteString(n.Stdin, line+"\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := bufio.NewReader(n.Stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", n.Spec.Name, err)
	}
	return answer
}

func TestUpTenNodes(t *testing.T) {
	d := docker(t)
	p, err := Load(t.Context(), Compose, "redlock")
	if err != nil {
		t.Fatal(err)
	}
	nodes := p.Nodes
	for i := range 5 {
		nodes = append(nodes, ClientSpec(fmt.Sprintf("client-%d", i+1), "true"))
	}
	begin := time.Now()
	c := bringUp(t, d, nodes)
	t.Logf("up: %v", time.Since(begin))
	for _, n := range c.Nodes {
		if got, want := ask(t, n, "hello"), n.Spec.Name+" hello\n"; got != want {
			t.Errorf("answer %q, want %q", got, want)
		}
		if !n.Addr.IsValid() {
			t.Errorf("%s has no address", n.Spec.Name)
		}
	}
	t.Logf("answered: %v", time.Since(begin))
	begin = time.Now()
	if err := c.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("down: %v", time.Since(begin))
}

func TestTwoRunsSideBySide(t *testing.T) {
	d := docker(t)
	specs := []NodeSpec{ClientSpec("a"), ClientSpec("b")}
	runs := make([]*Cluster, 2)
	err := parallel(2, func(i int) (err error) {
		runs[i], err = d.Up(t.Context(), Run{ID: fmt.Sprintf("%s-%d", runID(t).ID, i)}, specs)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer runs[1].Down(context.Background())
	if err := runs[0].Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e := <-runs[0].Nodes[0].Exited; e.Code != 137 {
		t.Errorf("killed node: %v", e)
	}
	if got := ask(t, runs[1].Node("b"), "still"); got != "b still\n" {
		t.Errorf("answer %q", got)
	}
	if got := ask(t, runs[1].Node("a"), "cat /etc/hosts"); !strings.Contains(got, runs[1].Node("a").Addr.String()+"\ta|") {
		t.Errorf("hosts %q lack %s", got, runs[1].Node("a").Addr)
	}
}

// A node that ends says how, and its last words.
func TestNodeExits(t *testing.T) {
	d := docker(t)
	c := bringUp(t, d, []NodeSpec{ClientSpec("a"), ClientSpec("b")})
	io.WriteString(c.Node("a").Stdin, "stderr so it goes\nexit 3\n")
	e := <-c.Node("a").Exited
	if e.Code != 3 || e.Stderr != "so it goes" {
		t.Errorf("exit %+v", e)
	}
	wantError(t, e, "node a exited with code 3; its last lines:\n  so it goes")
	c.Node("b").Stdin.Close() // as when the runner dies
	if e := <-c.Node("b").Exited; e.Code != 0 {
		t.Errorf("after EOF: %v", e)
	}
	if err := c.Down(t.Context()); err != nil {
		t.Errorf("down after the nodes are gone: %v", err)
	}
}

// What Up made before it failed is gone.
func TestFailedUpLeavesNothing(t *testing.T) {
	d := docker(t)
	bad := ClientSpec("bad")
	bad.Devices = []string{"/dev/there-is-no-such-device"}
	bad.Mounts = []Mount{{Type: "volume", Source: "data", Target: "/data"}}
	run := runID(t)
	_, err := d.Up(t.Context(), run, []NodeSpec{ClientSpec("good"), bad})
	wantError(t, err, "start node bad")
	if left := ofRun(t, d, run); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestUpCancelled(t *testing.T) {
	d := docker(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	run := runID(t)
	c, err := d.Up(ctx, run, []NodeSpec{ClientSpec("a"), ClientSpec("b"), ClientSpec("c")})
	if err == nil {
		c.Down(t.Context())
		t.Skip("this machine was faster")
	}
	eventually.True(t, "nothing of the run", func() bool { return len(ofRun(t, d, run)) == 0 })
}

func TestNoDocker(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///there/is/no/daemon.sock")
	_, err := NewDocker(t.Context(), agentBinary)
	if !errors.Is(err, ErrNoDocker) {
		t.Errorf("%v, want ErrNoDocker", err)
	}
	wantError(t, err, "apt-get install docker.io")
}
