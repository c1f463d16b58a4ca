//go:build ignore

package gozero

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/stores/redis"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

const module = "github.com/zeromicro/go-zero"

func init() { Adapter.Open = open } // the table of libraries has the adapter without it

type session struct {
	store  *redis.Redis
	lease  time.Duration
	counts bool // each Acquire wants a Release of its own
}

// held is a lock and how often it was acquired.
type held struct {
	lock  *redis.RedisLock
	times int
}

func open(_ context.Context, c adapter.Config, _ adapter.Tell) (adapter.Session, error) {
	if c.Lease%time.Second != 0 {
		return nil, fmt.Errorf("%w: leases are whole seconds here", adapter.ErrConfig)
	}
	logx.Disable()
	return &session{store: redis.New(c.Endpoints[0]), lease: c.Lease, counts: adapter.Older(adapter.VersionOf(module), "v1.3.2")}, nil
}

func (s *session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	for {
		g, err := s.Try(ctx, a)
		if g != nil || err != nil && !errors.Is(err, adapter.ErrNotGranted) {
			return g, err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, adapter.ErrNotGranted
		}
	}
}

func (s *session) Try(_ context.Context, a adapter.Ask) (*adapter.Grant, error) {
	l := redis.NewRedisLock(s.store, a.Key)
	l.SetExpire(int(s.lease / time.Second))
	sent := adapter.Monotonic()
	ok, err := l.Acquire()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, adapter.ErrHeld
	}
	return &adapter.Grant{Sent: sent, State: &held{l, 1}}, nil
}

func (s *session) Extend(_ context.Context, g *adapter.Grant) error {
	h := g.State.(*held)
	sent := adapter.Monotonic()
	ok, err := h.lock.Acquire()
	if err != nil {
		return err
	}
	if !ok {
		return adapter.ErrNotHeld
	}
	h.times++
	g.Sent = sent
	return nil
}

func (s *session) Release(_ context.Context, g *adapter.Grant) error {
	h := g.State.(*held)
	for s.counts && h.times > 1 {
		h.times--
		if _, err := h.lock.Release(); err != nil {
			return err
		}
	}
	ok, err := h.lock.Release()
	if err == nil && !ok {
		return adapter.ErrNotHeld
	}
	return err
}

func (s *session) Close() error { return nil }
