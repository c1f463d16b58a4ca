package workloads

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/libraries"
)

// opens is a lock whose sessions open as it says.
func opens(t *testing.T, name string, open func() error) {
	promise := locks.MemoryPromise
	libraries.Table[name] = libraries.Library{On: []locks.Lock{{Promise: promise, Open: func(ctx context.Context, c locks.Config) (locks.Client, error) {
		if err := open(); err != nil {
			return nil, err
		}
		return locks.OpenMemory(ctx, c)
	}}}}
	t.Cleanup(func() { delete(libraries.Table, name) })
}

// secondLife is what a client's second life records of a lock.
func secondLife(t *testing.T, name string, run time.Duration) []history.Op {
	addr, _ := store(t)
	w := startWorker(t, addr, Spec{Life: 1, Number: 1, Settings: settings.Settings{Library: name}})
	time.Sleep(run)
	w.stop()
	return slices.DeleteFunc(w.ops, func(op history.Op) bool { return op.F == history.Stall })
}

// Of a session that opens at once nothing is recorded; the new life is told apart by its processes and by what it writes.
func TestSecondLife(t *testing.T) {
	opens(t, "prompt", func() error { return nil })
	ops := secondLife(t, "prompt", 200*time.Millisecond)
	if len(ops) < 4 || ops[0].F != history.Acquire || ops[1].Type != history.OK || ops[0].Process != perLife*perClient+perClient {
		t.Fatalf("%+v", ops)
	}
	write := slices.IndexFunc(ops, func(op history.Op) bool { return op.F == history.Write })
	if write < 0 || ops[write].Value != "client-1/life-2/w1" || ops[write].Node != "client-1" {
		t.Errorf("%+v", ops[max(write, 0)])
	}
}

// A session that cannot be opened is a lock that is refused, and certainly held by nobody; then its client goes on.
func TestSessionThatDoesNotOpen(t *testing.T) {
	var tries atomic.Int32
	opens(t, "refusing", func() error {
		if tries.Add(1) < 10 {
			return errors.New("a server is away")
		}
		return nil
	})
	ops := secondLife(t, "refusing", 600*time.Millisecond)
	if len(ops) < 4 || ops[0].Type != history.Invoke || ops[1].Type != history.Fail || ops[1].Busy || ops[1].Time-ops[0].Time < int64(100*time.Millisecond) ||
		ops[3].Type != history.OK {
		t.Errorf("%+v", ops)
	}
}

// One that takes long is waited for, as long as its client is not asked to end.
func TestSessionThatOpensForLong(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	opens(t, "hanging", func() error { <-hang; return errors.New("no") })
	ops := secondLife(t, "hanging", slowOpen+700*time.Millisecond)
	if len(ops) != 3 || ops[0].F != history.Acquire || ops[0].Type != history.Invoke || ops[1].F != history.Stop && ops[2].F != history.Stop {
		t.Errorf("%+v", ops)
	}
}
