package service_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/loopback"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/service"
	"github.com/dlmtest/dlmtest/locks/service/servicetest"
)

// TestMain is a node of the service when its own test starts it as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "lockservice" {
		if err := service.Main(context.Background(), os.Args[2:], os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// span is when a client claimed the lock.
type span struct {
	token       int64
	seen, until int64 // by MONOTONIC, which all processes of a machine share
	owner       string
}

// The whole service stops for a lease and a half, again and again, with requests in hand:
// whatever its nodes answer when they wake, no two leases overlap, and tokens rise.
func TestStoppedNodes(t *testing.T) {
	t.Parallel()
	const lease = 2 * time.Second
	etcd := servicetest.Etcd(t)
	var nodes []*exec.Cmd
	endpoints := map[string][]string{}
	for range 2 {
		web, remote := loopback.Free(t), loopback.Free(t)
		node := exec.Command(os.Args[0], "lockservice", "-etcd", etcd, "-http", web, "-grpc", remote)
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = node.Process.Kill(); _ = node.Wait() })
		for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
			if conn, err := net.Dial("tcp", remote); err == nil {
				_ = conn.Close()
				break
			} else if time.Since(begin) > 20*time.Second {
				t.Fatal(err)
			}
		}
		nodes = append(nodes, node)
		endpoints["http"], endpoints["grpc"] = append(endpoints["http"], web), append(endpoints["grpc"], remote)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	var all []span
	var clients sync.WaitGroup
	for n, backend := range []string{"http", "grpc", "http", "grpc"} {
		c, err := locks.Table[backend].Open(ctx, locks.Config{Endpoints: endpoints[backend], Lease: lease, Client: fmt.Sprint("client-", n), Seed: uint64(n)})
		if err != nil {
			t.Fatal(err)
		}
		clients.Go(func() {
			defer c.Close()
			for ctx.Err() == nil {
				g, err := c.Acquire(ctx, "k")
				if err != nil {
					continue // refused, or open: nobody claims it
				}
				s := span{token: g.Token, seen: history.Mono(), owner: g.Owner}
				time.Sleep(20 * time.Millisecond)
				s.until = min(g.Deadline, history.Mono())
				_ = c.Release(ctx, g) // at worst its lease ends
				mu.Lock()
				all = append(all, s)
				mu.Unlock()
			}
		})
	}
	random := rand.New(rand.NewPCG(7, 7))
	for range 3 {
		time.Sleep(300*time.Millisecond + time.Duration(random.Int64N(int64(200*time.Millisecond))))
		for _, n := range nodes {
			_ = n.Process.Signal(syscall.SIGSTOP)
		}
		time.Sleep(lease * 3 / 2)
		for _, n := range nodes {
			_ = n.Process.Signal(syscall.SIGCONT)
		}
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) { // it serves again
		mu.Lock()
		after := len(all)
		mu.Unlock()
		if after >= 8 {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("%d grants", after)
		}
	}
	stop()
	clients.Wait()
	slices.SortFunc(all, func(a, b span) int { return int(a.seen - b.seen) })
	for i, s := range all[1:] {
		if before := all[i]; s.seen < before.until || s.token <= before.token {
			t.Errorf("%s with token %d from %v, while %s with %d until %v", s.owner, s.token, time.Duration(s.seen), before.owner, before.token, time.Duration(before.until))
		}
	}
	t.Log(len(all), "grants")
}
