package locks

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/dlmtest/dlmtest/history"
)

// pgNested is the advisory lock, reentrant by process: a session may lock a key again
// that it has locked, and the server keeps it until it is unlocked as often. All threads
// of a client share the session of a key.
type pgNested struct {
	*pgLock
	mu   sync.Mutex
	keys map[string]*pgNest
}

// pgNest is what a client holds of a key.
type pgNest struct {
	turn chan struct{} // has one place: whoever is in it asks
	g    *Grant        // nil: nothing is held
}

// enter waits for the turn to ask about key.
func (l *pgNested) enter(ctx context.Context, key string) (n *pgNest, leave func(), err error) {
	l.mu.Lock()
	n = l.keys[key]
	if n == nil {
		n = &pgNest{turn: make(chan struct{}, 1)}
		l.keys[key] = n
	}
	l.mu.Unlock()
	select {
	case n.turn <- struct{}{}:
		return n, func() { <-n.turn }, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

// AcquireBy implements Reenterer. The thread does not count.
func (l *pgNested) AcquireBy(ctx context.Context, key, _ string) (*Grant, error) {
	n, leave, err := l.enter(ctx, key)
	if err != nil {
		return nil, refused(err)
	}
	defer leave()
	if n.g != nil {
		sent := history.Now()
		err := n.again(ctx, l.kind.try)
		if err == nil {
			n.g.Depth++
			n.g.Sent = sent
			return n.copied(), nil
		}
		if !errors.Is(err, ErrNotHeld) {
			return nil, err
		}
		n.g = nil // its session is over, and with it all that it held
	}
	g, err := l.Acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	g.Depth, n.g = 1, g
	return n.copied(), nil
}

// copied is a grant of its own for who asked, as the next changes ours.
func (n *pgNest) copied() *Grant {
	g := *n.g
	return &g
}

// again locks once more by the session that holds. A request that is cut off ends the session.
func (n *pgNest) again(ctx context.Context, try string) error {
	req, cancel := inFlight(ctx, cleanup)
	defer cancel()
	return n.g.State.(*pgHold).use(func(conn *pgx.Conn) error {
		var taken bool
		err := conn.QueryRow(req, try, n.g.Key).Scan(&taken)
		if err == nil && !taken {
			return refused(ErrHeld)
		}
		return err
	})
}

// ReleaseBy implements Reenterer.
func (l *pgNested) ReleaseBy(ctx context.Context, g *Grant) (int, error) {
	n, leave, err := l.enter(ctx, g.Key)
	if err != nil {
		return 0, err
	}
	defer leave()
	if n.g == nil || n.g.Owner != g.Owner {
		return 0, ErrNotHeld
	}
	if n.g.Depth == 1 {
		last := n.g
		n.g = nil
		return 0, l.Release(ctx, last)
	}
	req, cancel := inFlight(ctx, cleanup)
	defer cancel()
	err = n.g.State.(*pgHold).use(func(conn *pgx.Conn) error { return l.kind.unlock(req, conn, g.Key) })
	if errors.Is(err, ErrNotHeld) {
		n.g = nil
	}
	if err != nil {
		return 0, err
	}
	n.g.Depth--
	return n.g.Depth, nil
}
