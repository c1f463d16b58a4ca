package workloads

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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

// turning is a lock that gives a greater token with each change of mode.
type turning struct {
	locks.Client
	locks.Extender
}

func (l turning) AcquireAs(ctx context.Context, key string, mode history.Mode) (*locks.Grant, error) {
	g, err := l.Acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	g.Mode = mode
	return g, nil
}

func (turning) Change(_ context.Context, g *locks.Grant, mode history.Mode) (*locks.Grant, error) {
	next := *g
	next.Mode, next.Token = mode, g.Token+1000
	return &next, nil
}

// What is renewed behind a change of mode is what the hold has become, with its mode and token.
func TestRenewsWhatItHasChangedTo(t *testing.T) {
	promise := locks.MemoryPromise
	promise.Shared, promise.Changes = true, true
	libraries.Table["turning"] = libraries.Library{On: []locks.Lock{{Promise: promise, Open: func(ctx context.Context, c locks.Config) (locks.Client, error) {
		m, err := locks.OpenMemory(ctx, c)
		if err != nil {
			return nil, err
		}
		return turning{m, m.(locks.Extender)}, nil
	}}}}
	defer delete(libraries.Table, "turning")
	addr, _ := store(t)
	lease := 60 * time.Millisecond
	w := startWorker(t, addr, Spec{Mode: ReadWrite, Renew: true, Work: lease, Think: time.Millisecond, Lock: locks.Config{Lease: lease}, Settings: settings.Settings{Library: "turning"}})
	w.ready()
	w.tell(Told{Begin: true})
	time.Sleep(2 * time.Second)
	w.stop()
	changed, renewed := map[string]history.Op{}, 0
	for _, op := range w.ops {
		was, known := changed[op.Owner]
		switch {
		case op.Type != history.OK:
		case op.F == history.Change:
			changed[op.Owner] = op
		case op.F == history.Extend && known:
			if renewed++; op.Token != was.Token || op.Mode != was.Mode {
				t.Errorf("renewed %+v behind %+v", op, was)
			}
		}
	}
	if renewed == 0 {
		t.Error("nothing was renewed behind a change")
	}
}
