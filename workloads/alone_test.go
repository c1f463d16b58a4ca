package workloads

import (
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// Each client asks for one key alone, again and again, and free-lock has something to judge.
func TestOwnKeys(t *testing.T) {
	addr, log := store(t)
	keys := []string{t.Name() + "-1", t.Name() + "-2"}
	var workers []*worker
	for n := range keys {
		w := startWorker(t, addr, Spec{Mode: OwnKey, Number: n, Keys: keys, Work: time.Millisecond, Think: time.Millisecond, Lock: locks.Config{Lease: 10 * time.Second}})
		w.ready()
		workers = append(workers, w)
	}
	for _, w := range workers {
		w.tell(Told{Begin: true})
	}
	time.Sleep(200 * time.Millisecond)
	var ops []history.Op
	for n, w := range workers {
		w.stop()
		for _, op := range w.ops {
			if op.F == history.Acquire && op.Key != keys[n] {
				t.Errorf("client %d asked for %q", n, op.Key)
			}
		}
		ops = append(ops, w.ops...)
	}
	ops = append(ops, log()...)
	setup := history.Setup{Promise: locks.MemoryPromise, Kind: history.Alone, Lease: 10 * time.Second, Keys: keys}
	history.Sort(ops)
	if err := history.Validate(setup, ops); err != nil {
		t.Fatal(err)
	}
	result := checker.Judge(setup, ops)
	if p := result.Property("free-lock"); p == nil || p.Verdict != checker.Holds {
		t.Errorf("%+v of %+v", p, result.Counts)
	}
}
