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

// What Redlock subtracts from its validity for clocks that drift: a share of the
// lease, and a fixed part for Redis's own expiry grain.
const (
	redlockDrift = 0.01
	redlockFixed = 2 * time.Millisecond
)

// redlock is the published algorithm (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/):
// a quorum of independent nodes, and no fencing token.
type redlock struct {
	cfg    Config
	nodes  []*redis.Client
	eyes   []*redis.Client // Holder's own connections
	node   time.Duration   // a node's time to answer, small against the lease
	enough int             // how many nodes decide; 0: a majority
	owners owners
	delay  *jitter
	held   holdings
	behind sync.WaitGroup // requests that go on after the quorum has decided
}

// OpenRedlock opens a session with every endpoint. It succeeds with a quorum down
// as well: connections are made when needed.
func OpenRedlock(_ context.Context, c Config) (Client, error) {
	if err := checkRedis(c); err != nil {
		return nil, err
	}
	l := &redlock{
		cfg: c, node: max(c.Lease/10, 20*time.Millisecond),
		owners: owners{client: c.Client}, delay: newJitter(c, c.Lease/100, c.Lease/20+time.Millisecond),
	}
	for _, e := range c.Endpoints {
		l.nodes = append(l.nodes, openRedis(e, l.node))
		l.eyes = append(l.eyes, openRedis(e, l.node))
	}
	return l, nil
}

// redlockDeadline is the end of the validity of an attempt that was sent at sent:
// at the answer it leaves lease − elapsed − drift.
func redlockDeadline(sent history.Stamp, lease time.Duration) int64 {
	drift := time.Duration(float64(lease)*redlockDrift) + redlockFixed
	return sent.Mono + int64(lease-drift)
}

// Acquire implements Client: retries after a random delay, so that clients which
// split the nodes between them do not do so for ever.
func (l *redlock) Acquire(ctx context.Context, key string) (*Grant, error) {
	return poll(ctx, l.delay, func() (*Grant, error) { return l.Try(ctx, key) })
}

// Try implements Trier: one attempt on every node at once. It does not end with
// ctx, only with the nodes' own short time: a half-sent attempt is worse than a
// late answer.
func (l *redlock) Try(_ context.Context, key string) (*Grant, error) {
	g := &Grant{Key: key, Owner: l.owners.next(), Lease: l.cfg.Lease, Sent: history.Now()}
	g.Deadline = redlockDeadline(g.Sent, l.cfg.Lease)
	b := l.ask(nil, func(ctx context.Context, db *redis.Client) (bool, error) {
		err := db.SetArgs(ctx, redisKey(key), g.Owner, redis.SetArgs{Mode: "NX", TTL: l.cfg.Lease}).Err()
		if errors.Is(err, redis.Nil) {
			return false, nil
		}
		return err == nil, err
	})
	g.State = b
	if b.yes && g.Valid() > 0 {
		l.held.add(g)
		return g, nil
	}
	// On every node, also those that said no or nothing: their yes may be on the
	// way. Where this release is lost too, a node may keep the key for one lease.
	// That blocks others and is never a grant: this owner was not granted, its name
	// is used nowhere again, and no one can claim by it. So "not granted" is certain.
	l.free(g)
	if b.yes {
		return nil, refused(errStale)
	}
	return nil, refused(b.why(ErrHeld))
}

func (l *redlock) free(g *Grant) *ballot {
	before, _ := g.State.(*ballot)
	return l.ask(before, func(ctx context.Context, db *redis.Client) (bool, error) {
		n, err := db.Eval(ctx, redisFree, []string{redisKey(g.Key)}, g.Owner).Int64()
		return n == 1, err
	})
}

// Release implements Client. It has freed the lock when a quorum deleted the key.
func (l *redlock) Release(_ context.Context, g *Grant) error {
	l.held.drop(g.Owner)
	return l.free(g).verdict(g.Key, "release")
}

// Extend implements Extender: by quorum, and valid by the same rule as a grant.
func (l *redlock) Extend(_ context.Context, g *Grant) (*Grant, error) {
	sent := history.Now()
	before, _ := g.State.(*ballot)
	b := l.ask(before, func(ctx context.Context, db *redis.Client) (bool, error) {
		n, err := db.Eval(ctx, redisExtend, []string{redisKey(g.Key)}, g.Owner, l.cfg.Lease.Milliseconds()).Int64()
		return n == 1, err
	})
	if err := b.verdict(g.Key, "extend"); err != nil {
		return nil, err
	}
	r := renewed(g, sent, redlockDeadline(sent, l.cfg.Lease))
	r.State = b
	if r.Valid() <= 0 {
		return nil, fmt.Errorf("locks: redlock: extend of %s: %w", g.Key, errStale)
	}
	return r, nil
}

// Close implements Client. It waits for requests that are still under way.
func (l *redlock) Close() error {
	for _, g := range l.held.all() {
		l.free(g)
	}
	l.behind.Wait()
	var err error
	for i := range l.nodes {
		err = errors.Join(err, l.nodes[i].Close(), l.eyes[i].Close())
	}
	return err
}
