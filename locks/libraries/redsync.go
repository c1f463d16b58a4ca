package libraries

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

var redSync = Library{
	Module: "github.com/go-redsync/redsync/v4",
	About:  "redsync: LockContext, ExtendContext and UnlockContext on a go-redis client with its defaults for each node; it tells by Until() how long a grant is valid",
	On: []locks.Lock{
		{Open: openRedsync, CheckLease: wholeMillis, Promise: redsyncPromise("redlock")},
		{Open: openRedsync, CheckLease: wholeMillis, Promise: redsyncPromise("redis")},
	},
}

// redsyncDrift is the share of the lease that redsync takes off for drift.
const redsyncDrift = 0.01

func redsyncPromise(backend string) history.Promise {
	return history.Promise{Backend: backend, Leased: true, Extends: true, Tries: true, DriftFactor: redsyncDrift}
}

type redsyncClient struct {
	cfg   locks.Config
	nodes []*redis.Client
	rs    *redsync.Redsync
}

func openRedsync(_ context.Context, c locks.Config) (locks.Client, error) {
	l := &redsyncClient{cfg: c}
	var pools []redsyncredis.Pool
	for _, addr := range c.Endpoints {
		db, _ := goRedis(addr)
		l.nodes = append(l.nodes, db)
		pools = append(pools, goredis.NewPool(db))
	}
	l.rs = redsync.New(pools...)
	return l, nil
}

// Acquire implements locks.Client. The tries are without a limit, as ctx has one.
func (c *redsyncClient) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	return c.lock(ctx, key, (*redsync.Mutex).LockContext)
}

// Try implements locks.Trier.
func (c *redsyncClient) Try(ctx context.Context, key string) (*locks.Grant, error) {
	return c.lock(ctx, key, (*redsync.Mutex).TryLockContext)
}

// lock says not granted after any error: redsync has then asked every node to remove
// what the attempt may have left, and its random value names nobody who was granted.
func (c *redsyncClient) lock(ctx context.Context, key string, take func(*redsync.Mutex, context.Context) error) (*locks.Grant, error) {
	ctx, sent := watch(ctx)
	m := c.rs.NewMutex(key, redsync.WithExpiry(c.cfg.Lease), redsync.WithTries(math.MaxInt32))
	if err := take(m, ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrNotGranted, err)
	}
	return c.grant(key, m, sent), nil
}

// grant claims what Until says. The attempt that won began a lease before that, less the drift.
func (c *redsyncClient) grant(key string, m *redsync.Mutex, sent *sends) *locks.Grant {
	deadline := mono(m.Until())
	began := deadline - int64(c.cfg.Lease) + int64(float64(c.cfg.Lease)*redsyncDrift)
	at := sent.since(began - int64(time.Millisecond)) // the clocks are read apart
	return &locks.Grant{Key: key, Owner: m.Value(), Sent: at, Lease: c.cfg.Lease, Deadline: deadline, State: m}
}

// Extend implements locks.Extender.
func (c *redsyncClient) Extend(ctx context.Context, g *locks.Grant) (*locks.Grant, error) {
	ctx, sent := watch(ctx)
	m := g.State.(*redsync.Mutex)
	if err := redsyncSays(m.ExtendContext(ctx)); err != nil {
		return nil, err
	}
	return c.grant(g.Key, m, sent), nil
}

// Release implements locks.Client.
func (c *redsyncClient) Release(ctx context.Context, g *locks.Grant) error {
	return redsyncSays(g.State.(*redsync.Mutex).UnlockContext(ctx))
}

// redsyncSays makes one of its two answers. Not held is certain only where every node
// has answered, or a majority has said that another holds the key.
func redsyncSays(ok bool, err error) error {
	var node *redsync.RedisError
	var taken *redsync.ErrTaken
	switch {
	case ok:
		return nil
	case errors.Is(err, redsync.ErrExtendFailed), errors.As(err, &node) && !errors.As(err, &taken):
		return err
	}
	return fmt.Errorf("%w: %w", locks.ErrNotHeld, err)
}

// Close implements locks.Client. What is held ends with its lease.
func (c *redsyncClient) Close() error {
	var errs []error
	for _, db := range c.nodes {
		errs = append(errs, db.Close())
	}
	return errors.Join(errs...)
}
