package locktest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/service/servicetest"
)

// The semaphore of the etcd lock, on a real server: never more than its permits, in the
// order of arrival, and the next goes in when there is room.
func TestEtcdPermits(t *testing.T) {
	addr := servicetest.Etcd(t)
	open := func(name string) locks.Permitter {
		c, err := locks.OpenEtcd(t.Context(), locks.Config{Endpoints: []string{addr}, Lease: 20 * time.Second, Client: name})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c.(locks.Permitter)
	}
	a, b, c := open("a"), open("b"), open("c")
	hold := func(l locks.Permitter, n int) *locks.Grant {
		t.Helper()
		g, err := l.AcquirePermits(t.Context(), "s", n, 3)
		if err != nil || g.Permits != n {
			t.Fatalf("%+v, %v", g, err)
		}
		return g
	}
	one, two := hold(a, 1), hold(b, 2)
	if two.Token <= one.Token {
		t.Errorf("token %d after %d", two.Token, one.Token)
	}
	soon, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if g, err := c.AcquirePermits(soon, "s", 1, 3); !errors.Is(err, locks.ErrNotGranted) {
		t.Errorf("a fourth permit: %+v, %v", g, err)
	}
	if g, err := c.AcquirePermits(t.Context(), "s", 4, 3); !errors.Is(err, locks.ErrConfig) {
		t.Errorf("4 of 3: %+v, %v", g, err)
	}

	all := make(chan *locks.Grant, 1)
	go func() { g, _ := c.AcquirePermits(t.Context(), "s", 3, 3); all <- g }()
	for queued(t, addr) < 3 {
		time.Sleep(5 * time.Millisecond)
	}
	if err := b.(locks.Client).Release(t.Context(), two); err != nil {
		t.Error(err)
	}
	soon, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if g, err := b.AcquirePermits(soon, "s", 1, 3); !errors.Is(err, locks.ErrNotGranted) {
		t.Errorf("there is room, but somebody came before: %+v, %v", g, err)
	}
	if err := a.(locks.Client).Release(t.Context(), one); err != nil {
		t.Error(err)
	}
	if g := <-all; g == nil || g.Permits != 3 {
		t.Errorf("who waited for all has %+v", g)
	}
}

// queued is how many stand in the queue of s, or hold it.
func queued(t *testing.T, addr string) int64 {
	t.Helper()
	db, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	r, err := db.Get(t.Context(), "dlmtest/locks/s/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	return r.Count
}
