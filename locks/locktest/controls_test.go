package locktest_test

import (
	"context"
	"net"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/loopback"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/locktest"
)

// conformance is what the suite, which injects no fault but waits for leases to
// end, must and may find of each control: those it finds nothing of need their
// fault. lease-put needs an etcd and fails try-refused, handover, wait-limit,
// cancel, stale-release, extend, expiry, exclusion and holder.
var conformance = []struct {
	lock      string
	must, may []string
}{
	{"redis", nil, nil},
	{"broken/no-owner-check", []string{"stale-release", "expiry"}, []string{"shared", "permits"}}, // its DEL knows nothing of these
	{"broken/no-renewal", []string{"extend", "expiry"}, nil},
	{"broken/setnx-expire", nil, nil},
	{"broken/token-after-lock", nil, nil},
	{"broken/clock-token", nil, []string{"tokens"}}, // two grants within a millisecond
	// Whenever two clients ask at once, or three nodes still hear of what two have
	// answered: exclusion mostly, then release-twice, expiry and their kin.
	{"broken/quorum-two", nil, every()},
}

func every() (names []string) {
	for _, c := range locktest.Checks {
		names = append(names, c.Name)
	}
	return names
}

func TestControlsConform(t *testing.T) {
	t.Parallel()
	nodes := redisNodes(t, 5)
	for _, c := range conformance {
		t.Run(c.lock, func(t *testing.T) {
			t.Parallel()
			l := locks.Table[c.lock]
			config := locks.Config{Endpoints: nodes, Lease: time.Second, Seed: 1}
			var found []string
			for _, f := range locktest.Run(t.Context(), locktest.For(l, config)) {
				t.Log(f.Check, f.Err)
				found = append(found, f.Check)
				if !slices.Contains(c.must, f.Check) && !slices.Contains(c.may, f.Check) {
					t.Errorf("fails %s: %v", f.Check, f.Err)
				}
			}
			for _, check := range c.must {
				if !slices.Contains(found, check) {
					t.Errorf("passes %s", check)
				}
			}
		})
	}
}

// redisNodes starts independent servers that end with the test.
func redisNodes(t *testing.T, n int) (addrs []string) {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatalf("%v: apt-get install redis-server", err)
	}
	for range n {
		host, port := loopback.FreePort(t)
		cmd := exec.CommandContext(context.Background(), program, "--port", port, "--bind", host, "--save", "", "--dir", t.TempDir())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		addrs = append(addrs, net.JoinHostPort(host, port))
	}
	for _, addr := range addrs {
		for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			conn, err := net.Dial("tcp", addr)
			if err == nil {
				conn.Close()
				break
			}
			if time.Since(begin) > 10*time.Second {
				t.Fatalf("redis-server at %s: %v", addr, err)
			}
		}
	}
	return addrs
}
