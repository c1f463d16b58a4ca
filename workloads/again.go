package workloads

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/workloads/resource"
)

// again begins the next life of a client that was killed: a program that knows nothing of the last one opens its session beside
// whatever fault is at work. false: it was asked to end before it could.
func (c *client) again(ctx context.Context) (bool, error) {
	entry, err := c.entry()
	if err != nil {
		return false, err
	}
	go c.watchSchedule(ctx)
	go c.awaitStop(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-c.stopped:
			cancel()
		case <-ctx.Done():
		}
	}()
	if !c.reopen(ctx, entry) {
		return false, nil
	}
	c.watchAdapter()
	c.listens()
	if c.spec.Resource.Addr != "" {
		c.res, err = retry(ctx, c.link, func(ctx context.Context) (resource.Resource, error) { return openResource(ctx, c.spec) })
		if err != nil {
			return false, c.closeLock()
		}
	}
	return true, nil
}

// reopening is a session that is opened, again and again until it is.
type reopening struct {
	done    chan locks.Client // gets it
	trouble chan struct{}     // closed once whoever wants to use it must wait
	once    sync.Once

	mu   sync.Mutex
	last error // of the attempts
}

func (o *reopening) wait() { o.once.Do(func() { close(o.trouble) }) }

func (o *reopening) why() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// reopen opens the session. Nothing is recorded of one that opens at once. One that cannot be opened, or not for long, is what
// its user meets as a lock that is not granted: so it asks and is refused, again and again, and certainly has nothing.
func (c *client) reopen(ctx context.Context, entry locks.Lock) bool {
	o := &reopening{done: make(chan locks.Client, 1), trouble: make(chan struct{})}
	go func() {
		for ctx.Err() == nil {
			lock, err := c.openOnce(ctx, entry, o)
			if err == nil {
				o.done <- lock
				return
			}
			o.mu.Lock()
			o.last = err
			o.mu.Unlock()
			sleep(ctx, 20*time.Millisecond)
		}
	}()
	select {
	case c.lock = <-o.done:
		return true
	case <-o.trouble:
	case <-ctx.Done():
		return false
	}
	for op := c.wish(); c.lock == nil && ctx.Err() == nil; {
		_ = c.main.call(op, func(*history.Op) error { // recorded
			select {
			case c.lock = <-o.done:
				return fmt.Errorf("%w: its session was opened only now", locks.ErrNotGranted)
			case <-time.After(c.spec.Wait):
			case <-ctx.Done():
			}
			return fmt.Errorf("%w: its session is not open: %v", locks.ErrNotGranted, o.why())
		})
	}
	return c.lock != nil
}

// wish is what a client asks for that has no session.
func (c *client) wish() history.Op {
	op := history.Op{F: history.Acquire, Key: c.spec.Keys[c.spec.Number%len(c.spec.Keys)]}
	switch c.spec.Kind {
	case history.ReadWrite:
		op.Mode = history.Exclusive
	case history.Semaphore:
		op.Permits = 1
	}
	return op
}

// slowOpen is how long an open may take, beside a lease, before its user waits.
const slowOpen = time.Second

// openOnce is one attempt. What the lock's own program takes to start is no fault of the lock: where that is slow, a session that
// is opened at the second attempt says nothing.
func (c *client) openOnce(ctx context.Context, entry locks.Lock, o *reopening) (locks.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	config, begun := c.spec.Lock, time.Now()
	var slow *time.Timer
	quick := false
	config.Opening = func() {
		quick = time.Since(begun) <= config.Lease
		slow = time.AfterFunc(config.Lease+slowOpen, o.wait)
	}
	if !c.spec.HasAdapter() {
		config.Opening()
	}
	lock, err := entry.Open(ctx, config)
	if slow != nil {
		slow.Stop()
	}
	if err != nil && quick {
		o.wait()
	}
	return lock, err
}
