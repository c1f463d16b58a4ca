package locks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/dlmtest/dlmtest/history"
)

// Scripts run with EVAL and not EVALSHA: always one request, so one send moment.
const (
	// The counter rises in the same script as the SET, so no other grant can
	// come between a lock and its token.
	redisTake = `if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return redis.call('INCR', KEYS[2]) end
return 0`
	redisFree = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`
	redisExtend = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`
)

// redisKey is the key of the lock; its hash tag keeps the counter beside it.
func redisKey(key string) string   { return "dlmtest:{" + key + "}" }
func redisToken(key string) string { return redisKey(key) + ":token" }

// quietRedis stops go-redis from printing what it also returns as an error; it
// has one logger for the whole program.
var quietRedis = sync.OnceFunc(func() { redis.SetLogger(quiet{}) })

// openRedis makes a client that sends every command exactly once: a silent
// retry would make one acquire of two, and count its deadline from the wrong send.
func openRedis(addr string, timeout time.Duration) *redis.Client {
	quietRedis()
	return redis.NewClient(&redis.Options{
		Addr: addr, MaxRetries: -1, DialerRetries: 1,
		DialTimeout: timeout, ReadTimeout: timeout, WriteTimeout: timeout,
		ContextTimeoutEnabled: true,
		DisableIdentity:       true, Protocol: 2, // no extra commands on connect
	})
}

// redisLock is the lock of one Redis node: SET NX PX with a random owner, and a
// counter as token.
type redisLock struct {
	cfg Config
	// take asks for g and returns its token; 0: another holds the key.
	take    func(ctx context.Context, g *Grant) (int64, error)
	db, eye *redis.Client // eye is Holder's own connection
	owners  owners
	life    string // this session's name as a holder of reentrant locks
	delay   *jitter
	held    holdings
}

