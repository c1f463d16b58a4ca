package links

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jackc/pgx/v5"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/dlmtest/dlmtest/internal/eventually"
	"github.com/dlmtest/dlmtest/internal/loopback"
	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

// server starts a program that listens on addr until the test ends.
func server(t *testing.T, addr string, cmd *exec.Cmd) {
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
	for deadline := time.Now().Add(40 * time.Second); ; time.Sleep(20 * time.Millisecond) {
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

// logMeasured checks that the protocol's ping is answered, and says how fast.
func logMeasured(t *testing.T, addr string, l *Link, p wire.Protocol) {
	t.Helper()
	t.Logf("%s: direct %v, by the link %v", p, measured(t, addr, p), measured(t, l.Addr(), p))
}

// etcd's lock is granted at the server, and the client does not know: its Txn is
// known by its path in the compressed headers.
func TestEtcdHoldAnswerOfTxn(t *testing.T) {
	addr, peer, dir := loopback.Free(t), "http://"+loopback.Free(t), t.TempDir()
	server(t, addr, exec.Command("etcd", "--data-dir", dir, "--listen-client-urls", "http://"+addr, "--advertise-client-urls", "http://"+addr,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer, "--unsafe-no-fsync"))
	l := open(t, addr, wire.HTTP2)
	logMeasured(t, addr, l, wire.HTTP2)
	through, direct := etcd(t, l.Addr()), etcd(t, addr)
	s, err := concurrency.NewSession(through, concurrency.WithTTL(60))
	if err != nil {
		t.Fatal(err)
	}
	f := must(t)(l.HoldAnswer(When{Name: "HEADERS", Contains: "/etcdserverpb.KV/Txn"}))
	granted := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), eventually.Most)
	defer cancel()
	go func() { granted <- concurrency.NewMutex(s, "lock").Lock(ctx) }()
	<-f.Hit()
	for {
		got, err := direct.Get(ctx, "lock", clientv3.WithPrefix())
		if err != nil {
			t.Fatal(err)
		}
		if got.Count == 1 {
			break
		}
	}
	select {
	case err := <-granted:
		t.Fatalf("the answer passed: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	heal(t, f)
	if err := <-granted; err != nil {
		t.Error(err)
	}
	t.Log(f.Proof())
}

func etcd(t *testing.T, addr string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, DialTimeout: eventually.Most})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// go-zookeeper #229: Lock fails after its create went out, and leaves a node that
// blocks everybody.
func TestZooKeeperOrphan(t *testing.T) {
	const jars = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar"
	if _, err := os.Stat("/usr/share/java/zookeeper.jar"); err != nil {
		t.Skip("needs ZooKeeper")
	}
	host, port := loopback.FreePort(t)
	addr, dir := net.JoinHostPort(host, port), t.TempDir()
	config := fmt.Sprintf("tickTime=500\ndataDir=%s\nclientPort=%s\nclientPortAddress=%s\nadmin.enableServer=false\n", dir, port, host)
	if err := os.WriteFile(dir+"/zoo.cfg", []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	server(t, addr, exec.Command("java", "-Xmx128m", "-cp", jars, "org.apache.zookeeper.server.quorum.QuorumPeerMain", dir+"/zoo.cfg"))
	l := open(t, addr, wire.ZooKeeper)
	logMeasured(t, addr, l, wire.ZooKeeper)
	c, events, err := zk.Connect([]string{l.Addr()}, 20*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	lock := zk.NewLock(c, "/lock", zk.WorldACL(zk.PermAll))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	f := must(t)(l.CutOn(When{Name: "getChildren2"}))
	err = zk.NewLock(c, "/lock", zk.WorldACL(zk.PermAll)).Lock()
	hit := <-f.Hit()
	if err == nil {
		t.Fatal("Lock did not notice the cut")
	}
	left, _, err2 := c.Children("/lock")
	for errors.Is(err2, zk.ErrNoServer) { // of a list of one it says so while it waits to connect again
		left, _, err2 = c.Children("/lock")
	}
	if err2 != nil || len(left) != 1 {
		t.Errorf("%q are left, %v", left, err2)
	}
	t.Logf("cut at %s; Lock: %v; left behind: %q", hit.Message, err, left)
}

// A commit arrives late, and its answer too.
func TestPostgresHoldCommit(t *testing.T) {
	addr := postgres(t)
	l := open(t, addr, wire.Postgres)
	logMeasured(t, addr, l, wire.Postgres)
	ctx, cancel := context.WithTimeout(context.Background(), eventually.Most)
	defer cancel()
	through, direct := pgConn(ctx, t, l.Addr()), pgConn(ctx, t, addr)
	if _, err := direct.Exec(ctx, "CREATE TABLE t (n int)"); err != nil {
		t.Fatal(err)
	}
	rows := func() (n int) {
		if err := direct.QueryRow(ctx, "SELECT count(*) FROM t").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	tx, err := through.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "INSERT INTO t VALUES ($1)", 7); err != nil {
		t.Fatal(err)
	}
	f := must(t)(l.HoldRequest(When{Name: "Query", Contains: "commit"}))
	done := make(chan error, 1)
	go func() { done <- tx.Commit(ctx) }()
	<-f.Hit()
	time.Sleep(100 * time.Millisecond)
	if n := rows(); n != 0 {
		t.Errorf("%d rows before the commit arrives", n)
	}
	heal(t, f)
	if err := <-done; err != nil || rows() != 1 {
		t.Errorf("commit: %v, %d rows", err, rows())
	}
	t.Log(f.Proof())
}

func pgConn(ctx context.Context, t *testing.T, addr string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(ctx, "postgres://postgres@"+addr+"/postgres?sslmode=prefer")
	for ; err != nil && ctx.Err() == nil; c, err = pgx.Connect(ctx, "postgres://postgres@"+addr+"/postgres?sslmode=prefer") {
		time.Sleep(50 * time.Millisecond) // "the database system is starting up"
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// postgres starts a server as the user of that name: it refuses root.
func postgres(t *testing.T) string {
	t.Helper()
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
	dir, err := os.MkdirTemp("", "links-postgres-*") // t.TempDir is not open to another user
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
	host, port := loopback.FreePort(t)
	addr := net.JoinHostPort(host, port)
	server(t, addr, as("postgres", "-D", dir+"/data", "-p", port, "-k", dir, "-c", "fsync=off", "-c", "listen_addresses="+host))
	return addr
}
