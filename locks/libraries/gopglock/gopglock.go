// Package gopglock is the adapter of allisson/go-pglock v3: session-level advisory locks, each
// on a connection of its own, which stack, and can be shared from v3.2.0 on. It tells of no
// loss, and Unlock says nil whether the lock was held or not.
package gopglock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"

	advisory "github.com/allisson/go-pglock/v3"
	_ "github.com/lib/pq" // the driver that its documents use

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// Adapter is the library behind the lock client protocol.
var Adapter = adapter.Adapter{Name: "go-pglock", Offers: offers(any(&advisory.Lock{})), Open: open}

// sharer is a lock that readers can hold together; not every version's can.
type sharer interface {
	RLock(context.Context) (bool, error)
	WaitAndRLock(context.Context) error
	RUnlock(context.Context) error
}

func offers(lock any) []string {
	all := []string{"wait", "try", "reentrant"}
	if _, shares := lock.(sharer); shares {
		all = append(all, "shared")
	}
	return all
}

type session struct {
	db     *sql.DB
	mu     sync.Mutex
	open   map[*stack]bool      // whose connections Close must give back
	nested map[[2]string]*stack // by key and thread
}

// stack is a lock of the library and how often it is held.
type stack struct {
	lock   *advisory.Lock
	at     [2]string // "": by nobody who may take it again
	shared bool
	depth  int
}

// hold is one of a stack.
type hold struct {
	*stack
	released atomic.Bool
}

func open(_ context.Context, c adapter.Config, _ adapter.Tell) (adapter.Session, error) {
	db, err := sql.Open("postgres", "postgres://postgres@"+c.Endpoints[0]+"/postgres?sslmode=disable")
	if err != nil {
		return nil, err
	}
	return &session{db: db, open: map[*stack]bool{}, nested: map[[2]string]*stack{}}, nil
}

func (s *session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	return s.lock(ctx, a, func(l *advisory.Lock) (bool, error) {
		if a.Shared {
			return true, any(l).(sharer).WaitAndRLock(ctx) // it is offered
		}
		return true, l.WaitAndLock(ctx)
	})
}

func (s *session) Try(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	return s.lock(ctx, a, func(l *advisory.Lock) (bool, error) {
		if a.Shared {
			return any(l).(sharer).RLock(ctx) // it is offered
		}
		return l.Lock(ctx)
	})
}

// lock makes a lock for every grant, but for a thread that holds one already: that has a
// connection, which is closed when nothing is held.
func (s *session) lock(ctx context.Context, a adapter.Ask, take func(*advisory.Lock) (bool, error)) (*adapter.Grant, error) {
	k, err := s.stackOf(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", adapter.ErrNotGranted, err) // no connection, so nothing was asked
	}
	ok, err := take(k.lock)
	if err == nil && ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		k.depth++
		s.open[k] = true
		if a.Thread != "" {
			s.nested[k.at] = k
		}
		return &adapter.Grant{State: &hold{stack: k}}, nil
	}
	if err == nil {
		err = fmt.Errorf("%w: Lock says false", adapter.ErrHeld)
	} else {
		err = cancelled(ctx, err)
	}
	if k.depth > 0 {
		return nil, err // it is held as it was
	}
	return nil, errors.Join(err, k.lock.Close())
}

func (s *session) stackOf(ctx context.Context, a adapter.Ask) (*stack, error) {
	at := [2]string{a.Key, a.Thread}
	s.mu.Lock()
	k := s.nested[at]
	s.mu.Unlock()
	if a.Thread != "" && k != nil {
		return k, nil
	}
	h := fnv.New64a()
	h.Write([]byte(a.Key))
	l, err := advisory.NewLock(ctx, int64(h.Sum64()), s.db)
	return &stack{lock: &l, at: at, shared: a.Shared}, err
}

// cancelled: lib/pq asks the server to cancel a statement whose context has ended, and
// the server then says so; only that answer is certain.
func cancelled(ctx context.Context, err error) error {
	var state interface{ SQLState() string }
	if ctx.Err() != nil && errors.As(err, &state) && state.SQLState() == "57014" {
		return fmt.Errorf("%w: %w", adapter.ErrNotGranted, err)
	}
	return err
}

func (s *session) Release(ctx context.Context, g *adapter.Grant) error {
	h := g.State.(*hold)
	if h.released.Load() {
		return adapter.ErrNotHeld
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	unlock := h.lock.Unlock
	if h.shared {
		unlock = any(h.lock).(sharer).RUnlock
	}
	if err := unlock(ctx); err != nil {
		return err
	}
	h.released.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.depth--; h.depth > 0 {
		return nil
	}
	delete(s.open, h.stack)
	delete(s.nested, h.at)
	return h.lock.Close()
}

// Close closes what goes back to a closed pool, and with it ends what that holds.
func (s *session) Close() error {
	err := s.db.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.open {
		err = errors.Join(err, k.lock.Close())
	}
	return err
}
