package libraries

import (
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/locktest"
)

// starts is how each backend's servers are started here.
var starts = map[string]func(*testing.T) []string{
	"redis": func(t *testing.T) []string { return []string{startRedis(t)} },
	"redlock": func(t *testing.T) (all []string) {
		for range 3 {
			all = append(all, startRedis(t))
		}
		return all
	},
	"etcd":              func(t *testing.T) []string { return []string{startEtcd(t)} },
	"zookeeper":         func(t *testing.T) []string { return []string{startZooKeeper(t)} },
	"postgres":          func(t *testing.T) []string { return []string{startPostgres(t)} },
	"postgres-advisory": func(t *testing.T) []string { return []string{startPostgres(t)} },
}

// Every library passes the suite on real servers: it does what its promise says, and
// offers nothing that its promise leaves out. The suites mostly wait, so all run at once.
func TestLibrariesConform(t *testing.T) {
	found := map[string]chan []locktest.Finding{}
	for name, l := range Table {
		if l.Image != "" { // a process each: package protocol is about them
			continue
		}
		for _, backend := range l.Backends() {
			lock, err := Find(backend, name)
			if err != nil {
				t.Fatal(err)
			}
			endpoints := starts[backend](t)
			ready(t, lock, endpoints)
			ch := make(chan []locktest.Finding, 1)
			found[history.LockName(backend, name)] = ch
			go func() {
				ch <- locktest.Run(t.Context(), locktest.For(lock, locks.Config{Endpoints: endpoints, Lease: 2 * time.Second, Client: "test", Seed: 7}))
			}()
		}
	}
	for lock, ch := range found {
		t.Run(lock, func(t *testing.T) {
			for _, f := range <-ch {
				t.Errorf("%s: %v", f.Check, f.Err)
			}
		})
	}
}

// ready waits until a session can be opened: an open port is no proof of service.
func ready(t *testing.T, lock locks.Lock, endpoints []string) {
	t.Helper()
	var err error
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		var c locks.Client
		if c, err = lock.Open(t.Context(), locks.Config{Endpoints: endpoints, Lease: 2 * time.Second, Client: "ready"}); err != nil {
			continue
		}
		var g *locks.Grant
		if g, err = c.Acquire(t.Context(), "ready"); err == nil {
			err = c.Release(t.Context(), g)
		}
		_ = c.Close()
		if err == nil {
			return
		}
	}
	t.Fatalf("not ready within a minute: %v", err)
}
