//go:build ignore

// rueidislock: WithContext, whose context ends when the lock is lost, and its cancel. It
// extends by itself, each half of the validity, and tells no deadline.
package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

func main() {
	adapter.Main(adapter.Adapter{Name: "rueidislock", Library: versionOf("github.com/redis/rueidis"),
		Offers: []string{"lease", "renews", "wait", "try", "events"}, Open: open})
}

type session struct {
	locker rueidislock.Locker
	tell   adapter.Tell
}

// held is a lock with the cancel that gives it back.
type held struct {
	lost     context.Context
	giveBack context.CancelFunc
	released atomic.Bool
}

func open(_ context.Context, c adapter.Config, tell adapter.Tell) (adapter.Session, error) {
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{KeyPrefix: "lock", KeyMajority: 1, KeyValidity: c.Lease,
		TryNextAfter: min(c.Lease/2, time.Second), // its default, 20 ms, is too short for a slow link
		ClientOption: rueidis.ClientOption{InitAddress: c.Endpoints[:1]}})
	if err != nil {
		return nil, err
	}
	return &session{l, tell}, nil
}

func (s *session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	return s.take(ctx, a.Key, s.locker.WithContext)
}

func (s *session) Try(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	return s.take(ctx, a.Key, s.locker.TryWithContext)
}

type taking func(context.Context, string) (context.Context, context.CancelFunc, error)

// take waits under a context that the lock does not live under: it would end with it.
func (s *session) take(ctx context.Context, key string, how taking) (*adapter.Grant, error) {
	own, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, cancel)
	lost, giveBack, err := how(own, key)
	if err == nil && !stop() {
		giveBack() // it came as the wait ended
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		if errors.Is(err, rueidislock.ErrNotLocked) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("%w: %w", adapter.ErrNotGranted, err)
		}
		return nil, err
	}
	h := &held{lost: lost, giveBack: giveBack}
	g := &adapter.Grant{State: h}
	context.AfterFunc(lost, func() {
		if !h.released.Load() {
			s.tell("lost", g, "its context was cancelled")
		}
	})
	return g, nil
}

func (s *session) Release(_ context.Context, g *adapter.Grant) error {
	h := g.State.(*held)
	h.released.Store(true)
	gone := h.lost.Err() != nil
	h.giveBack()
	if gone {
		return adapter.ErrNotHeld
	}
	return nil
}

func (s *session) Close() error { s.locker.Close(); return nil }
