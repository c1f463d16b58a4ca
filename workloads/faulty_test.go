package workloads

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/libraries"
)

// faulty is a lock whose fifth release is a mistake of its own.
type faulty struct {
	locks.Client
	released *atomic.Int32
}

func (f faulty) Release(ctx context.Context, g *locks.Grant) error {
	if f.released.Add(1) == 5 {
		return fmt.Errorf("%w: it returned nonsense", locks.ErrFaulty)
	}
	return f.Client.Release(ctx, g)
}

// A mistake of the lock ends the worker and is told as what it is; the call that made it
// stays of unknown outcome.
func TestFaultyLockEndsTheWorker(t *testing.T) {
	released := &atomic.Int32{}
	promise := locks.MemoryPromise
	promise.Tries, promise.Extends = false, false
	libraries.Table["faulty"] = libraries.Library{On: []locks.Lock{{Promise: promise, Open: func(ctx context.Context, c locks.Config) (locks.Client, error) {
		m, err := locks.OpenMemory(ctx, c)
		return faulty{m, released}, err
	}}}}
	defer delete(libraries.Table, "faulty")
	addr, _ := store(t)
	w := startWorker(t, addr, Spec{Settings: settings.Settings{Library: "faulty"}})
	w.ready()
	w.tell(Told{Begin: true})
	var fatal string
	w.said(func(s Said) bool { fatal = s.Fatal; return fatal != "" })
	if !strings.Contains(fatal, "a mistake of the lock under test") || !strings.Contains(fatal, "it returned nonsense") {
		t.Errorf("told %q", fatal)
	}
	w.said(func(s Said) bool { return s.Done })
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
	last := w.ops[len(w.ops)-1]
	for _, op := range w.ops {
		if op.F == history.Release && op.Type == history.Info {
			last = op
		}
	}
	if last.F != history.Release || last.Type != history.Info {
		t.Errorf("the release that went wrong is recorded as %+v", last)
	}
}
