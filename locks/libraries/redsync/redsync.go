// Package redsync is the adapter of go-redsync/redsync v4: LockContext, TryLockContext,
// ExtendContext and UnlockContext on a go-redis client with its defaults for each server.
package redsync

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	pool "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// Adapter is the library behind the lock client protocol.
var Adapter = adapter.Adapter{Name: "redsync", Offers: offers(any(&redsync.Mutex{})), Open: open}

// Drift is the share of the lease that redsync takes off for drift.
const Drift = 0.01

// What not every version of a mutex has.
type (
	teller interface{ Until() time.Time }
	trier  interface {
		TryLockContext(context.Context) error
	}
)

func offers(mutex any) []string {
	all := []string{"lease", "extend", "wait"}
	if _, tells := mutex.(teller); tells {
		all = append(all, "validity", "sent")
	}
	if _, tries := mutex.(trier); tries {
		all = append(all, "try")
	}
	return all
}

type session struct {
	servers []*redis.Client
	sync    *redsync.Redsync
	lease   time.Duration
	silence silence
}

func open(_ context.Context, c adapter.Config, _ adapter.Tell) (adapter.Session, error) {
	s := &session{lease: c.Lease}
	var pools []pool.Pool
	for _, addr := range c.Endpoints {
		client := redis.NewClient(&redis.Options{Addr: addr})
		client.AddHook(&s.silence)
		s.servers, pools = append(s.servers, client), append(pools, goredis.NewPool(client))
	}
	s.sync = redsync.New(pools...)
	return s, nil
}

func (s *session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	return s.lock(a.Key, func(m *redsync.Mutex) error { return m.LockContext(ctx) })
}

func (s *session) Try(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	return s.lock(a.Key, func(m *redsync.Mutex) error { return any(m).(trier).TryLockContext(ctx) }) // it is offered
}

// lock says not granted after an error, if each request was answered: redsync has then had every
// server remove what the attempt may have left. It asks for that with the context of the wait, so
// where this one has ended in the middle of an attempt the servers may keep the key for a lease,
// and redsync does not say so. The tries are without a limit, as the context has one.
func (s *session) lock(key string, take func(*redsync.Mutex) error) (*adapter.Grant, error) {
	m := s.sync.NewMutex(key, redsync.WithExpiry(s.lease), redsync.WithTries(math.MaxInt32))
	before := s.silence.Load()
	if err := take(m); err != nil {
		if s.silence.Load() != before {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", adapter.ErrNotGranted, err)
	}
	g := &adapter.Grant{State: m}
	s.claim(g)
	return g, nil
}

// claim passes on what Until says. The attempt that won began a lease before that, less
// the drift, and asked nobody before it began.
func (s *session) claim(g *adapter.Grant) {
	if t, tells := g.State.(teller); tells {
		g.Deadline = adapter.At(t.Until())
		g.Sent = g.Deadline - int64(s.lease) + int64(float64(s.lease)*Drift)
	}
}

func (s *session) Extend(ctx context.Context, g *adapter.Grant) error {
	if err := says(g.State.(*redsync.Mutex).ExtendContext(ctx)); err != nil {
		return err
	}
	s.claim(g)
	return nil
}

func (s *session) Release(ctx context.Context, g *adapter.Grant) error {
	return says(g.State.(*redsync.Mutex).UnlockContext(ctx))
}

// says makes one of redsync's two answers. It is unknown where a server did not answer: that
// one may yet do what was asked.
func says(ok bool, err error) error {
	switch {
	case ok:
		return nil
	case err == nil:
		return fmt.Errorf("%w: redsync says no", adapter.ErrNotHeld)
	case definite(err):
		return fmt.Errorf("%w: %w", adapter.ErrNotHeld, err)
	}
	return err
}

// definite says that each server that said no has answered. The types of errors changed
// from version to version, their words did not.
func definite(err error) bool {
	var parts []error
	switch e := err.(type) { //nolint:errorlint // all that is joined must be definite, not one of it
	case interface{ WrappedErrors() []error }:
		parts = e.WrappedErrors()
	case interface{ Unwrap() []error }:
		parts = e.Unwrap()
	default:
		return strings.Contains(err.Error(), "lock already taken") || strings.Contains(err.Error(), "already expired")
	}
	for _, part := range parts {
		if !definite(part) {
			return false
		}
	}
	return true
}

func (s *session) Close() error {
	var errs []error
	for _, c := range s.servers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
