package locks

import (
	"context"
	"errors"
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// redisHold is the state of a grant of another kind than a mutex: the scripts that
// free and renew it, each of KEYS, the owner and, to renew, the lease in ms.
type redisHold struct {
	keys         []string
	free, extend string
}

// hold is how g is freed and renewed.
func (g *Grant) redisHold() redisHold {
	if h, ok := g.State.(redisHold); ok {
		return h
	}
	return redisHold{[]string{redisKey(g.Key)}, redisFree, redisExtend}
}

// The permits of a semaphore are the members of a sorted set, each with the time in
// µs, by the server's own REALTIME, at which it ends. One script counts and adds, or
// two clients could count the same free permit.
const (
	redisNow    = "local t = redis.call('TIME') local now = t[1] * 1000000 + t[2] "
	redisPurge  = redisNow + "redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now) "
	redisPermit = redisPurge + `if redis.call('ZCARD', KEYS[1]) + ARGV[3] > tonumber(ARGV[4]) then return 0 end
for i = 1, ARGV[3] do redis.call('ZADD', KEYS[1], now + ARGV[2] * 1000, ARGV[1] .. '#' .. i) end
return redis.call('INCR', KEYS[2])`
	redisPermitFree = redisPurge + `local n, i = 0, 1
while redis.call('ZREM', KEYS[1], ARGV[1] .. '#' .. i) == 1 do n = n + 1 i = i + 1 end
return n`
	redisPermitExtend = redisPurge + `local i = 1
while redis.call('ZSCORE', KEYS[1], ARGV[1] .. '#' .. i) do
  redis.call('ZADD', KEYS[1], now + ARGV[2] * 1000, ARGV[1] .. '#' .. i) i = i + 1 end
return i - 1`
)

// AcquirePermits implements Permitter by polling.
func (l *redisLock) AcquirePermits(ctx context.Context, key string, n, of int) (*Grant, error) {
	return l.permits(ctx, key, n, of, redisPermit)
}

func (l *redisLock) permits(ctx context.Context, key string, n, of int, script string) (*Grant, error) {
	if n < 1 || n > of {
		return nil, fmt.Errorf("%w: %w: %d permits of %d", ErrNotGranted, ErrConfig, n, of)
	}
	set := redisKey(key) + ":permits"
	return poll(ctx, l.delay, func() (*Grant, error) {
		g := &Grant{Key: key, Owner: l.owners.next(), Lease: l.cfg.Lease, Permits: n, State: redisHold{[]string{set}, redisPermitFree, redisPermitExtend}}
		return l.ask(ctx, g, func(ctx context.Context, g *Grant) (int64, error) {
			return l.write(ctx, script, []string{set, redisToken(key)}, g.Owner, l.cfg.Lease.Milliseconds(), n, of)
		})
	})
}

// The readers are a sorted set as the permits are; the writer is a key with a lease.
const (
	// KEYS: readers, token, writer, the reader that waits to become the writer.
	redisWriter = redisPurge + `if redis.call('ZCARD', KEYS[1]) > 0 then return 0 end
if redis.call('SET', KEYS[3], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('INCR', KEYS[2]) end
return 0`
	redisReader = redisPurge + `if redis.call('EXISTS', KEYS[3], KEYS[4]) > 0 then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2] * 1000, ARGV[1])
return redis.call('INCR', KEYS[2])`
	redisShareFree = redisPurge + `if redis.call('GET', KEYS[4]) == ARGV[1] then redis.call('DEL', KEYS[4]) end
if redis.call('GET', KEYS[3]) == ARGV[1] then return redis.call('DEL', KEYS[3]) end
return redis.call('ZREM', KEYS[1], ARGV[1])`
	redisShareExtend = redisPurge + `if redis.call('GET', KEYS[3]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[3], ARGV[2]) end
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then redis.call('ZADD', KEYS[1], now + ARGV[2] * 1000, ARGV[1]) return 1 end
return 0`
	// -1: not held; -2: another reader waits to become the writer; 0: readers are left; else the token, above those of readers that have left.
	redisUp = redisPurge + `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return -1 end
local other = redis.call('GET', KEYS[4])
if other and other ~= ARGV[1] then return -2 end
redis.call('SET', KEYS[4], ARGV[1], 'PX', ARGV[2])
redis.call('ZADD', KEYS[1], now + ARGV[2] * 1000, ARGV[1])
if redis.call('ZCARD', KEYS[1]) > 1 then return 0 end
redis.call('DEL', KEYS[1], KEYS[4])
redis.call('SET', KEYS[3], ARGV[1], 'PX', ARGV[2])
return redis.call('INCR', KEYS[2])`
	redisUpStop = `if redis.call('GET', KEYS[4]) == ARGV[1] then return redis.call('DEL', KEYS[4]) end return 0`
	redisDown   = redisPurge + `if redis.call('GET', KEYS[3]) ~= ARGV[1] then return -1 end
redis.call('DEL', KEYS[3])
redis.call('ZADD', KEYS[1], now + ARGV[2] * 1000, ARGV[1])
return 1`
)

// redisShare are the keys of a read-write lock.
func redisShare(key string) []string {
	k := redisKey(key)
	return []string{k + ":readers", redisToken(key), k + ":writer", k + ":upgrade"}
}

// AcquireAs implements ReadWriter by polling. Readers are not kept out by a writer
// that waits: it may starve.
func (l *redisLock) AcquireAs(ctx context.Context, key string, mode history.Mode) (*Grant, error) {
	return l.share(ctx, key, mode, redisWriter)
}

func (l *redisLock) share(ctx context.Context, key string, mode history.Mode, writer string) (*Grant, error) {
	script := redisReader
	if mode != history.Shared {
		script = writer
	}
	keys := redisShare(key)
	return poll(ctx, l.delay, func() (*Grant, error) {
		g := &Grant{Key: key, Owner: l.owners.next(), Lease: l.cfg.Lease, Mode: mode, State: redisHold{keys, redisShareFree, redisShareExtend}}
		return l.ask(ctx, g, func(ctx context.Context, g *Grant) (int64, error) {
			return l.write(ctx, script, keys, g.Owner, l.cfg.Lease.Milliseconds())
		})
	})
}

// errUpgrade is why a reader cannot become the writer, however long it waits.
var errUpgrade = errors.New("another reader waits to become the writer")

// Change implements Changer.
func (l *redisLock) Change(ctx context.Context, g *Grant, mode history.Mode) (*Grant, error) {
	script := redisDown
	if mode == history.Exclusive {
		script = redisUp
	}
	keys := redisShare(g.Key)
	next, err := poll(ctx, l.delay, func() (*Grant, error) {
		req, cancel := inFlight(ctx, l.cfg.Lease)
		defer cancel()
		sent := history.Now()
		n, err := l.write(req, script, keys, g.Owner, l.cfg.Lease.Milliseconds())
		switch {
		case err != nil:
			return nil, fmt.Errorf("locks: redis: change of %s: %w", g.Key, err)
		case n == -1:
			return nil, ErrNotHeld
		case n == -2:
			return nil, fmt.Errorf("%w", errUpgrade)
		case n == 0:
			return nil, refused(ErrHeld)
		}
		next := renewed(g, sent, sent.Mono+int64(l.cfg.Lease))
		if next.Mode = mode; mode == history.Exclusive {
			next.Token = n
		}
		return next, nil
	})
	if errors.Is(err, errUpgrade) {
		return nil, refused(err)
	}
	if errors.Is(err, ErrNotGranted) {
		req, cancel := inFlight(ctx, cleanup)
		defer cancel()
		_ = l.db.Eval(req, redisUpStop, keys, g.Owner).Err() // at worst it ends with its lease
	}
	return next, err
}

// A reentrant lock is a hash: who holds it, under which owner, with which token, how often.
const (
	redisNest = `if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], 'holder', ARGV[3], 'owner', ARGV[1], 'token', redis.call('INCR', KEYS[2]))
elseif redis.call('HGET', KEYS[1], 'holder') ~= ARGV[3] then return {0} end
local n = redis.call('HINCRBY', KEYS[1], 'count', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {n, tonumber(redis.call('HGET', KEYS[1], 'token')), redis.call('HGET', KEYS[1], 'owner')}`
	redisUnnest = `if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return -1 end
local n = redis.call('HINCRBY', KEYS[1], 'count', -1)
if n <= 0 then redis.call('DEL', KEYS[1]) return 0 end
return n`
	redisNestFree   = `if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`
	redisNestExtend = `if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`
)

// AcquireBy implements Reenterer by polling. The name of the holder is this session's
// own: a client that was killed and started again is another.
func (l *redisLock) AcquireBy(ctx context.Context, key, thread string) (*Grant, error) {
	keys := []string{redisKey(key) + ":nested", redisToken(key)}
	return poll(ctx, l.delay, func() (*Grant, error) {
		g := &Grant{Key: key, Owner: l.owners.next(), Lease: l.cfg.Lease, Depth: 1, State: redisHold{keys, redisNestFree, redisNestExtend}}
		return l.ask(ctx, g, func(ctx context.Context, g *Grant) (int64, error) {
			return l.nest(ctx, keys, g, l.life+"/"+thread)
		})
	})
}

func (l *redisLock) nest(ctx context.Context, keys []string, g *Grant, holder string) (int64, error) {
	got, err := l.db.Eval(ctx, redisNest, keys, g.Owner, l.cfg.Lease.Milliseconds(), holder).Slice()
	if err != nil || len(got) < 3 {
		return 0, err
	}
	depth, _ := got[0].(int64)
	token, _ := got[1].(int64)
	g.Depth = int(depth)
	g.Owner, _ = got[2].(string)
	return token, nil
}

// ReleaseBy implements Reenterer.
func (l *redisLock) ReleaseBy(ctx context.Context, g *Grant) (int, error) {
	return l.unnest(ctx, g, redisUnnest)
}

func (l *redisLock) unnest(ctx context.Context, g *Grant, script string) (int, error) {
	left, err := l.db.Eval(ctx, script, g.redisHold().keys, g.Owner).Int()
	switch {
	case err != nil:
		return 0, err
	case left < 0:
		l.held.drop(g.Owner)
		return 0, ErrNotHeld
	case left == 0:
		l.held.drop(g.Owner)
	}
	return left, nil
}