// OpenRedis opens a session with the first endpoint.
func OpenRedis(ctx context.Context, c Config) (Client, error) {
	l, err := openRedisLock(ctx, c, firstRedis)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func firstRedis(c Config) *redis.Client { return openRedis(c.Endpoints[0], c.Lease) }

func openRedisLock(ctx context.Context, c Config, dial func(Config) *redis.Client) (*redisLock, error) {
	if err := checkRedis(c); err != nil {
		return nil, err
	}
	l := &redisLock{
		cfg: c, db: dial(c), eye: dial(c),
		owners: owners{client: c.Client}, delay: newJitter(c, 5*time.Millisecond, 30*time.Millisecond),
	}
	l.take, l.life = l.takeAtOnce, l.owners.next()
	if err := l.db.Ping(ctx).Err(); err != nil {
		_ = l.db.Close()
		_ = l.eye.Close()
		return nil, fmt.Errorf("locks: redis at %v does not answer: %w", c.Endpoints, err)
	}
	return l, nil
}

// checkRedis refuses what no node can serve.
func checkRedis(c Config) error {
	if len(c.Endpoints) == 0 {
		return errors.New("locks: redis: no endpoint")
	}
	return wholeMillis(c.Lease)
}

// wholeMillis refuses a lease that the protocol would round, as PX and a
// ZooKeeper session do.
func wholeMillis(lease time.Duration) error {
	if lease < time.Millisecond || lease%time.Millisecond != 0 {
		return fmt.Errorf("%w: leases are whole milliseconds here; ask for at least 1ms, not %v", ErrConfig, lease)
	}
	return nil
}

// Acquire implements Client by polling.
func (l *redisLock) Acquire(ctx context.Context, key string) (*Grant, error) {
	return poll(ctx, l.delay, func() (*Grant, error) { return l.Try(ctx, key) })
}

// takeAtOnce takes key and token in one request.
func (l *redisLock) takeAtOnce(ctx context.Context, g *Grant) (int64, error) {
	return l.write(ctx, redisTake, []string{redisKey(g.Key), redisToken(g.Key)}, g.Owner, l.cfg.Lease.Milliseconds())
}

// Try implements Trier.
func (l *redisLock) Try(ctx context.Context, key string) (*Grant, error) {
	return l.ask(ctx, &Grant{Key: key, Owner: l.owners.next(), Lease: l.cfg.Lease}, l.take)
}

// ask sends the one request that grants g, by take, and settles what came of it.
func (l *redisLock) ask(ctx context.Context, g *Grant, take func(context.Context, *Grant) (int64, error)) (*Grant, error) {
	req, cancel := inFlight(ctx, l.cfg.Lease)
	defer cancel()
	g.Sent = history.Now()
	g.Deadline = g.Sent.Mono + int64(l.cfg.Lease)
	token, err := take(req, g)
	switch {
	case err != nil && redisUntouched(err):
		return nil, refused(err)
	case errors.Is(err, errUnreplicated):
		return nil, l.giveUp(ctx, g, err)
	case err != nil:
		// The request may have been served, or may still arrive after this removal:
		// it is worth a try, and it settles nothing.
		_, _ = l.free(ctx, g)
		return nil, fmt.Errorf("locks: redis: acquire of %s: %w", g.Key, err)
	case token == 0:
		return nil, refused(ErrHeld)
	}
	g.Token = token
	if g.Valid() <= 0 {
		return nil, l.giveUp(ctx, g, errStale)
	}
	l.held.add(g)
	return g, nil
}

// giveUp removes a grant that came too late, or too weak, to be one. Of a hold within
// a hold it takes back one: the outer ones may have been renewed meanwhile.
func (l *redisLock) giveUp(ctx context.Context, g *Grant, why error) error {
	_, err := l.undo(ctx, g)
	if err != nil && !errors.Is(err, ErrNotHeld) {
		return fmt.Errorf("locks: redis: %w, and its removal failed: %w", why, err)
	}
	return refused(why)
}

func (l *redisLock) undo(ctx context.Context, g *Grant) (int64, error) {
	if g.Depth <= 1 {
		return l.free(ctx, g)
	}
	req, cancel := inFlight(ctx, cleanup)
	defer cancel()
	left, err := l.ReleaseBy(req, g)
	return int64(left), err
}

func (l *redisLock) free(ctx context.Context, g *Grant) (int64, error) {
	req, cancel := inFlight(ctx, cleanup)
	defer cancel()
	h := g.redisHold()
	return l.db.Eval(req, h.free, h.keys, g.Owner).Int64()
}

// Release implements Client.
func (l *redisLock) Release(ctx context.Context, g *Grant) error {
	l.held.drop(g.Owner)
	h := g.redisHold()
	n, err := l.db.Eval(ctx, h.free, h.keys, g.Owner).Int64()
	if err == nil && n == 0 {
		return ErrNotHeld
	}
	return err
}

// Extend implements Extender.
func (l *redisLock) Extend(ctx context.Context, g *Grant) (*Grant, error) {
	sent := history.Now()
	h := g.redisHold()
	n, err := l.write(ctx, h.extend, h.keys, g.Owner, l.cfg.Lease.Milliseconds())
	if err == nil && n == 0 {
		err = ErrNotHeld
	}
	if err != nil {
		return nil, err
	}
	return renewed(g, sent, sent.Mono+int64(l.cfg.Lease)), nil
}

// renewed is g with a later claim.
func renewed(g *Grant, sent history.Stamp, deadline int64) *Grant {
	r := *g
	r.Sent, r.Deadline = sent, max(deadline, g.Deadline)
	return &r
}

// Holder implements Inspector.
func (l *redisLock) Holder(ctx context.Context, key string) (Holder, error) {
	return readHolder(ctx, l.eye, key)
}

// readHolder reads GET and PTTL in one MULTI: apart, a key that expires between
// would be half told.
func readHolder(ctx context.Context, db *redis.Client, key string) (Holder, error) {
	tx := db.TxPipeline()
	owner, left := tx.Get(ctx, redisKey(key)), tx.PTTL(ctx, redisKey(key))
	if _, err := tx.Exec(ctx); errors.Is(err, redis.Nil) {
		return Holder{}, nil
	} else if err != nil {
		return Holder{}, err
	}
	return Holder{Owner: owner.Val(), Left: max(left.Val(), 0)}, nil
}

// Close implements Client.
func (l *redisLock) Close() error {
	for _, g := range l.held.all() {
		_, _ = l.free(context.Background(), g) // at worst it ends with its lease
	}
	return errors.Join(l.db.Close(), l.eye.Close())
}
