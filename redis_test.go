package dlmtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisLock is a lock on one Redis, as small as can be. One named no-owner gives back whoever's lock is there, and says so
// even of none. before, if not nil, is called before each request.
func redisLock(name string, before func()) Lock {
	return Lock{Name: name, Backends: []string{"redis"}, Promise: Promise{Leased: true, Until: true, Sent: true},
		Open: func(_ context.Context, c Config) (Client, error) {
			return redisClient{redis.NewClient(&redis.Options{Addr: c.Endpoints[0]}), c.Lease, before, name != "no-owner"}, nil
		}}
}

type redisClient struct {
	db     *redis.Client
	lease  time.Duration
	before func()
	checks bool
}

func (c redisClient) Close() error { return c.db.Close() }

func (c redisClient) Acquire(ctx context.Context, key string) (Grant, error) {
	for owner := rand.Text(); ; {
		sent := time.Now()
		if c.before != nil {
			c.before()
		}
		took, err := c.db.SetNX(ctx, key, owner, c.lease).Result()
		if took || err != nil {
			return redisGrant{c, key, owner, sent}, err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ErrHeld, ctx.Err())
		}
	}
}

type redisGrant struct {
	redisClient
	key, owner string
	sent       time.Time
}

func (g redisGrant) Sent() time.Time  { return g.sent }
func (g redisGrant) Until() time.Time { return g.sent.Add(g.lease) }

func (g redisGrant) Release(ctx context.Context) error {
	script := `if ARGV[2] == '0' or redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`
	n, err := g.db.Eval(ctx, script, []string{g.key}, g.owner, map[bool]int{true: 1}[g.checks]).Int64()
	if err == nil && n == 0 && g.checks {
		return ErrNotHeld
	}
	return err
}
