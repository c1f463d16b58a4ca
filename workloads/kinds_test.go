package workloads

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// The loops of the kinds that a mutex can serve record histories that keep their rules.
func TestKindsRecordHistoriesThatHold(t *testing.T) {
	for mode, want := range map[Mode][]string{
		Tries:    {"mutual-exclusion", "honest-refusal", "wait-limit"},
		Leader:   {"mutual-exclusion", "one-leader"},
		Watchdog: {"mutual-exclusion"},
		Herd:     {"mutual-exclusion"},
	} {
		t.Run(string(mode), func(t *testing.T) {
			addr, log := store(t)
			var workers []*worker
			for n := range 3 {
				work := 2 * time.Millisecond
				if mode == Watchdog {
					work = 150 * time.Millisecond
				}
				w := startWorker(t, addr, Spec{Mode: mode, Number: n, Work: work, Think: time.Millisecond, Renew: true, Lock: locks.Config{Lease: 200 * time.Millisecond}})
				w.ready()
				workers = append(workers, w)
			}
			for _, w := range workers {
				w.tell(Told{Begin: true})
			}
			time.Sleep(300 * time.Millisecond)
			var ops []history.Op
			for _, w := range workers {
				w.stop()
				ops = append(ops, w.ops...)
			}
			ops = append(ops, log()...)
			kind, _ := Kind(mode)
			promise := locks.MemoryPromise
			promise.Bound = time.Second // this machine may be busy
			setup := history.Setup{Promise: promise, Kind: kind, Lease: 200 * time.Millisecond, Keys: []string{t.Name()}}
			history.Sort(ops)
			if err := history.Validate(setup, ops); err != nil {
				t.Fatal(err)
			}
			result := checker.Judge(setup, ops)
			for _, name := range want {
				if p := result.Property(name); p == nil || p.Verdict == checker.Violated {
					t.Errorf("%s: %+v", name, p)
				}
			}
			if result.Counts.Grants < 2 {
				t.Errorf("too little happened: %+v", result.Counts)
			}
		})
	}
}

// A lock that lacks a kind takes nothing, and says so.
func TestKindThatIsNotOffered(t *testing.T) {
	r := newRecorder(&link{out: discard{}, armed: map[string]bool{}}, Spec{Wait: time.Second})
	var err error
	if r.lock, err = locks.OpenMemory(t.Context(), locks.Config{Lease: time.Second, Client: "c"}); err != nil {
		t.Fatal(err)
	}
	p := r.process()
	for name, ask := range map[string]func() (*locks.Grant, error){
		"read-write": func() (*locks.Grant, error) { return p.acquireAs(t.Context(), "k", history.Shared) },
		"semaphore":  func() (*locks.Grant, error) { return p.acquirePermits(t.Context(), "k", 1) },
		"reentrant":  func() (*locks.Grant, error) { return p.acquireBy(t.Context(), "k", "t") },
	} {
		if g, err := ask(); g != nil || !errors.Is(err, locks.ErrNotGranted) {
			t.Errorf("%s: %v, %v", name, g, err)
		}
	}
	if _, known := Kind("no such"); known {
		t.Error("a mode that is none")
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// deaf answers no renewal until it is told to.
type deaf struct {
	mu   sync.Mutex
	lost bool
}

func (d *deaf) Extend(ctx context.Context, g *locks.Grant) (*locks.Grant, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost {
		return nil, locks.ErrNotHeld
	}
	return nil, context.DeadlineExceeded
}

// The watchdog tells of a loss once, and not before it has asked or waited.
func TestKeepTellsOnce(t *testing.T) {
	for _, lost := range []bool{false, true} {
		lease := 400 * time.Millisecond
		g := &locks.Grant{Key: "k", Owner: "o", Lease: lease, Deadline: history.Mono() + int64(lease)}
		told := make(chan time.Duration, 2)
		stop := locks.Keep(t.Context(), &deaf{lost: lost}, g, locks.GivesUp, func() {}, func(string) { told <- g.Valid() })
		early := lease/8 + time.Millisecond // who gets no answer waits for one as long as that
		if lost {
			early = lease * 2 / 3
		}
		if left := <-told; left > early {
			t.Errorf("told %v before the deadline, want at most %v", left, early)
		}
		stop()
		if len(told) > 0 {
			t.Error("told twice")
		}
	}
}
