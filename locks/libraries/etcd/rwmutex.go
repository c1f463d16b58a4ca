package etcd

import (
	"context"
	"fmt"
	"sync/atomic"

	"go.etcd.io/etcd/client/v3/concurrency"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// RWMutex is the RWMutex of the experimental recipes, under a Session for each lock: Lock and
// RLock have no context, so a wait is ended by the end of its session.
var RWMutex = adapter.Adapter{Name: "etcd-rwmutex", Offers: []string{"lease", "renews", "wait", "events", "order", "shared"}, Open: openRW}

type rwMutexes struct{ *client }

func openRW(_ context.Context, c adapter.Config, tell adapter.Tell) (adapter.Session, error) {
	s, err := dial(c, tell)
	if err != nil {
		return nil, err
	}
	return &rwMutexes{s}, nil
}

type rwHeld struct {
	session  *concurrency.Session
	unlock   func() error
	released atomic.Bool
}

// Acquire implements adapter.Session.
func (s *rwMutexes) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	own, err := s.begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: no session: %w", adapter.ErrNotGranted, err)
	}
	m := recipe.NewRWMutex(own, "dlmtest/rwmutex/"+a.Key)
	lock, unlock := m.Lock, m.Unlock
	if a.Shared {
		lock, unlock = m.RLock, m.RUnlock
	}
	done := make(chan error, 1)
	go func() { done <- lock() }()
	select {
	case err = <-done:
	case <-ctx.Done(): // it cannot be called off, but its place can be taken back
		err = ctx.Err()
	}
	if err != nil {
		if e := own.Close(); e != nil {
			return nil, fmt.Errorf("%w; and its session: %w", err, e)
		}
		return nil, fmt.Errorf("%w: %w", adapter.ErrNotGranted, err)
	}
	g := &adapter.Grant{State: &rwHeld{session: own, unlock: unlock}}
	go s.watchGrant(g)
	return g, nil
}

func (s *rwMutexes) watchGrant(g *adapter.Grant) {
	h := g.State.(*rwHeld)
	<-h.session.Done()
	if !h.released.Load() {
		s.tell("lost", g, "Session.Done: the lease is lost")
	}
}

// Release implements adapter.Session. Unlock deletes a key whether it is there or not; what
// its user can see is whether the session had ended before.
func (s *rwMutexes) Release(_ context.Context, g *adapter.Grant) error {
	h := g.State.(*rwHeld)
	if h.released.Swap(true) || !alive(h.session) {
		return fmt.Errorf("%w: it was given back, or its session is done", adapter.ErrNotHeld)
	}
	if err := h.unlock(); err != nil {
		h.session.Orphan() // the key may stand: for a lease at most, and not as long as this client lives
		return err
	}
	_ = h.session.Close() // the key is gone, and that was asked
	return nil
}
