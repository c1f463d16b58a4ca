package libraries

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

var redisLock = Library{
	Module: "github.com/bsm/redislock",
	About:  "bsm/redislock: Obtain with a linear backoff of 100 ms, Refresh, Release, on a go-redis client with its defaults; its token is random, so it fences nothing",
	On: []locks.Lock{{Open: openRedislock, CheckLease: wholeMillis, Promise: history.Promise{
		Backend: "redis", Leased: true, Extends: true, Tries: true, Validity: history.Reckoned,
	}}},
}

type redislockClient struct {
	redisEye
	cfg  locks.Config
	db   *redis.Client
	hook *stamping
	lock *redislock.Client
}

func openRedislock(_ context.Context, c locks.Config) (locks.Client, error) {
	db, hook := goRedis(c.Endpoints[0])
	return &redislockClient{redisEye: openEye(c.Endpoints[0], c.Lease), cfg: c, db: db, hook: hook, lock: redislock.New(db)}, nil
}

// Acquire implements locks.Client.
func (c *redislockClient) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	return c.obtain(ctx, key, &redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)})
}

// Try implements locks.Trier.
func (c *redislockClient) Try(ctx context.Context, key string) (*locks.Grant, error) {
	return c.obtain(ctx, key, nil)
}

func (c *redislockClient) obtain(ctx context.Context, key string, o *redislock.Options) (*locks.Grant, error) {
	called := history.Now()
	ctx, sent := watch(ctx)
	l, err := c.lock.Obtain(ctx, key, c.cfg.Lease, o)
	if errors.Is(err, redislock.ErrNotObtained) || c.hook.neverSent(err, called) {
		return nil, fmt.Errorf("%w: %w", locks.ErrNotGranted, err)
	}
	if err != nil {
		return nil, err
	}
	return c.grant(key, l, sent), nil
}

// grant reckons the deadline from the send of the last request, as the library tells
// none: the server has kept the key for a lease from then on, at least.
func (c *redislockClient) grant(key string, l *redislock.Lock, sent *sends) *locks.Grant {
	at := sent.last()
	return &locks.Grant{Key: key, Owner: l.Token(), Sent: at, Lease: c.cfg.Lease, Deadline: at.Mono + int64(c.cfg.Lease), State: l}
}

// Extend implements locks.Extender.
func (c *redislockClient) Extend(ctx context.Context, g *locks.Grant) (*locks.Grant, error) {
	ctx, sent := watch(ctx)
	l := g.State.(*redislock.Lock)
	err := l.Refresh(ctx, c.cfg.Lease, nil)
	if errors.Is(err, redislock.ErrNotObtained) {
		return nil, fmt.Errorf("%w: %w", locks.ErrNotHeld, err)
	}
	if err != nil {
		return nil, err
	}
	return c.grant(g.Key, l, sent), nil
}

// Release implements locks.Client.
func (c *redislockClient) Release(ctx context.Context, g *locks.Grant) error {
	err := g.State.(*redislock.Lock).Release(ctx)
	if errors.Is(err, redislock.ErrLockNotHeld) {
		return fmt.Errorf("%w: %w", locks.ErrNotHeld, err)
	}
	return err
}

// Close implements locks.Client. What is held ends with its lease.
func (c *redislockClient) Close() error { return errors.Join(c.db.Close(), c.eye.Close()) }
