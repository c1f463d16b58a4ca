package locks

import (
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// redisTakeOver takes a key also from a holder that still has three quarters of its lease, as one that
// "must be stale by now".
const redisTakeOver = `if redis.call('PTTL', KEYS[1]) > ARGV[2] * 3 / 4 then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return redis.call('INCR', KEYS[2])`

// earlyRevoke breaks locks that it takes for stale long before their lease has ended.
func earlyRevoke(l *redisLock) Client {
	l.take = func(ctx context.Context, g *Grant) (int64, error) {
		return l.write(ctx, redisTakeOver, []string{redisKey(g.Key), redisToken(g.Key)}, g.Owner, l.cfg.Lease.Milliseconds())
	}
	return l
}

// permitLeaker gives back one permit of a grant, however many it took.
type permitLeaker struct{ *redisLock }

func permitLeak(l *redisLock) Client { return permitLeaker{l} }

// redisPermitLeak frees the first permit; what is left of the grant has no lease any more.
const redisPermitLeak = redisPurge + `local n, i = redis.call('ZREM', KEYS[1], ARGV[1] .. '#1'), 2
while redis.call('ZSCORE', KEYS[1], ARGV[1] .. '#' .. i) do redis.call('ZADD', KEYS[1], '+inf', ARGV[1] .. '#' .. i) i = i + 1 end
return n`

// AcquirePermits implements Permitter. What frees the grant is the leak.
func (l permitLeaker) AcquirePermits(ctx context.Context, key string, n, of int) (*Grant, error) {
	g, err := l.redisLock.AcquirePermits(ctx, key, n, of)
	if err == nil {
		h := g.redisHold()
		h.free = redisPermitLeak
		g.State = h
	}
	return g, err
}

// queueToken takes the token when it begins to wait.
type queueToken struct{ *redisLock }

func tokenAtQueue(l *redisLock) Client { return queueToken{l} }

// Acquire implements Client. The queue has no order, and the token is the place in it.
func (l queueToken) Acquire(ctx context.Context, key string) (*Grant, error) {
	token, err := l.db.Incr(ctx, redisToken(key)).Result()
	if err != nil {
		return nil, refused(err) // a token locks nothing
	}
	return poll(ctx, l.delay, func() (*Grant, error) {
		g := &Grant{Key: key, Owner: l.owners.next(), Lease: l.cfg.Lease}
		return l.ask(ctx, g, func(ctx context.Context, g *Grant) (int64, error) {
			if taken, err := l.setNX(ctx, g); err != nil || !taken {
				return 0, err
			}
			return token, nil
		})
	})
}

// yesSayer asks the server, and says ok whatever that answers.
type yesSayer struct{ *redisLock }

func claimsAlwaysOK(l *redisLock) Client { return yesSayer{l} }

// Release implements Client.
func (l yesSayer) Release(ctx context.Context, g *Grant) error {
	if err := l.redisLock.Release(ctx, g); !errors.Is(err, ErrNotHeld) {
		return err
	}
	return nil
}

// Extend implements Extender.
func (l yesSayer) Extend(ctx context.Context, g *Grant) (*Grant, error) {
	sent := history.Now()
	next, err := l.redisLock.Extend(ctx, g)
	if errors.Is(err, ErrNotHeld) {
		return renewed(g, sent, sent.Mono+int64(l.cfg.Lease)), nil
	}
	return next, err
}

var redisLife = regexp.MustCompile(`(?m)^run_id:(\w+)`)

// redisTakeAnew is redisTake of a server that knows nothing of what another process of it has granted.
const redisTakeAnew = `if redis.call('GET', KEYS[3]) ~= ARGV[3] then
  redis.call('DEL', KEYS[1], KEYS[2]) redis.call('SET', KEYS[3], ARGV[3]) end
` + redisTake

// forgetsAfterRestart forgets its locks and its counter with the server's process, as if they had been
// in its memory alone.
func forgetsAfterRestart(l *redisLock) Client {
	l.take = func(ctx context.Context, g *Grant) (int64, error) {
		info, err := l.db.Info(ctx, "server").Result()
		if err != nil {
			return 0, refused(err) // nothing was asked for
		}
		key := redisKey(g.Key)
		return l.write(ctx, redisTakeAnew, []string{key, redisToken(g.Key), key + ":life"},
			g.Owner, l.cfg.Lease.Milliseconds(), redisLife.FindString(info))
	}
	return l
}

// redisTakeSwept is redisTake of a key that, where nobody releases it, is swept away late.
const redisTakeSwept = `if redis.call('EXISTS', KEYS[1], KEYS[3]) > 0 then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('SET', KEYS[3], ARGV[1], 'PX', ARGV[3])
return redis.call('INCR', KEYS[2])`

// redisFreeSwept frees the key and what would be swept.
const redisFreeSwept = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1], KEYS[2]) end return 0`

// sweepLeases is how many leases a dead holder's key stays for.
const sweepLeases = 4

// slowHandover hands over what is released at once, and what the dead leave only by a slow sweep.
func slowHandover(l *redisLock) Client {
	l.take = func(ctx context.Context, g *Grant) (int64, error) {
		key, swept := redisKey(g.Key), redisKey(g.Key)+":swept"
		g.State = redisHold{[]string{key, swept}, redisFreeSwept, redisExtend}
		return l.write(ctx, redisTakeSwept, []string{key, redisToken(g.Key), swept},
			g.Owner, l.cfg.Lease.Milliseconds(), sweepLeases*l.cfg.Lease.Milliseconds())
	}
	return l
}

// What each of these controls breaks, and where. Their runs in the self-test have a short lease, as no longer
// one is needed for it to show.
var (
	flawEarlyRevoke = Flaw{
		Property: "lease-exclusion", Scenario: "long-work", Lease: time.Second,
		About: "a key is taken from its holder once a quarter of its lease is over, as where stale locks are broken by age. " +
			"It shows when a healthy holder works for longer than that while another waits.",
	}
	flawPermitLeak = Flaw{
		Property: "deadlock-freedom", Scenario: "semaphore", Lease: time.Second,
		About: "a release gives back one permit, however many its grant took, and the rest has no lease. " +
			"It shows when a client that took two has released, and all are asked for.",
	}
	flawTokenAtQueue = Flaw{
		Property: "fencing-monotonic", Scenario: "baseline", Lease: time.Second,
		About: "the token is taken when a client begins to wait, and the waiters have no order. " +
			"It shows when one that began later is granted first, which contention alone brings about.",
	}
	flawClaimsAlwaysOK = Flaw{
		Property: "honest-claims", Scenario: "naive-release", Lease: time.Second,
		About: "extend and release say ok whatever the server answers (go-redsync/redsync PR #61). " +
			"It shows when a holder that lost its lock releases or renews it.",
	}
	flawForgetsAfterRestart = Flaw{
		Property: "fencing-monotonic", Scenario: "restart-all", Lease: time.Second,
		About: "locks and counter are kept as in the server's memory, though its disk loses nothing. " +
			"It shows when the server is started again: tokens begin anew.",
	}
	flawSlowHandover = Flaw{
		Property: "recovery", Scenario: "orphan", Lease: time.Second,
		About: "what is released is free at once, and what a dead holder leaves only after four leases, as where a job sweeps up. " +
			"It shows when a holder dies while others wait.",
	}
)
