//go:build ignore

// redsync v4 on go-redis v8, which all its versions know: LockContext with its own
// delays until the wait ends, ExtendContext, UnlockContext; Until() where it has it.
package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-redis/redis/v8"
	"github.com/go-redsync/redsync/v4"
	pool "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v8"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

func main() {
	offers := []string{"lease", "extend", "wait", "sent"}
	if _, tells := any(&redsync.Mutex{}).(teller); tells {
		offers = append(offers, "validity")
	}
	adapter.Main(adapter.Adapter{Name: "redsync", Library: versionOf("github.com/go-redsync/redsync/v4"), Offers: offers, Open: open})
}

// teller is a mutex that says until when it is valid.
type teller interface{ Until() time.Time }

type session struct {
	clients []*redis.Client
	sync    *redsync.Redsync
	lease   time.Duration
}

func open(_ context.Context, c adapter.Config, _ adapter.Tell) (adapter.Session, error) {
	s := &session{lease: c.Lease}
	var pools []pool.Pool
	for _, addr := range c.Endpoints {
		client := redis.NewClient(&redis.Options{Addr: addr})
		client.AddHook(watcher{})
		s.clients, pools = append(s.clients, client), append(pools, goredis.NewPool(client))
	}
	s.sync = redsync.New(pools...)
	return s, nil
}

func (s *session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	m := s.sync.NewMutex(a.Key, redsync.WithExpiry(s.lease), redsync.WithTries(1<<20))
	r := &round{}
	err := m.LockContext(context.WithValue(ctx, roundKey{}, r))
	if errors.Is(err, redsync.ErrFailed) || err != nil && definite(err) {
		return nil, fmt.Errorf("%w: %w", adapter.ErrNotGranted, err)
	}
	if err != nil {
		return nil, err
	}
	g := &adapter.Grant{State: m, Sent: r.sent}
	claim(g, m)
	return g, nil
}

// claim passes on what the library tells.
func claim(g *adapter.Grant, m *redsync.Mutex) {
	if t, tells := any(m).(teller); tells {
		g.Deadline = adapter.At(t.Until())
	}
}

func (s *session) Extend(ctx context.Context, g *adapter.Grant) error {
	m := g.State.(*redsync.Mutex)
	sent := adapter.Monotonic()
	ok, err := m.ExtendContext(ctx)
	if ok {
		g.Sent = sent
		claim(g, m)
		return nil
	}
	return refused("extend", err)
}

func (s *session) Release(ctx context.Context, g *adapter.Grant) error {
	ok, err := g.State.(*redsync.Mutex).UnlockContext(ctx)
	if ok {
		return nil
	}
	return refused("unlock", err)
}

// refused is unknown where a server did not answer: it may yet do what was asked.
func refused(what string, err error) error {
	if err == nil || definite(err) {
		return fmt.Errorf("%w: %s says no: %v", adapter.ErrNotHeld, what, err)
	}
	return err
}

// definite says that each server that said no has answered. The types of errors changed
// from version to version, their words did not.
func definite(err error) bool {
	var parts []error
	switch e := err.(type) {
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

// round is when the first request of the newest round of one Lock was sent. A round asks
// all servers by SET, and takes back by a script what it has got if that was too little.
type round struct {
	mu   sync.Mutex
	sent int64
	over bool
}

type roundKey struct{}

// watcher is a hook of the user's own client.
type watcher struct{}

func (watcher) BeforeProcess(ctx context.Context, cmd redis.Cmder) (context.Context, error) {
	if r, ok := ctx.Value(roundKey{}).(*round); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		locks := strings.HasPrefix(cmd.Name(), "set")
		if locks && (r.over || r.sent == 0) {
			r.sent = adapter.Monotonic()
		}
		r.over = !locks
	}
	return ctx, nil
}

func (watcher) AfterProcess(context.Context, redis.Cmder) error { return nil }

func (watcher) BeforeProcessPipeline(ctx context.Context, _ []redis.Cmder) (context.Context, error) {
	return ctx, nil
}

func (watcher) AfterProcessPipeline(context.Context, []redis.Cmder) error { return nil }

func (s *session) Close() error {
	var errs []error
	for _, c := range s.clients {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
