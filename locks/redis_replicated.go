package locks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// sentinelMaster is the name of the one primary that the Sentinels of the
// compose file watch.
const sentinelMaster = "dlmtest"

// OpenRedisReplicated opens a session with the primary that the Sentinels at the
// endpoints name. It is the redis lock in all else, on a service that forgets:
// Redis replicates after it has answered, so a failover may lose a grant, which
// the new primary then grants again, and a step of the token's counter with it.
//
// Config.Wait narrows this and does not end it. WAIT says that so many replicas
// have received the write, in memory. It does not say that Sentinel will promote
// one of these, nor that this primary is still the one: cut off from the
// Sentinels with a replica on its side, it goes on granting.
func OpenRedisReplicated(ctx context.Context, c Config) (Client, error) {
	l, err := openRedisLock(ctx, c, failoverRedis)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// failoverRedis asks the Sentinels for the primary with each new connection, and
// drops its connections when they say that it has changed. Its time to answer is
// half a lease: a Sentinel that is stopped delays by as much.
func failoverRedis(c Config) *redis.Client {
	quietRedis()
	return redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: sentinelMaster, SentinelAddrs: c.Endpoints,
		MaxRetries: -1, DialerRetries: 1,
		DialTimeout: c.Lease / 2, ReadTimeout: c.Lease / 2, WriteTimeout: c.Lease / 2,
		ContextTimeoutEnabled: true, Dialer: c.dial,
		DisableIdentity: true, Protocol: 2,
	})
}

// dial connects to a server, also one that a Sentinel has named, by the way that
// leads there.
func (c Config) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if way, ok := c.Ways[addr]; ok {
		addr = way
	}
	d := net.Dialer{Timeout: c.Lease / 2}
	return d.DialContext(ctx, network, addr)
}

var errUnreplicated = errors.New("too few replicas acknowledged it")

// write runs a script that writes, and waits for the replicas that Config asks
// for. WAIT counts the writes of its own connection, so both use one.
func (l *redisLock) write(ctx context.Context, script string, keys []string, args ...any) (int64, error) {
	if l.cfg.Wait == 0 {
		return l.db.Eval(ctx, script, keys, args...).Int64()
	}
	conn := l.db.Conn()
	defer func() { _ = conn.Close() }()
	n, err := conn.Eval(ctx, script, keys, args...).Int64()
	if err != nil || n == 0 {
		return n, err
	}
	limit := max(l.cfg.Lease/4, time.Millisecond) // WAIT 0 would wait for ever
	got, err := conn.Wait(ctx, l.cfg.Wait, limit).Result()
	switch {
	case err != nil: // the script has run: this error must not look as if nothing had
		return n, fmt.Errorf("WAIT: %w", withoutRefusal(err))
	case got < int64(l.cfg.Wait):
		return n, fmt.Errorf("%w: %d of %d within %v", errUnreplicated, got, l.cfg.Wait, limit)
	}
	return n, nil
}

// redisUntouched says that an error proves that a script did not run, or that
// its first write was refused: nothing has changed.
func redisUntouched(err error) bool {
	for _, prefix := range []string{"READONLY", "LOADING", "MASTERDOWN", "NOREPLICAS"} {
		if redis.HasErrorPrefix(err, prefix) {
			return true
		}
	}
	return neverSent(err) || strings.Contains(err.Error(), noSentinel)
}

// noSentinel is how go-redis, which has no value for it, says that it found out
// no primary to connect to.
const noSentinel = "redis: all sentinels specified in configuration are unreachable"
