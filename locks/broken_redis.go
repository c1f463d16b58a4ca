package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/dlmtest/dlmtest/history"
)

// brokenRedis is the entry of a variation of the redis lock. It promises what
// the sound one promises: that is what makes it broken.
func brokenRedis(name string, change func(*redisLock) Client, flaw Flaw) Lock {
	return Lock{
		Profile: "redis", Port: 6379, Broken: &flaw, CheckLease: wholeMillis,
		Promise: history.Promise{
			Backend: "broken/" + name, Leased: true, Token: true, Extends: true, Tries: true,
			Shared: true, Changes: true, Permits: true, Reentry: history.ByThread,
			Bound: 500 * time.Millisecond, About: "the redis lock, broken on purpose",
		},
		Open: func(ctx context.Context, c Config) (Client, error) {
			l, err := openRedisLock(ctx, c, firstRedis)
			if err != nil {
				return nil, err
			}
			return change(l), nil
		},
	}
}

// inTwo marks a lock that takes its key by one request and needs another.
func inTwo(l Lock) Lock {
	l.Between = true
	return l
}

type withoutOwnerCheck struct{ *redisLock }

// noOwnerCheck releases by DEL, whoever holds the key.
func noOwnerCheck(l *redisLock) Client { return withoutOwnerCheck{l} }

// Release implements Client.
func (l withoutOwnerCheck) Release(ctx context.Context, g *Grant) error {
	l.held.drop(g.Owner)
	n, err := l.db.Del(ctx, redisKey(g.Key)).Result()
	if err == nil && n == 0 {
		return ErrNotHeld
	}
	return err
}

// redisTakeForEver is redisTake without the lease.
const redisTakeForEver = `if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then return redis.call('INCR', KEYS[2]) end
return 0`

// setnxExpire takes the key first, and gives it a lease by a second request.
func setnxExpire(l *redisLock) Client {
	l.take = func(ctx context.Context, g *Grant) (int64, error) {
		token, err := l.db.Eval(ctx, redisTakeForEver, []string{redisKey(g.Key), redisToken(g.Key)}, g.Owner).Int64()
		if err != nil || token == 0 {
			return 0, err
		}
		l.cfg.between(g)
		return token, second("PEXPIRE", l.db.PExpire(ctx, redisKey(g.Key), l.cfg.Lease).Err())
	}
	return l
}

// second is an error of a second request: the key is taken by then, so it must
// not look as if nothing had been sent.
func second(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, withoutRefusal(err))
}

// setNX takes the key for a lease, without a token.
func (l *redisLock) setNX(ctx context.Context, g *Grant) (bool, error) {
	err := l.db.SetArgs(ctx, redisKey(g.Key), g.Owner, redis.SetArgs{Mode: "NX", TTL: l.cfg.Lease}).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

// clockToken uses the client's own REALTIME as token. time.Now is the clock that
// a fault can bend.
func clockToken(l *redisLock) Client {
	l.take = func(ctx context.Context, g *Grant) (int64, error) {
		if ok, err := l.setNX(ctx, g); err != nil || !ok {
			return 0, err
		}
		return time.Now().UnixMilli(), nil
	}
	return l
}

type tokenLater struct{ *redisLock }

// tokenAfterLock takes the token by a request of its own once it has the lock.
func tokenAfterLock(l *redisLock) Client {
	l.take = func(ctx context.Context, g *Grant) (int64, error) {
		ok, err := l.setNX(ctx, g)
		if err != nil || !ok {
			return 0, err
		}
		return noToken, nil
	}
	return tokenLater{l}
}

// noToken marks a grant that still lacks its token.
const noToken = -1

// Acquire implements Client.
func (l tokenLater) Acquire(ctx context.Context, key string) (*Grant, error) {
	return poll(ctx, l.delay, func() (*Grant, error) { return l.Try(ctx, key) })
}

// Try implements Trier. The lock was looked at before the token, so a pause
// between the two goes unseen.
func (l tokenLater) Try(ctx context.Context, key string) (*Grant, error) {
	g, err := l.redisLock.Try(ctx, key)
	if err != nil {
		return nil, err
	}
	l.cfg.between(g)
	req, cancel := inFlight(ctx, l.cfg.Lease)
	defer cancel()
	g.Token, err = l.db.Incr(req, redisToken(key)).Result()
	if err != nil {
		l.held.drop(g.Owner)
		return nil, l.giveUp(ctx, g, second("INCR", err))
	}
	return g, nil
}

type withoutRenewal struct{ *redisLock }

// noRenewal extends from memory: while the client has not released, it holds.
func noRenewal(l *redisLock) Client { return withoutRenewal{l} }

// Extend implements Extender and asks nobody.
func (l withoutRenewal) Extend(_ context.Context, g *Grant) (*Grant, error) {
	if !l.held.has(g.Owner) {
		return nil, ErrNotHeld
	}
	sent := history.Now()
	return renewed(g, sent, sent.Mono+int64(l.cfg.Lease)), nil
}
