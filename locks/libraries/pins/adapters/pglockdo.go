//go:build ignore

// pglock-do: Do, which runs a function under the lock, gives it back when that returns
// nil, and cancels the function's context when its heartbeat has lost the lock.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"cirello.io/pglock"
	_ "github.com/lib/pq"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

func main() {
	adapter.Main(adapter.Adapter{Name: "pglock-do", Library: versionOf("cirello.io/pglock"),
		Offers: []string{"lease", "renews", "wait", "events"}, Open: open})
}

type session struct {
	db    *sql.DB
	locks *pglock.Client
	tell  adapter.Tell
}

func open(ctx context.Context, c adapter.Config, tell adapter.Tell) (adapter.Session, error) {
	host, port, err := net.SplitHostPort(c.Endpoints[0])
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("postgres", fmt.Sprintf("host=%s port=%s user=postgres dbname=postgres sslmode=disable", host, port))
	if err != nil {
		return nil, err
	}
	l, err := pglock.New(db, pglock.WithLeaseDuration(c.Lease), pglock.WithHeartbeatFrequency(c.Lease/3), pglock.WithOwner(c.Client))
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	// Each client makes the table, as a program does when it starts: one is first.
	if err := l.CreateTable(); err != nil {
		var one int
		if e := db.QueryRowContext(ctx, "SELECT nextval('locks_rvn')").Scan(&one); e != nil {
			return nil, errors.Join(err, e, db.Close())
		}
	}
	return &session{db, l, tell}, nil
}

// held is a function that Do runs, until it is told to return.
type held struct {
	released atomic.Bool
	giveBack chan struct{}
	done     chan error // what Do has returned
}

// Acquire waits under a context that the lock does not live under: it would end with it.
func (s *session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	own, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, cancel)
	h := &held{giveBack: make(chan struct{}), done: make(chan error, 1)}
	g := &adapter.Grant{State: h}
	entered := make(chan struct{})
	go func() {
		defer cancel()
		h.done <- s.locks.Do(own, a.Key, func(alive context.Context, _ *pglock.Lock) error {
			close(entered)
			select {
			case <-alive.Done():
				s.tell("lost", g, "the context of Do's function was cancelled")
				<-h.giveBack
			case <-h.giveBack:
			}
			return nil
		})
	}()
	select {
	case <-entered:
		if !stop() { // it came as the wait ended
			close(h.giveBack)
			return nil, errors.Join(ctx.Err(), <-h.done)
		}
		return g, nil
	case err := <-h.done:
		if errors.Is(err, pglock.ErrNotAcquired) || errors.Is(err, context.Canceled) {
			// A context's own error comes only before COMMIT was sent: from database/sql, or from
			// a connection that lib/pq had marked. What became of a COMMIT is told by other errors.
			return nil, fmt.Errorf("%w: %w", adapter.ErrNotGranted, err)
		}
		return nil, err
	}
}

// Release lets the function return, and waits until Do has.
func (s *session) Release(_ context.Context, g *adapter.Grant) error {
	h := g.State.(*held)
	if h.released.Swap(true) {
		return adapter.ErrNotHeld
	}
	close(h.giveBack)
	return <-h.done
}

func (s *session) Close() error { return s.db.Close() }
