package locks

import (
	"context"

	"github.com/dlmtest/dlmtest/history"
)

// countedApart counts the permits by one request and takes one by the next.
type countedApart struct{ *redisLock }

func semaphoreGet(l *redisLock) Client { return countedApart{l} }

// redisPermitBlind is redisPermit without its count.
const redisPermitBlind = redisPurge + `for i = 1, ARGV[3] do redis.call('ZADD', KEYS[1], now + ARGV[2] * 1000, ARGV[1] .. '#' .. i) end
return redis.call('INCR', KEYS[2])`

// AcquirePermits implements Permitter: two clients can count the same free permit.
func (l countedApart) AcquirePermits(ctx context.Context, key string, n, of int) (*Grant, error) {
	return poll(ctx, l.delay, func() (*Grant, error) {
		out, err := l.db.Eval(ctx, redisPurge+"return redis.call('ZCARD', KEYS[1])", []string{redisKey(key) + ":permits"}).Int()
		if err != nil {
			return nil, refused(err) // nothing was asked for
		}
		if out+n > of {
			return nil, refused(ErrHeld)
		}
		return l.permits(ctx, key, n, of, redisPermitBlind)
	})
}

// blindWriter takes no notice of readers.
type blindWriter struct{ *redisLock }

func readersIgnored(l *redisLock) Client { return blindWriter{l} }

// AcquireAs implements ReadWriter.
func (l blindWriter) AcquireAs(ctx context.Context, key string, mode history.Mode) (*Grant, error) {
	return l.share(ctx, key, mode,
		`if redis.call('SET', KEYS[3], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('INCR', KEYS[2]) end return 0`)
}

// freedAtOnce gives back all at the first release.
type freedAtOnce struct{ *redisLock }

func reentrantOnce(l *redisLock) Client { return freedAtOnce{l} }

// ReleaseBy implements Reenterer. It counts for itself what it says is left.
func (l freedAtOnce) ReleaseBy(ctx context.Context, g *Grant) (int, error) {
	if _, err := l.unnest(ctx, g, `if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return -1 end
redis.call('DEL', KEYS[1]) return 0`); err != nil && g.Depth > 1 {
		return 0, err
	}
	return max(g.Depth-1, 0), nil
}

// deafKeeper renews, and takes no answer for an answer.
type deafKeeper struct{ *redisLock }

func deafWatchdog(l *redisLock) Client { return deafKeeper{l} }

// Keep implements Keeper. It tells what was renewed, and never of a loss.
func (l deafKeeper) Keep(ctx context.Context, g *Grant, renewed func(*Grant), _ func(string)) func() {
	return Keep(ctx, toldOf{l.redisLock, renewed}, g, GivesUp, func() {}, func(string) {})
}

// toldOf is an Extender that tells of each renewal, for a Keeper.
type toldOf struct {
	Extender
	renewed func(*Grant)
}

// Extend implements Extender.
func (t toldOf) Extend(ctx context.Context, g *Grant) (*Grant, error) {
	next, err := t.Extender.Extend(ctx, g)
	if err == nil {
		t.renewed(next)
	}
	return next, err
}

// shyTry says that another holds the lock without asking.
type shyTry struct{ *redisLock }

func triesShy(l *redisLock) Client { return shyTry{l} }

// Try implements Trier. It asks every other time.
func (l shyTry) Try(ctx context.Context, key string) (*Grant, error) {
	if l.owners.n.Load()%2 == 0 {
		l.owners.next()
		return nil, refused(ErrHeld)
	}
	return l.redisLock.Try(ctx, key)
}

// Acquire implements Client. It waits as it should.
func (l shyTry) Acquire(ctx context.Context, key string) (*Grant, error) {
	return l.redisLock.Acquire(ctx, key)
}

// ticketIgnored takes a ticket as its place, and asks again and again all the same.
type ticketIgnored struct{ *redisLock }

func ignoreTicket(l *redisLock) Client { return ticketIgnored{l} }

// Acquire implements Client. The token is the ticket.
func (l ticketIgnored) Acquire(ctx context.Context, key string) (*Grant, error) {
	ticket, err := l.db.Incr(ctx, redisToken(key)).Result()
	if err != nil {
		return nil, refused(err) // a ticket locks nothing
	}
	return poll(ctx, l.delay, func() (*Grant, error) {
		g := &Grant{Key: key, Owner: l.owners.next(), Lease: l.cfg.Lease}
		return l.ask(ctx, g, func(ctx context.Context, g *Grant) (int64, error) {
			if taken, err := l.setNX(ctx, g); err != nil || !taken {
				return 0, err
			}
			return ticket, nil
		})
	})
}

// promisesOrder is a lock that promises the order of arrival, whatever it does.
func promisesOrder(l Lock) Lock {
	l.Promise.Order = true
	return l
}

// brokenKinds are the controls for kinds of lock: what each breaks, where.
var (
	flawSemaphore = Flaw{Property: "permits", Scenario: "semaphore",
		About: "the permits are counted by one request and taken by the next, as where a list is read, its length looked at, and one more pushed. " +
			"It shows when two clients count the same free permit, which contention alone brings about."}
	flawReadWrite = Flaw{Property: "rw-exclusion", Scenario: "read-write",
		About: "a writer is let in although readers hold the lock: only writers are compared. Contention of readers and " +
			"writers shows it; same-reads breaks too."}
	flawReentrant = Flaw{Property: "reentrancy", Scenario: "reentrant",
		About: "the first release gives back all holds, as where the owner is remembered and not how often it asked. " +
			"It shows when another client waits while a holder has given back its inner hold."}
	flawWatchdog = Flaw{Property: "loss-noticed", Scenario: "watchdog-cut",
		About: "the watchdog swallows a renewal that failed and tells nobody. It shows when the holder is cut off from " +
			"the servers and works on past its lease."}
	flawTry = Flaw{Property: "honest-refusal", Scenario: "try",
		About: "a try says that another holds the lock without having asked, as a client with a stale cache does. It shows when nobody holds it."}
	flawHerd = Flaw{Property: "herd", Scenario: "herd",
		About: "all waiters watch the node of the holder, so a release wakes every one of them (the first ZooKeeper " +
			"recipe; its documentation calls it the herd effect). " +
			"It shows when many wait."}
	flawFair = Flaw{Property: "fairness", Scenario: "fairness",
		About: "each waiter takes a ticket, which is its place and its token, and then asks again and again instead of waiting for its turn. " +
			"It shows when one that came later asks first after a release; fencing-monotonic breaks too."}
)
