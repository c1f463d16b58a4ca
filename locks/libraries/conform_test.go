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
// offers nothing that its promise leaves out. The suites mostly wait, so all run at once;
// what is found there is looked for again by a suite that runs alone, for a library may
// give an attempt up that is slow (rueidislock after 20 ms, and 20 of 40 suites at once saw it).
func TestLibrariesConform(t *testing.T) {
	found := map[string]chan []locktest.Finding{}
	alone := map[string]func() []locktest.Finding{}
	for name, l := range Table {
		if l.Image != "" || !l.opens() { // a process each: package protocol is about them
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
			run := func() []locktest.Finding {
				return locktest.Run(t.Context(), locktest.For(lock, locks.Config{Endpoints: endpoints, Lease: 2 * time.Second, Client: "test", Seed: 7}))
			}
			found[history.LockName(backend, name)], alone[history.LockName(backend, name)] = ch, run
			go func() { ch <- run() }()
		}
	}
	first := map[string][]locktest.Finding{}
	for lock, ch := range found {
		first[lock] = <-ch
	}
	for lock, all := range first {
		if len(all) == 0 {
			continue
		}
		t.Logf("%s: found beside the others, so it is tried alone: %v", lock, all)
		for _, f := range alone[lock]() {
			t.Errorf("%s: %s: %v", lock, f.Check, f.Err)
		}
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
