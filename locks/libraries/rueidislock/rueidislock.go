// Package rueidislock is the adapter of rueidislock on one Redis server, with KeyMajority 1 as
// its documents have it for one: WithContext, whose context ends when the lock is lost, and
// its cancel. It extends by itself, each half of the validity, and reports no deadline.
package rueidislock

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// Adapter is the library behind the lock client protocol.
var Adapter = adapter.Adapter{Name: "rueidislock", Offers: []string{"lease", "renews", "wait", "try", "events", "asked"}, Open: open}

type session struct {
	locker  rueidislock.Locker
	tell    adapter.Tell
	wire    *adapter.Wire
	silence *silence
}

// silence counts the requests that the server did not answer.
type silence struct {
	rueidis.Client
	requests atomic.Int64
}

// Do implements rueidis.Client, for all that a locker asks of keys.
func (s *silence) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	r := s.Client.Do(ctx, cmd)
	if r.NonRedisError() != nil {
		s.requests.Add(1)
	}
	return r
}

// held is a lock with the cancel that gives it back.
type held struct {
	lost     context.Context
	giveBack context.CancelFunc
	released atomic.Bool
}

func open(_ context.Context, c adapter.Config, tell adapter.Tell) (adapter.Session, error) {
	wire := adapter.NewWire(func(b []byte) string { return adapter.Between(b, "rueidislock:0:", "\r") })
	dial := func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
		return wire.On(d.DialContext(ctx, "tcp", addr))
	}
	var all silence
	build := func(o rueidis.ClientOption) (_ rueidis.Client, err error) {
		all.Client, err = rueidis.NewClient(o)
		return &all, err
	}
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{KeyMajority: 1, KeyValidity: c.Lease, // not NoLoopTracking: see docs/analyses/rueidislock.md
		ClientBuilder: build,
		TryNextAfter:  min(c.Lease/2, time.Second), // its default, 20 ms, is too short for a slow link
		ClientOption:  rueidis.ClientOption{InitAddress: c.Endpoints[:1], DialCtxFn: dial}})
	if err != nil {
		return nil, err
	}
	return &session{l, tell, wire, &all}, nil
}

func (s *session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	return s.take(ctx, a.Key, s.locker.WithContext)
}

func (s *session) Try(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	return s.take(ctx, a.Key, s.locker.TryWithContext)
}

type taking func(context.Context, string) (context.Context, context.CancelFunc, error)

// take bounds the wait and not the hold: a lock ends with the context that it was asked for
// with, so that one may be cancelled only as long as nothing is held.
func (s *session) take(ctx context.Context, key string, how taking) (*adapter.Grant, error) {
	called := adapter.Monotonic()
	own, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, cancel)
	silent := s.silence.requests.Load()
	lost, giveBack, err := how(own, key)
	if err == nil && !stop() {
		giveBack() // it came as the wait ended
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		if s.silence.requests.Load() != silent { // what the attempt asked for may have been done, and its removal not
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", adapter.ErrNotGranted, err)
	}
	sent, asked := s.wire.Since(key, called)
	if !asked {
		sent = called
	}
	h := &held{lost: lost, giveBack: giveBack}
	g := &adapter.Grant{Sent: sent, State: h}
	context.AfterFunc(lost, func() {
		defer cancel()
		if !h.released.Load() {
			s.tell("lost", g, "its context was cancelled")
		}
	})
	return g, nil
}

// Release can say no more than the library, which answers nothing: whether the context had
// been cancelled before.
func (s *session) Release(_ context.Context, g *adapter.Grant) error {
	h := g.State.(*held)
	gone := h.released.Swap(true) || h.lost.Err() != nil
	h.giveBack()
	if gone {
		return fmt.Errorf("%w: %w", adapter.ErrNotHeld, errors.New("its context was cancelled before"))
	}
	return nil
}

func (s *session) Close() error { s.locker.Close(); return nil }
