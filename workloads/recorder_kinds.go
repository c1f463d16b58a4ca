package workloads

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// take records one way of asking for a grant.
func (p *process) take(ctx context.Context, op history.Op, ask func(context.Context) (*locks.Grant, error)) (g *locks.Grant, err error) {
	limit := time.Duration(op.Limit)
	if limit == 0 {
		limit = p.rec.spec.Wait
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = p.call(op, func(done *history.Op) error {
		if g, err = ask(ctx); err == nil {
			claim(done, g)
		}
		return err
	})
	return g, err
}

// lacks is an error of a kind that the lock does not offer. Nothing was asked.
func lacks(what string) error {
	return fmt.Errorf("%w: the lock offers no %s", locks.ErrNotGranted, what)
}

func (p *process) acquireWithin(ctx context.Context, key string, limit time.Duration) (*locks.Grant, error) {
	return p.take(ctx, history.Op{F: history.Acquire, Key: key, Limit: int64(limit)}, func(ctx context.Context) (*locks.Grant, error) {
		return p.rec.lock.Acquire(ctx, key)
	})
}

func (p *process) try(ctx context.Context, key string) (*locks.Grant, error) {
	return p.take(ctx, history.Op{F: history.Try, Key: key}, func(ctx context.Context) (*locks.Grant, error) {
		if l, ok := p.rec.lock.(locks.Trier); ok {
			return l.Try(ctx, key)
		}
		return nil, lacks("try")
	})
}

func (p *process) acquireAs(ctx context.Context, key string, mode history.Mode) (*locks.Grant, error) {
	return p.take(ctx, history.Op{F: history.Acquire, Key: key, Mode: mode}, func(ctx context.Context) (*locks.Grant, error) {
		if l, ok := p.rec.lock.(locks.ReadWriter); ok {
			return l.AcquireAs(ctx, key, mode)
		}
		return nil, lacks("read-write lock")
	})
}

// change turns g into the other mode; false: it is held as it was, or not at all.
func (p *process) change(ctx context.Context, g *locks.Grant, mode history.Mode) (*locks.Grant, bool) {
	l, ok := p.rec.lock.(locks.Changer)
	if !ok {
		return g, false
	}
	op := history.Op{F: history.Change, Key: g.Key, Owner: g.Owner, Token: g.Token, Mode: mode}
	next, err := p.take(ctx, op, func(ctx context.Context) (*locks.Grant, error) { return l.Change(ctx, g, mode) })
	if err != nil {
		return g, false
	}
	return next, true
}

func (p *process) acquirePermits(ctx context.Context, key string, n int) (*locks.Grant, error) {
	return p.take(ctx, history.Op{F: history.Acquire, Key: key, Permits: int32(n)}, func(ctx context.Context) (*locks.Grant, error) {
		if l, ok := p.rec.lock.(locks.Permitter); ok {
			return l.AcquirePermits(ctx, key, n, p.rec.spec.Permits)
		}
		return nil, lacks("semaphore")
	})
}

func (p *process) acquireBy(ctx context.Context, key, thread string) (*locks.Grant, error) {
	return p.take(ctx, history.Op{F: history.Acquire, Key: key}, func(ctx context.Context) (*locks.Grant, error) {
		if l, ok := p.rec.lock.(locks.Reenterer); ok {
			return l.AcquireBy(ctx, key, thread)
		}
		return nil, lacks("reentrant lock")
	})
}

func (p *process) releaseBy(ctx context.Context, g *locks.Grant) error {
	return p.call(history.Op{F: history.Release, Key: g.Key, Owner: g.Owner, Token: g.Token}, func(done *history.Op) error {
		left, err := p.rec.lock.(locks.Reenterer).ReleaseBy(ctx, g) // acquireBy gave it
		done.Depth = int32(left)
		return err
	})
}

// acquireAll takes all that a key has to give, in the way of its kind: alone, as the
// writer, or all permits, so that one that was lost for good is found.
func (p *process) acquireAll(ctx context.Context, key string) (*locks.Grant, error) {
	switch p.rec.spec.Kind {
	case history.ReadWrite:
		return p.acquireAs(ctx, key, history.Exclusive)
	case history.Semaphore:
		return p.acquirePermits(ctx, key, p.rec.spec.Permits)
	case history.Reentrant:
		return p.acquireBy(ctx, key, "final")
	}
	return p.acquire(ctx, key)
}

// giveBack releases what acquireAll took.
func (p *process) giveBack(ctx context.Context, g *locks.Grant) error {
	if p.rec.spec.Kind == history.Reentrant {
		return p.releaseBy(ctx, g)
	}
	return p.release(ctx, g)
}

// about is a random duration in [d/2, 3d/2), from a generator of its user's own.
func about(random *rand.Rand, d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return d/2 + time.Duration(random.Int64N(int64(d)))
}
