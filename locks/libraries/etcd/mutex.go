package etcd

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// Mutex is concurrency.Mutex, whose Session renews its lease by itself and tells by Done()
// when it is lost. The token is the create revision of its key, as IsOwner has it.
var Mutex = adapter.Adapter{Name: "etcd-concurrency", Offers: mutexOffers(any(&concurrency.Mutex{})), Open: openMutex}

// trier is a mutex that can be asked for without waiting; not every version's can.
type trier interface{ TryLock(context.Context) error }

func mutexOffers(mutex any) []string {
	all := []string{"lease", "renews", "wait", "events", "token", "order"}
	if _, tries := mutex.(trier); tries {
		all = append(all, "try")
	}
	return all
}

type mutexes struct{ *client }

func openMutex(ctx context.Context, c adapter.Config, tell adapter.Tell) (adapter.Session, error) {
	m, err := dial(c, tell)
	if err != nil {
		return nil, err
	}
	if _, err := m.current(ctx); err != nil {
		_ = m.Close()
		return nil, err
	}
	return &mutexes{m}, nil
}

// Acquire implements adapter.Session.
func (s *mutexes) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	return s.lock(ctx, a.Key, func(m *concurrency.Mutex) error { return m.Lock(ctx) })
}

// Try implements adapter.Trier.
func (s *mutexes) Try(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	return s.lock(ctx, a.Key, func(m *concurrency.Mutex) error { return any(m).(trier).TryLock(ctx) }) // it is offered
}

func (s *mutexes) lock(ctx context.Context, key string, take func(*concurrency.Mutex) error) (*adapter.Grant, error) {
	own, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	m := concurrency.NewMutex(own, "dlmtest/concurrency/"+key)
	if err := take(m); err != nil {
		return nil, refused(m, err)
	}
	return &adapter.Grant{Token: createRevision(m), State: m}, nil
}

// What the library says, by its words: not every version has a variable for each.
const (
	saysLocked   = "mutex: Locked by another session"
	saysExpired  = "mutex: session is expired"
	saysReleased = "mutex: lock has already been released"
)

// refused says what is certain: the key of this attempt was deleted, or the session that it
// hung on is gone. Else it may still stand in the queue, and nobody waits for it.
func refused(m *concurrency.Mutex, err error) error {
	if err.Error() == saysLocked {
		return fmt.Errorf("%w: %w", adapter.ErrHeld, err)
	}
	if err.Error() == saysExpired || m.Key() == "\x00" {
		return fmt.Errorf("%w: %w", adapter.ErrNotGranted, err)
	}
	return err
}

// Release implements adapter.Session.
func (s *mutexes) Release(ctx context.Context, g *adapter.Grant) error {
	err := g.State.(*concurrency.Mutex).Unlock(ctx)
	if err != nil && err.Error() == saysReleased {
		return fmt.Errorf("%w: %w", adapter.ErrNotHeld, err)
	}
	return err
}
