package locks

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/dlmtest/dlmtest/history"
)

// A member without a leader, as one that is cut off from its peers, must not stop a
// client that reaches the others. With three members in turn and three requests an
// attempt it once got the same request of each attempt, for as long as the cut held.
func TestEtcdPassesByAMemberWithoutLeader(t *testing.T) {
	if _, err := exec.LookPath("etcd"); err != nil {
		t.Skip("no etcd on PATH")
	}
	url := ownURLs()
	well := []string{url(1), url(2), url(3)} // one member that answers at two addresses stands for two
	startEtcd(t, "well", well[0], well[1]+","+well[2], "well="+well[0])
	lonely, gone := []string{url(4), url(5)}, []string{url(6), url(7)} // of peers, of clients
	peers := "lonely=" + lonely[0] + ",gone=" + gone[0]
	startEtcd(t, "lonely", lonely[0], lonely[1], peers)
	leaving := startEtcd(t, "gone", gone[0], gone[1], peers)
	awaitLeader(t, lonely[1], true)
	leaving.end()
	awaitLeader(t, lonely[1], false)
	awaitLeader(t, well[1], true)

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := OpenEtcd(ctx, Config{Client: "client-1", Endpoints: []string{well[1], lonely[1], well[2]}, Lease: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 6 { // whichever member the first request goes to
		g, err := c.Acquire(ctx, "key")
		if err != nil {
			t.Fatalf("acquire: %v", err)
		}
		if err := c.Release(ctx, g); err != nil {
			t.Fatalf("release: %v", err)
		}
	}
}

// A member that is stopped takes connections and answers nothing. A renewal that it is
// given must go to another in time, whichever of three in turn it meets.
func TestEtcdRenewsPastAStoppedMember(t *testing.T) {
	if _, err := exec.LookPath("etcd"); err != nil {
		t.Skip("no etcd on PATH")
	}
	url := ownURLs()
	peer, client := []string{url(11), url(12), url(13)}, []string{url(14), url(15), url(16)}
	names := []string{"one", "two", "three"}
	all := "one=" + peer[0] + ",two=" + peer[1] + ",three=" + peer[2]
	members := make([]*member, 3)
	for i := range members {
		members[i] = startEtcd(t, names[i], peer[i], client[i], all)
	}
	for i := range members {
		awaitLeader(t, client[i], true)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	lease := 6 * time.Second
	c, err := openEtcdLock(ctx, Config{Client: "client-1", Endpoints: client, Lease: lease})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	g, err := c.Acquire(ctx, "key")
	if err != nil {
		t.Fatal(err)
	}
	members[follower(t, client)].stop(t)
	for range 4 { // one of them meets the stopped member, and passes by it
		limit, cancel := context.WithTimeout(ctx, lease/3)
		next, err := c.Extend(limit, g)
		cancel()
		if err != nil {
			t.Fatalf("extend: %v", err)
		}
		if next.Deadline > history.Mono()+int64(lease) || next.Deadline <= g.Deadline {
			t.Errorf("renewed until %d, before until %d, now %d", next.Deadline, g.Deadline, history.Mono())
		}
		g = next
	}
}

// follower is a member at one of the addresses that does not lead.
func follower(t *testing.T, urls []string) int {
	db, err := clientv3.New(clientv3.Config{Endpoints: urls, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i, u := range urls {
		s, err := db.Status(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		if s.Leader != s.Header.MemberId {
			return i
		}
	}
	t.Fatal("all members lead")
	return 0
}

// ownURLs gives addresses that no other process of this machine is given: they
// lie on a loopback address of this process's own, below the ephemeral ports.
func ownURLs() func(n int) string {
	pid := os.Getpid()
	return func(n int) string {
		return fmt.Sprintf("http://127.%d.%d.%d:%d", 1+pid>>16&63, pid>>8&255, pid&255, 2000+n)
	}
}

// member is an etcd of a test.
type member struct {
	process *os.Process
	end     func()
}

// stop stops it as SIGSTOP does, until it is killed.
func (m *member) stop(t *testing.T) {
	if err := m.process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

// startEtcd starts a member. One that ends by itself fails the test with its last words.
func startEtcd(t *testing.T, name, peer, clients, all string) *member {
	c := exec.Command("etcd", "--name", name, "--data-dir", t.TempDir(), "--initial-cluster", all,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--listen-client-urls", clients, "--advertise-client-urls", clients)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var meant atomic.Bool
	over := make(chan struct{})
	go func() {
		defer close(over)
		if err := c.Wait(); !meant.Load() {
			t.Errorf("etcd %s ended: %v\n%s", name, err, said.Bytes()[max(0, said.Len()-2000):])
		}
	}()
	end := func() { meant.Store(true); _ = c.Process.Kill(); <-over }
	t.Cleanup(end)
	return &member{c.Process, end}
}

// awaitLeader returns when the member at url knows a leader, or no longer does.
func awaitLeader(t *testing.T, url string, want bool) {
	db, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var last string
	for until := history.Mono() + int64(time.Minute); history.Mono() < until; time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		s, err := db.Status(ctx, url)
		cancel()
		if err == nil && (s.Leader != 0) == want {
			return
		}
		last = fmt.Sprintf("%+v, %v", s, err)
	}
	t.Fatalf("etcd at %s: has a leader is not %v after a minute; its last answer: %s", url, want, last)
}
