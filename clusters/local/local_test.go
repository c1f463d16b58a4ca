package local_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

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
	want(t, a, "sh tr '\\0' ' ' < /proc/1/cmdline", "dlmtest agent")
	if n, err := strconv.Atoi(ask(t, a, "sh ls -d /proc/[0-9]* | wc -l")); err != nil || n > 4 {
		t.Errorf("%d processes, %v", n, err)
	}
	want(t, a, "sh id -u", "1000")
	want(t, a, "sh touch /usr/x /etc/x /x", "Read-only")
	want(t, a, "sh echo mine > /tmp/x; echo mine > /var/tmp/x; cat /tmp/x /var/tmp/x", "mine|mine")
	want(t, c.Node("b"), "sh ls /tmp /var/tmp", "/tmp:||/var/tmp:")
	want(t, a, "sh touch /var/lib/redis/x", "Read-only")
	want(t, a, "sh ls /run", "lock")
	want(t, a, "sh ls /dev | grep -c -e sda -e vda -e mem", "0")
	want(t, a, "sh hostname changed; hostname", "changed")
	want(t, c.Node("b"), "sh hostname", "b")
}

// A server writes to the disk, and where its package does.
func TestServerWrites(t *testing.T) {
	server := clusters.ClientSpec("server")
	server.Guest = false
	c := bringUp(t, server, clusters.ClientSpec("b"))
	want(t, c.Node("server"), "sh echo mine > /var/lib/redis/x; cat /var/lib/redis/x", "mine")
	want(t, c.Node("b"), "sh ls /var/lib/redis", "")
}

// Nothing of the host is in view but what its packages have installed. The folders of the
// test are those of users, of services and of other runs.
func TestView(t *testing.T) {
	dir, err := os.MkdirTemp("/home", "view-*")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	other := bringUp(t, clusters.ClientSpec("other"))
	want(t, other.Node("other"), "here", "other here")
	c := bringUp(t, clusters.ClientSpec("a"))
	a := c.Node("a")
	want(t, a, "sh ls -d /home /root /srv /mnt /media /boot /lost+found 2>/dev/null | wc -l", "0")
	want(t, a, "sh ls /tmp /run", "/run:|lock||/tmp:")
	want(t, a, "sh ls -d /etc/shadow /etc/gshadow /etc/ssh /etc/sudoers 2>/dev/null | wc -l", "0")
	want(t, a, "sh cat /etc/passwd | head -1", "dlmtest:x:1000")
	want(t, a, "sh ls /etc/alternatives /etc/ld.so.cache > /dev/null && echo seen", "seen")
	want(t, a, "sh grep ' / ' /proc/self/mountinfo | grep -c 'ro,nosuid,nodev'", "1")
}

// What a node's agent starts cannot undo what the node has laid over the host.
func TestSealedChild(t *testing.T) {
	c := bringUp(t, clusters.ClientSpec("a"))
	a := c.Node("a")
	in := bufio.NewReader(a.Stdout)
	io.WriteString(a.Stdin, "become\n")
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	script := "grep -E '^(Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status; ls -d /proc/[0-9]* | wc -l; " +
		"mount -o remount,bind,rw / ; umount /proc; unshare -Ur true; kill -URG 2; cat /proc/sys/user/max_user_namespaces; touch /etc/x"
	line, _ := json.Marshal(agent.Command{ID: 1, Do: agent.Run, Child: &agent.Child{Argv: []string{"sh", "-c", script + " 2>&1"}}})
	a.Stdin.Write(append(line, '\n'))
	answer, err := in.ReadBytes('\n')
	var m agent.Message
	if err := errors.Join(err, json.Unmarshal(answer, &m)); err != nil {
		t.Fatal(err)
	}
	t.Log(m.Log)
	for _, part := range []string{"CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "CapAmb:\t0000000000000000",
		"NoNewPrivs:\t1", "Seccomp:\t2", "/etc/x': Read-only", "unshare: ", "\n0\n"} {
		if !strings.Contains(m.Log, part) {
			t.Errorf("lacks %q", part)
		}
	}
	if strings.Contains(m.Log, "CapEff:\t000001") {
		t.Error("it has capabilities")
	}
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

// What faults need works inside a node, where they happen.
func TestFaultsInANode(t *testing.T) {
	a := clusters.ClientSpec("a")
	a.Devices = []string{"/dev/fuse"}
	if file, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		a.Devices = nil
		t.Logf("without the lossy file system: %v", err)
	} else {
		file.Close()
	}
	c := bringUp(t, a, clusters.ClientSpec("b"))
	for _, what := range append([]string{"nf_tables", "ptrace"}, a.Devices...) {
		want(t, c.Node("a"), "sh /dlmtest/dlmtest local-init probe /tmp "+what, `[{"What":"`+what+`","Error":""}]`)
	}
}

// A device that the user may not open is refused at the start, with what to do.
func TestClosedDevice(t *testing.T) {
	a := clusters.ClientSpec("a")
	a.Devices = []string{"/dev/console"}
	_, err := runtime(t).Up(t.Context(), runID(), []clusters.NodeSpec{a})
	if err == nil || !strings.Contains(err.Error(), "start node a: device: open /dev/console: permission denied; allow it to this user (as root: chmod 666 /dev/console)") {
		t.Errorf("error %v", err)
	}
}
