package libraries

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

var servers atomic.Int64

// own is an address that no other process of this machine is given: on a loopback
// address of this process's own, below the ephemeral ports.
func own() (addr, host, port string) {
	pid := os.Getpid()
	host, port = fmt.Sprintf("127.%d.%d.%d", 65+pid>>16&63, pid>>8&255, pid&255), strconv.FormatInt(3000+servers.Add(1), 10)
	return net.JoinHostPort(host, port), host, port
}

// serve starts a program that listens on addr until the test ends.
func serve(t *testing.T, addr string, cmd *exec.Cmd) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	out, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); _ = out.Close() })
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(log)
			t.Fatalf("%v does not come up: %s", cmd.Args, text)
		}
	}
}

func startRedis(t *testing.T) string {
	addr, host, port := own()
	serve(t, addr, exec.Command("redis-server", "--bind", host, "--port", port, "--save", "", "--dir", t.TempDir()))
	return addr
}

func startEtcd(t *testing.T) string {
	addr, _, _ := own()
	peer, _, _ := own()
	serve(t, addr, exec.Command("etcd", "--data-dir", t.TempDir(), "--listen-client-urls", "http://"+addr, "--advertise-client-urls", "http://"+addr,
		"--listen-peer-urls", "http://"+peer, "--initial-advertise-peer-urls", "http://"+peer, "--initial-cluster", "default=http://"+peer))
	return addr
}

func startZooKeeper(t *testing.T) string {
	const jars = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar"
	if _, err := os.Stat("/usr/share/java/zookeeper.jar"); err != nil {
		t.Skip("needs ZooKeeper")
	}
	addr, host, port := own()
	dir := t.TempDir()
	config := fmt.Sprintf("tickTime=200\ndataDir=%s\nclientPort=%s\nclientPortAddress=%s\nadmin.enableServer=false\n", dir, port, host)
	if err := os.WriteFile(dir+"/zoo.cfg", []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	serve(t, addr, exec.Command("java", "-Xmx128m", "-cp", jars, "org.apache.zookeeper.server.quorum.QuorumPeerMain", dir+"/zoo.cfg"))
	return addr
}

// startPostgres starts a server as the user of that name: it refuses root.
func startPostgres(t *testing.T) string {
	bin, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	owner, err := user.Lookup("postgres")
	if len(bin) == 0 || err != nil || os.Geteuid() != 0 {
		t.Skip("needs PostgreSQL, its user, and root to become that user")
	}
	uid, _ := strconv.Atoi(owner.Uid)
	gid, _ := strconv.Atoi(owner.Gid)
	as := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin[0], name), args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		cmd.Dir = "/"
		return cmd
	}
	dir, err := os.MkdirTemp("", "libraries-postgres-*") // t.TempDir is not open to another user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	if out, err := as("initdb", "-D", dir+"/data", "-A", "trust", "-N", "-U", "postgres").CombinedOutput(); err != nil {
		t.Skipf("initdb: %v: %s", err, out)
	}
	addr, host, port := own()
	serve(t, addr, as("postgres", "-D", dir+"/data", "-p", port, "-k", dir, "-c", "fsync=off", "-c", "listen_addresses="+host))
	return addr
}
