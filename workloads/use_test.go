package workloads

import (
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// useRun runs three workers of a use until enough, then judges what they recorded.
func useRun(t *testing.T, mode Mode, use history.Use, spec Spec, enough func(ops []history.Op) bool) checker.Result {
	t.Helper()
	addr, log := store(t)
	spec.Mode, spec.Use, spec.Work, spec.Lock.Lease = mode, use, time.Millisecond, 10*time.Second // a stall of the machine is no zombie
	var workers []*worker
	for n := range 3 {
		spec.Number = n
		w := startWorker(t, addr, spec)
		w.ready()
		workers = append(workers, w)
	}
	for _, w := range workers {
		w.tell(Told{Begin: true})
	}
	for until := time.Now().Add(20 * time.Second); !enough(log()) && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	var ops []history.Op
	for _, w := range workers {
		w.stop()
		ops = append(ops, w.ops...)
	}
	ops = append(ops, log()...)
	setup := history.Setup{Promise: locks.MemoryPromise, Lease: 10 * time.Second, Keys: []string{t.Name()}, Use: use}
	history.Sort(ops)
	if err := history.Validate(setup, ops); err != nil {
		t.Fatal(err)
	}
	return checker.Judge(setup, ops)
}

// Nothing goes wrong: each use does what it is for, and its properties hold.
func TestUsesHold(t *testing.T) {
	did := func(f history.F, n int) func([]history.Op) bool {
		return func(ops []history.Op) bool {
			for _, op := range ops {
				if op.F == f && op.Unfenced.Accepted {
					n--
				}
			}
			return n <= 0
		}
	}
	for _, c := range []struct {
		mode   Mode
		use    history.Use
		enough func() func([]history.Op) bool
		holds  []string
	}{
		{Inventory, history.Use{Name: history.Inventory, Stock: 20}, func() func([]history.Op) bool { return did(history.Apply, 20) }, []string{"never-oversold/unfenced", "never-oversold/fenced"}},
		{Payment, history.Use{Name: history.Payment}, func() func([]history.Op) bool { return did(history.Happened, 20) }, []string{"charged-once/unfenced", "charged-once/fenced"}},
		{PaymentKey, history.Use{Name: history.Payment}, func() func([]history.Op) bool { return did(history.Happened, 20) }, []string{"charged-once/unfenced", "charged-once/fenced"}},
		{Cron, history.Use{Name: history.Cron, Every: 5 * time.Millisecond}, func() func([]history.Op) bool { return did(history.Happened, 10) }, []string{"one-run-a-slot/unfenced", "one-run-a-slot/fenced"}},
		{CronKey, history.Use{Name: history.Cron, Every: 5 * time.Millisecond}, func() func([]history.Op) bool { return did(history.Happened, 10) }, []string{"one-run-a-slot/unfenced"}},
		{File, history.Use{Name: history.File, Blocks: 4}, func() func([]history.Op) bool { return did(history.Happened, 40) }, []string{"no-interleaving/unfenced", "no-interleaving/fenced"}},
		{Cache, history.Use{Name: history.Cache, Every: time.Millisecond}, func() func([]history.Op) bool { return did(history.Happened, 10) }, []string{"no-lost-update/unfenced"}},
	} {
		t.Run(string(c.mode), func(t *testing.T) {
			done := false // counts once a look
			result := useRun(t, c.mode, c.use, Spec{}, func(ops []history.Op) bool { done = done || c.enough()(ops); return done })
			for _, name := range c.holds {
				if p := result.Property(name); p == nil || p.Verdict != checker.Holds {
					t.Errorf("%s: %+v", name, p)
				}
			}
			if p := result.Property("one-rebuilder"); c.mode == Cache && p.Verdict == checker.Violated {
				t.Errorf("%+v", p)
			}
		})
	}
}

// Without a lock, who comes second is refused and nothing is sold twice.
func TestVersionedHolds(t *testing.T) {
	sold := func(ops []history.Op) bool {
		n := 0
		for _, op := range ops {
			if op.F == history.Apply && op.Unfenced.Accepted {
				n++
			}
		}
		return n >= 20
	}
	use := history.Use{Name: history.Inventory, Stock: 20, Lockless: true}
	result := useRun(t, Versioned, use, Spec{}, sold)
	for _, name := range []string{"never-oversold/unfenced", "never-oversold/fenced"} {
		p := result.Property(name)
		if p == nil || p.Verdict == checker.Violated || p.Verdict == checker.NA {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p := result.Property("mutual-exclusion"); p.Verdict != checker.NA {
		t.Errorf("nobody took the lock, and %+v", p)
	}
}

// A holder that is held at its checkpoint past its lease charges a second time; with an
// idempotency key the payment service knows the order.
func TestPaymentOfAZombie(t *testing.T) {
	for mode, want := range map[Mode]bool{Payment: true, PaymentKey: false} {
		t.Run(string(mode), func(t *testing.T) {
			addr, log := store(t)
			use := history.Use{Name: history.Payment}
			spec := Spec{Mode: mode, Use: use, Work: time.Millisecond, Lock: locks.Config{Lease: 100 * time.Millisecond}}
			late := startWorker(t, addr, spec)
			late.ready()
			late.order(agent.Order{Armed: &[]string{AtBeforeWrite}})
			late.tell(Told{Begin: true})
			at := late.until(fired(AtBeforeWrite)).Checkpoint
			spec.Number = 1
			other := startWorker(t, addr, spec)
			other.ready()
			other.tell(Told{Begin: true})
			other.until(func(l agent.Line) bool {
				n := len(other.ops)
				return n > 0 && other.ops[n-1].F == history.Write && other.ops[n-1].Type == history.OK
			})
			late.order(agent.Order{Armed: &[]string{}})
			late.order(agent.Order{Go: at.ID})
			late.stop()
			other.stop()
			charges := map[string]int{}
			for _, op := range log() {
				if op.F == history.Happened && op.Fenced.Accepted {
					charges[op.Fenced.Value]++
				}
			}
			if twice := charges["charge order 1"] > 1; twice != want {
				t.Errorf("order 1 was charged %d times: %v", charges["charge order 1"], charges)
			}
		})
	}
}
