package libraries

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cirello.io/pglock"
	_ "github.com/lib/pq" // the driver that pglock wants

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

var pgLock = Library{
	Module: "cirello.io/pglock",
	About: "cirello.io/pglock: AcquireContext with a heartbeat of a quarter of the lease, as its defaults have it; a loss is found by asking IsReleased; " +
		"who waits asks once a lease, so a lock that is free is granted up to a lease later; its record version is not monotonic and no token",
	On: []locks.Lock{{Open: openPglock, CheckLease: wholeMillis, Renews: true, Slow: true, Promise: history.Promise{
		Backend: "postgres", Leased: true, Session: true, Tries: true, Validity: history.Reckoned, Bound: time.Second,
	}}},
}

type pglockClient struct {
	locks.Queue
	cfg  locks.Config
	db   *sql.DB
	lock *pglock.Client
	n    atomic.Int64
	asks *pglockAsks
}

// pglockAsks is the library's logger: it says when an attempt asks for a key, which is
// what a deadline can be reckoned from, as nobody may take the key within a lease of that.
type pglockAsks struct {
	mu sync.Mutex
	at map[string]history.Stamp
}

// Debug implements pglock.LevelLogger.
func (a *pglockAsks) Debug(msg string, args ...any) {
	if len(args) > 0 && strings.HasPrefix(msg, "storeAcquire in") {
		a.mu.Lock()
		a.at[fmt.Sprint(args[0])] = history.Now()
		a.mu.Unlock()
	}
}

// Error implements pglock.LevelLogger.
func (*pglockAsks) Error(string, ...any) {}

func (a *pglockAsks) last(key string) history.Stamp {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at[key]
}

func openPglock(_ context.Context, c locks.Config) (locks.Client, error) {
	db, err := sql.Open("postgres", "postgres://postgres@"+c.Endpoints[0]+"/postgres?sslmode=disable")
	if err != nil {
		return nil, err
	}
	l := &pglockClient{Queue: locks.NewQueue(), cfg: c, db: db, asks: &pglockAsks{at: map[string]history.Stamp{}}}
	l.lock, err = pglock.New(db, pglock.WithLeaseDuration(c.Lease), pglock.WithHeartbeatFrequency(c.Lease/4), pglock.WithOwner(c.Client), pglock.WithLevelLogger(l.asks))
	if err == nil {
		err = l.lock.TryCreateTable()
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// Acquire implements locks.Client.
func (c *pglockClient) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	return c.acquire(ctx, key)
}

// Try implements locks.Trier.
func (c *pglockClient) Try(ctx context.Context, key string) (*locks.Grant, error) {
	return c.acquire(ctx, key, pglock.FailIfLocked())
}

// acquire keeps the heartbeat out of the limit of the wait: it would end with it.
func (c *pglockClient) acquire(ctx context.Context, key string, options ...pglock.LockOption) (*locks.Grant, error) {
	l, err := c.lock.AcquireContext(ctx, key, append(options, pglock.WithCustomHeartbeatContext(context.Background()))...)
	// A context's own error comes only before COMMIT was sent: from database/sql, or from a
	// connection that lib/pq had marked. What became of a COMMIT is told by other errors.
	if errors.Is(err, pglock.ErrNotAcquired) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%w: %w", locks.ErrNotGranted, err)
	}
	if err != nil {
		return nil, err
	}
	sent := c.asks.last(key)
	g := &locks.Grant{Key: key, Owner: fmt.Sprintf("%s/%d/%d", c.cfg.Client, c.n.Add(1), sent.Raw), Sent: sent, Lease: c.cfg.Lease,
		Deadline: sent.Mono + int64(c.cfg.Lease), State: &pglockHold{lock: l}}
	go c.watch(g)
	return g, nil
}

type pglockHold struct {
	lock     *pglock.Lock
	released atomic.Bool
}

// watch asks often whether the lock is lost, as its user must.
func (c *pglockClient) watch(g *locks.Grant) {
	h := g.State.(*pglockHold)
	for tick := time.NewTicker(c.cfg.Lease / 20); ; <-tick.C {
		switch {
		case h.released.Load():
			tick.Stop()
			return
		case h.lock.IsReleased():
			tick.Stop()
			if !h.released.Load() {
				c.Tell(locks.Lost, g.Owner, "IsReleased says true")
			}
			return
		}
	}
}

// Release implements locks.Client.
func (c *pglockClient) Release(ctx context.Context, g *locks.Grant) error {
	h := g.State.(*pglockHold)
	h.released.Store(true)
	err := c.lock.ReleaseContext(ctx, h.lock)
	if errors.Is(err, pglock.ErrLockAlreadyReleased) {
		return fmt.Errorf("%w: %w", locks.ErrNotHeld, err)
	}
	return err
}

// Close implements locks.Client. What is held ends with its lease.
func (c *pglockClient) Close() error {
	c.End()
	return c.db.Close()
}
