package libraries

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

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

var goPglock = Library{
	Module: "github.com/allisson/go-pglock/v3",
	About: "allisson/go-pglock: a session-level advisory lock, WaitAndLock and Unlock on a connection of its own; " +
		"it tells of no loss, and Unlock says nil whether the lock was held or not",
	On: []locks.Lock{{Open: openAdvisory, Promise: history.Promise{
		Backend: "postgres-advisory", Tries: true,
	}}},
}

type advisoryClient struct {
	cfg  locks.Config
	db   *sql.DB
	n    atomic.Int64
	open sync.Map // *advisory.Lock, whose connections Close must give back
}

func openAdvisory(_ context.Context, c locks.Config) (locks.Client, error) {
	db, err := sql.Open("postgres", "postgres://postgres@"+c.Endpoints[0]+"/postgres?sslmode=disable")
	if err != nil {
		return nil, err
	}
	return &advisoryClient{cfg: c, db: db}, nil
}

// Acquire implements locks.Client.
func (c *advisoryClient) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	return c.lock(ctx, key, func(l advisory.Locker) (bool, error) { return true, l.WaitAndLock(ctx) })
}

// Try implements locks.Trier.
func (c *advisoryClient) Try(ctx context.Context, key string) (*locks.Grant, error) {
	return c.lock(ctx, key, func(l advisory.Locker) (bool, error) { return l.Lock(ctx) })
}

// lock makes a lock for every grant; each has a connection, which is closed after it.
func (c *advisoryClient) lock(ctx context.Context, key string, take func(advisory.Locker) (bool, error)) (*locks.Grant, error) {
	h := fnv.New64a()
	h.Write([]byte(key))
	l, err := advisory.NewLock(ctx, int64(h.Sum64()), c.db)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrNotGranted, err) // no connection, so nothing was asked
	}
	sent := history.Now()
	ok, err := take(&l)
	if err == nil && ok {
		c.open.Store(&l, true)
		return &locks.Grant{Key: key, Owner: fmt.Sprintf("%s/%d/%d", c.cfg.Client, c.n.Add(1), sent.Raw), Sent: sent, State: &l}, nil
	}
	if err == nil {
		return nil, errors.Join(fmt.Errorf("%w: Lock says false", locks.ErrNotGranted), l.Close())
	}
	return nil, errors.Join(c.cancelled(ctx, err), l.Close())
}

// cancelled: lib/pq asks the server to cancel a statement whose context has ended, and
// the server then says so; only that answer is certain.
func (c *advisoryClient) cancelled(ctx context.Context, err error) error {
	var state interface{ SQLState() string }
	if ctx.Err() != nil && errors.As(err, &state) && state.SQLState() == "57014" {
		return fmt.Errorf("%w: %w", locks.ErrNotGranted, err)
	}
	return err
}

// Release implements locks.Client.
func (c *advisoryClient) Release(ctx context.Context, g *locks.Grant) error {
	l := g.State.(*advisory.Lock)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	err := l.Unlock(ctx)
	if errors.Is(err, sql.ErrConnDone) { // closed by an earlier release
		return fmt.Errorf("%w: %w", locks.ErrNotHeld, err)
	}
	if err != nil {
		return err
	}
	c.open.Delete(l)
	return l.Close()
}

// Close implements locks.Client. A connection that goes back to a closed pool is
// closed, and with it ends what it holds.
func (c *advisoryClient) Close() error {
	err := c.db.Close()
	c.open.Range(func(l, _ any) bool {
		err = errors.Join(err, l.(*advisory.Lock).Close())
		return true
	})
	return err
}
