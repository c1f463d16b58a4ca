package nemesis

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// What of another fault a fault may come after.
const (
	WhenBegun  = "begun"  // in force on all its victims, for the first time
	WhenHealed = "healed" // over on all its victims, for the last time
)

// milestones are the begins and ends of the faults that have a name.
type milestones struct {
	mu  sync.Mutex
	all map[[2]string]*milestone // by name and WhenBegun or WhenHealed
}

// milestone is closed when it is reached, or when it is certain that it will not be.
type milestone struct {
	done   chan struct{}
	closed bool
	never  bool
}

// of is called with m.mu held.
func (m *milestones) of(name, when string) *milestone {
	key := [2]string{name, when}
	if m.all[key] == nil {
		m.all[key] = &milestone{done: make(chan struct{})}
	}
	return m.all[key]
}

// reach says that a fault is so far; a second time does nothing.
func (m *milestones) reach(name, when string) { m.close(name, when, false) }

// give says that a fault has ended: what it has not reached it never will.
func (m *milestones) give(name string) {
	m.close(name, WhenBegun, true)
	m.close(name, WhenHealed, true)
}

func (m *milestones) close(name, when string, never bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x := m.of(name, when); !x.closed {
		x.closed, x.never = true, never
		close(x.done)
	}
}

// due waits until f is due for the first time.
func (s Stage) due(ctx context.Context, f Fault) error {
	if f.After != "" {
		s.reached.mu.Lock()
		x := s.reached.of(f.After, f.When)
		s.reached.mu.Unlock()
		select {
		case <-x.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if x.never {
			return fmt.Errorf("the fault %q that it comes after was never %s", f.After, f.When)
		}
	}
	if !sleep(ctx, f.At) {
		return ctx.Err()
	}
	return nil
}

// again waits until f is due for the n-th time after its first, at begun: a fixed
// time from begin to begin, at once if that has passed, or from the end of the last.
func (s Stage) again(ctx context.Context, f Fault, begun time.Time, n int) error {
	wait := f.Every
	if f.Interval > 0 {
		wait = time.Until(begun.Add(time.Duration(n) * f.Interval))
	}
	if !sleep(ctx, wait) {
		return ctx.Err()
	}
	return nil
}

// AtOnce says that f is due when the load begins, so that the first client meets it.
func (f Fault) AtOnce() bool { return f.At == 0 && f.After == "" && !f.Random }
