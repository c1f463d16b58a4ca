package workloads

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/locks"
)

// Capacity holds as many locks and sessions as it is told to, so that what they cost
// can be measured at the servers.
const Capacity Mode = "capacity"

// Load is how many locks and sessions a capacity worker is to hold, or holds.
type Load struct {
	Locks    int           `json:"locks"`          // all of one session
	Sessions int           `json:"sessions"`       // each with one lock, which it renews
	Hold     time.Duration `json:"hold,omitempty"` // lease of the locks that are not renewed
}

// opening is how many requests are under way at once while a load is made.
const opening = 16

// capacity makes each load that it is told of, and keeps it.
func capacity(ctx context.Context, l *link, s Spec) error {
	r := newRecorder(l, s)
	if err := r.connect(ctx); err != nil {
		return err
	}
	defer func() { _ = r.lock.Close() }()
	c := &crowd{ctx: ctx, spec: s}
	defer c.close()
	l.say(Said{Ready: true})
	for {
		t, ok := next(ctx, l)
		if !ok || t.Stop {
			return nil
		}
		if t.Load == nil {
			continue
		}
		if err := c.grow(*t.Load); err != nil {
			return fmt.Errorf("worker: %w", err)
		}
		l.say(Said{Load: t.Load})
	}
}

// crowd is all that a capacity worker holds.
type crowd struct {
	ctx  context.Context
	spec Spec

	mu       sync.Mutex
	holder   locks.Client // of all locks
	sessions []locks.Client
	locks    int
}

// grow makes what is missing.
func (c *crowd) grow(to Load) (err error) {
	if to.Locks > c.locks && c.holder == nil {
		if c.holder, err = c.open("capacity", to.Hold); err != nil {
			return err
		}
	}
	err = atOnce(to.Locks-c.locks, func(i int) error { return c.take(c.holder, fmt.Sprintf("lock-%d", c.locks+i)) })
	if err != nil {
		return err
	}
	c.locks = max(c.locks, to.Locks)
	from := len(c.sessions)
	return atOnce(to.Sessions-from, func(i int) error { return c.session(fmt.Sprintf("session-%d", from+i)) })
}

// atOnce calls f for 0 to n-1, some at once, and returns the first error.
func atOnce(n int, f func(int) error) error {
	var wait sync.WaitGroup
	errs, turn := make(chan error, opening), make(chan int)
	for range opening {
		wait.Go(func() {
			for i := range turn {
				if err := f(i); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	go func() { wait.Wait(); close(errs) }()
	for i := range n {
		select {
		case turn <- i:
		case err := <-errs:
			if err != nil {
				close(turn)
				return err
			}
		}
	}
	close(turn)
	return <-errs // of the last ones, or closed
}

func (c *crowd) open(name string, lease time.Duration) (locks.Client, error) {
	config := c.spec.Lock
	if config.Client = name; lease > 0 {
		config.Lease = lease
	}
	ctx, cancel := context.WithTimeout(c.ctx, readyLimit)
	defer cancel()
	return locks.Table[c.spec.Backend].Open(ctx, config)
}

func (c *crowd) take(client locks.Client, key string) error {
	ctx, cancel := context.WithTimeout(c.ctx, readyLimit)
	defer cancel()
	_, err := client.Acquire(ctx, key)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// session opens one, takes a lock in it, and renews that each third of its lease, from
// a moment of its own, where it does not renew itself.
func (c *crowd) session(name string) error {
	client, err := c.open(name, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	c.mu.Lock()
	c.sessions = append(c.sessions, client)
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(c.ctx, readyLimit)
	defer cancel()
	g, err := client.Acquire(ctx, name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if e, ok := client.(locks.Extender); ok && g.Lease > 0 {
		go c.renew(e, g)
	}
	return nil
}

func (c *crowd) renew(e locks.Extender, g *locks.Grant) {
	beat := g.Lease / 3
	for wait := time.Duration(rand.Int64N(int64(beat))); sleep(c.ctx, wait); wait = beat {
		ctx, cancel := context.WithTimeout(c.ctx, beat)
		if next, err := e.Extend(ctx, g); err == nil {
			g = next
		}
		cancel()
	}
}

func (c *crowd) close() {
	if c.holder != nil {
		_ = c.holder.Close()
	}
	_ = atOnce(len(c.sessions), func(i int) error { _ = c.sessions[i].Close(); return nil })
}
