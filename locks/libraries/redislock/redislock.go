// Package redislock is the adapter of bsm/redislock: Obtain with a linear backoff of 100 ms,
// Refresh and Release on a go-redis client with its defaults. It tells no validity; the
// connection shows when the request was sent that started the lease.
package redislock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// Adapter is the library behind the lock client protocol.
var Adapter = adapter.Adapter{Name: "redislock", Offers: []string{"lease", "extend", "wait", "try", "sent"}, Open: open}

// prefix of all keys, by which a request is known on the wire.
const prefix = "redislock/"

type session struct {
	db    *redis.Client
	lock  *redislock.Client
	lease time.Duration
	wire  *adapter.Wire
}

func open(_ context.Context, c adapter.Config, _ adapter.Tell) (adapter.Session, error) {
	wire := adapter.NewWire(func(b []byte) string { return adapter.Between(b, "\r\n"+prefix, "\r") })
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		return wire.On((&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 5 * time.Minute}).DialContext(ctx, network, addr)) // as go-redis dials
	}
	db := redis.NewClient(&redis.Options{Addr: c.Endpoints[0], Dialer: dial})
	return &session{db: db, lock: redislock.New(db), lease: c.Lease, wire: wire}, nil
}

func (s *session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	return s.obtain(ctx, a.Key, &redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)})
}

func (s *session) Try(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	return s.obtain(ctx, a.Key, nil)
}

// obtain knows what has become of an error where the service has answered, and where
// nothing was sent. The error alone does not tell: go-redis asks again where an answer broke
// off, and its last word is then that the server, which may have done it, cannot be dialled.
func (s *session) obtain(ctx context.Context, key string, o *redislock.Options) (*adapter.Grant, error) {
	called := adapter.Monotonic()
	l, err := s.lock.Obtain(ctx, prefix+key, s.lease, o)
	sent, any := s.wire.Since(key, called)
	if errors.Is(err, redislock.ErrNotObtained) && any { // the last answer was a no
		return nil, fmt.Errorf("%w: %w", adapter.ErrHeld, err)
	}
	if errors.Is(err, redislock.ErrNotObtained) || err != nil && !any {
		return nil, fmt.Errorf("%w: %w", adapter.ErrNotGranted, err)
	}
	if err != nil {
		return nil, err
	}
	return &adapter.Grant{Sent: sent, State: held{l, key}}, nil
}

type held struct {
	lock *redislock.Lock
	key  string
}

// Extend takes the newest request of the key for the one that was answered: an answer
// belongs to the last of those that go-redis repeats.
func (s *session) Extend(ctx context.Context, g *adapter.Grant) error {
	h := g.State.(held)
	called := adapter.Monotonic()
	err := h.lock.Refresh(ctx, s.lease, nil)
	if errors.Is(err, redislock.ErrNotObtained) {
		return fmt.Errorf("%w: %w", adapter.ErrNotHeld, err)
	}
	if sent, any := s.wire.Since(h.key, called); err == nil && any {
		g.Sent = sent
	}
	return err
}

// Release knows that it freed nothing where one request was answered so. go-redis repeats one whose
// answer was lost, and what the first has freed the second does not find.
func (s *session) Release(ctx context.Context, g *adapter.Grant) error {
	h := g.State.(held)
	before := s.wire.Asked(h.key)
	err := h.lock.Release(ctx)
	if errors.Is(err, redislock.ErrLockNotHeld) && s.wire.Asked(h.key) == before+1 {
		return fmt.Errorf("%w: %w", adapter.ErrNotHeld, err)
	}
	return err
}

func (s *session) Close() error { return s.db.Close() }
