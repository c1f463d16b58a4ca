// Package servicetest starts a real etcd and nodes of the lock service for a Go test,
// on loopback.
package servicetest

import (
	"context"
	"net"
	"os/exec"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/loopback"
	"github.com/dlmtest/dlmtest/locks/service"
)

// Node is a node of the service that serves until it is stopped or the test ends.
type Node struct {
	HTTP, GRPC string // host:port
	stop       context.CancelFunc
	done       chan struct{}
}

// Start starts a node, which must go down without an error.
func Start(t testing.TB, c service.Config) *Node {
	t.Helper()
	s, err := service.New(c)
	if err != nil {
		t.Fatal(err)
	}
	web, remote := Listen(t), Listen(t)
	ctx, stop := context.WithCancel(context.Background())
	n := &Node{HTTP: web.Addr().String(), GRPC: remote.Addr().String(), stop: stop, done: make(chan struct{})}
	go func() {
		defer close(n.done)
		if err := s.Serve(ctx, web, remote); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(n.Stop)
	return n
}

// Stop tells the node to go down, as SIGTERM does, and returns when it has.
func (n *Node) Stop() {
	n.stop()
	<-n.done
}

// Etcd starts an etcd of one member and returns its host:port when it listens.
func Etcd(t testing.TB) string {
	t.Helper()
	program, err := exec.LookPath("etcd")
	if err != nil {
		t.Fatalf("%v: apt-get install etcd-server", err)
	}
	addr := loopback.Free(t)
	client, peer := "http://"+addr, "http://"+loopback.Free(t)
	cmd := exec.Command(program, "--data-dir", t.TempDir(), "--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer, "--unsafe-no-fsync")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
			return addr
		}
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("etcd at %s: %v", client, err)
		}
	}
}

// Listen takes a free port of loopback.
func Listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}
