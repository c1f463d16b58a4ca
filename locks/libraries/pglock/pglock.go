// Package pglock holds the adapters of cirello.io/pglock: a row with a version that a heartbeat
// raises; who finds the same version a lease later takes the lock. It tells no validity, its
// record version is not monotonic and no token, and who waits asks once a lease.
package pglock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cirello.io/pglock"
	_ "github.com/lib/pq" // the driver that pglock wants

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// Adapter uses AcquireContext, ReleaseContext and the library's own heartbeat; a loss is
// found by asking IsReleased.
var Adapter = adapter.Adapter{Name: "pglock", Offers: offers, Open: func(ctx context.Context, c adapter.Config, tell adapter.Tell) (adapter.Session, error) {
	s, err := open(ctx, c, tell)
	if err != nil {
		return nil, err
	}
	return s, nil
}}

var offers = []string{"lease", "renews", "wait", "try", "events", "sent"}

type session struct {
	db    *sql.DB
	locks *pglock.Client
	lease time.Duration
	tell  adapter.Tell
	asked *asked
}

// asked is the library's logger: it says when an attempt asks for a key, which is what a
// deadline can be reckoned from, as nobody may take the key within a lease of that.
type asked struct {
	mu sync.Mutex
	at map[string]int64
}

// Println implements pglock.Logger, the one that all versions have.
func (a *asked) Println(v ...any) {
	_, rest, asks := strings.Cut(fmt.Sprintln(v...), "storeAcquire in")
	if words := strings.Fields(strings.TrimPrefix(rest, ":")); asks && len(words) > 0 {
		a.mu.Lock()
		a.at[words[0]] = adapter.Monotonic()
		a.mu.Unlock()
	}
}

func (a *asked) last(key string) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at[key]
}

func open(ctx context.Context, c adapter.Config, tell adapter.Tell) (*session, error) {
	db, err := sql.Open("postgres", "postgres://postgres@"+c.Endpoints[0]+"/postgres?sslmode=disable")
	if err != nil {
		return nil, err
	}
	s := &session{db: db, lease: c.Lease, tell: tell, asked: &asked{at: map[string]int64{}}}
	s.locks, err = pglock.New(db, pglock.WithLeaseDuration(c.Lease), pglock.WithHeartbeatFrequency(c.Lease/4), pglock.WithOwner(c.Client),
		pglock.WithLogger(s.asked)) //nolint:staticcheck // the one that all versions have
	if err == nil {
		err = s.createTable(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// createTable is what each client does, as a program does when it starts: one is first.
func (s *session) createTable(ctx context.Context) error {
	if t, can := any(s.locks).(interface{ TryCreateTable() error }); can {
		return t.TryCreateTable()
	}
	err := s.locks.CreateTable()
	if err == nil {
		return nil
	}
	var one int
	if e := s.db.QueryRowContext(ctx, "SELECT nextval('locks_rvn')").Scan(&one); e != nil {
		return errors.Join(err, e)
	}
	return nil
}

func (s *session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	return s.acquire(ctx, a.Key)
}

func (s *session) Try(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	g, err := s.acquire(ctx, a.Key, pglock.FailIfLocked())
	if errors.Is(err, pglock.ErrNotAcquired) && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", adapter.ErrHeld, err)
	}
	return g, err
}

// acquire keeps the heartbeat out of the limit of the wait: it would end with it.
func (s *session) acquire(ctx context.Context, key string, options ...pglock.LockOption) (*adapter.Grant, error) {
	key = url.PathEscape(key) // the log has spaces between words
	l, err := s.locks.AcquireContext(ctx, key, append(options, pglock.WithCustomHeartbeatContext(context.Background()))...)
	if err != nil {
		return nil, refused(err)
	}
	g := &adapter.Grant{Sent: s.asked.last(key), State: &held{lock: l}}
	go s.watch(g)
	return g, nil
}

// refused: a context's own error comes only before COMMIT was sent: from database/sql, or
// from a connection that lib/pq had marked. What became of a COMMIT is told by other errors.
func refused(err error) error {
	if errors.Is(err, pglock.ErrNotAcquired) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", adapter.ErrNotGranted, err)
	}
	return err
}

type held struct {
	lock     *pglock.Lock
	released atomic.Bool
}

// watch asks often whether the lock is lost, as its user must.
func (s *session) watch(g *adapter.Grant) {
	h := g.State.(*held)
	tick := time.NewTicker(s.lease / 20)
	defer tick.Stop()
	for range tick.C {
		lost := h.lock.IsReleased()
		if h.released.Load() {
			return
		}
		if lost {
			s.tell("lost", g, "IsReleased says true")
			return
		}
	}
}

func (s *session) Release(ctx context.Context, g *adapter.Grant) error {
	h := g.State.(*held)
	h.released.Store(true)
	err := s.locks.ReleaseContext(ctx, h.lock)
	if errors.Is(err, pglock.ErrLockAlreadyReleased) {
		return fmt.Errorf("%w: %w", adapter.ErrNotHeld, err)
	}
	return err
}

func (s *session) Close() error { return s.db.Close() }
