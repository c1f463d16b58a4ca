//go:build ignore

// pglock: AcquireContext, Release and its own heartbeat, which is the only one that
// notices a loss. It tells no validity, and its record version is no fencing token.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"time"

	"cirello.io/pglock"
	_ "github.com/lib/pq"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

func main() {
	adapter.Main(adapter.Adapter{Name: "pglock", Library: versionOf("cirello.io/pglock"),
		Offers: []string{"lease", "renews", "wait"}, Open: open})
}

type session struct {
	db    *sql.DB
	locks *pglock.Client
	lease time.Duration
}

func open(ctx context.Context, c adapter.Config, _ adapter.Tell) (adapter.Session, error) {
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
	return &session{db, l, c.Lease}, nil
}

func (s *session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	// The heartbeat lives as long as the context of its lock, which is not the wait's.
	l, err := s.locks.AcquireContext(ctx, a.Key, pglock.WithCustomHeartbeatContext(context.Background()))
	// A context's own error comes only before COMMIT was sent: from database/sql, or from a
	// connection that lib/pq had marked. What became of a COMMIT is told by other errors.
	if errors.Is(err, pglock.ErrNotAcquired) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%w: %w", adapter.ErrNotGranted, err)
	}
	if err != nil {
		return nil, err
	}
	g := &adapter.Grant{State: l}
	return g, nil
}

func (s *session) Release(ctx context.Context, g *adapter.Grant) error {
	err := s.locks.ReleaseContext(ctx, g.State.(*pglock.Lock))
	if errors.Is(err, pglock.ErrLockAlreadyReleased) {
		return fmt.Errorf("%w: %w", adapter.ErrNotHeld, err)
	}
	return err
}

func (s *session) Close() error { return s.db.Close() }
