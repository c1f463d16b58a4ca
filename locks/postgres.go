package locks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/dlmtest/dlmtest/history"
)

// pgKind is what the two PostgreSQL locks do differently. Each statement asks
// about key $1; lock and try say true when the lock is taken.
type pgKind struct {
	name   string
	rows   bool   // it locks rows, which must exist
	begin  string // "" : the session itself holds the lock
	lock   string
	try    string
	unlock func(context.Context, *pgx.Conn, string) error
	// share and unshare are lock and unlock of a reader.
	share   string
	unshare func(context.Context, *pgx.Conn, string) error
	idle    string // the setting that ends an idle holder
	holder  string // application_name of the session that holds the lock
}

// pgRow locks a row in a transaction that stays open. Only the holder's own xid
// stands in xmax, and only while it holds is that xid locked.
var pgRow = pgKind{
	name:    "postgres",
	rows:    true,
	begin:   "BEGIN",
	lock:    "SELECT true FROM dlmtest_locks WHERE key = $1 FOR UPDATE",
	try:     "SELECT true FROM dlmtest_locks WHERE key = $1 FOR UPDATE NOWAIT",
	unlock:  pgCommit,
	share:   "SELECT true FROM dlmtest_locks WHERE key = $1 FOR SHARE",
	unshare: pgCommit,
	idle:    "idle_in_transaction_session_timeout",
	holder: `SELECT a.application_name FROM dlmtest_locks r
	  JOIN pg_locks l ON l.locktype = 'transactionid' AND l.transactionid = r.xmax AND l.mode = 'ExclusiveLock' AND l.granted
	  JOIN pg_stat_activity a ON a.pid = l.pid WHERE r.key = $1`,
}

func pgCommit(ctx context.Context, conn *pgx.Conn, _ string) error {
	tag, err := conn.Exec(ctx, "COMMIT")
	if err == nil && tag.String() != "COMMIT" {
		return ErrNotHeld // the transaction had failed before
	}
	return err
}

// pgLock is a lock in PostgreSQL. Each grant has a connection of its own, whose
// session holds the lock; tokens come over another one.
type pgLock struct {
	*events
	cfg    Config
	kind   pgKind
	owners owners
	delay  *jitter
	side   pgSide // tokens, and the rows to lock
	eye    pgSide // Holder's own connection

	mu    sync.Mutex
	holds map[*pgHold]bool
}

// OpenPostgres opens a session with a row lock on the first endpoint. User and
// database are postgres unless PGUSER, PGPASSWORD and PGDATABASE say otherwise.
func OpenPostgres(ctx context.Context, c Config) (Client, error) {
	l, err := openPG(ctx, c, pgRow)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func openPG(ctx context.Context, c Config, kind pgKind) (*pgLock, error) {
	if len(c.Endpoints) == 0 {
		return nil, errors.New("locks: postgres: no endpoint")
	}
	l := &pgLock{
		events: newEvents(), cfg: c, kind: kind, owners: owners{client: c.Client},
		delay: newJitter(c, 20*time.Millisecond, 100*time.Millisecond), holds: map[*pgHold]bool{},
		side: pgSide{addr: c.Endpoints[0], name: c.Client + "/tokens"},
		eye:  pgSide{addr: c.Endpoints[0], name: c.Client + "/holder"},
	}
	if err := l.side.do(ctx, func(conn *pgx.Conn) error { return pgTables(ctx, conn) }); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("locks: postgres at %s: %w", c.Endpoints[0], err)
	}
	return l, nil
}

// Acquire implements Client. It waits in the server's own queue; what certainly
// took nothing is asked again.
func (l *pgLock) Acquire(ctx context.Context, key string) (*Grant, error) {
	return poll(ctx, l.delay, func() (*Grant, error) { return l.attempt(ctx, key, l.kind.lock) })
}

// AcquireAs implements ReadWriter by the server's own shared locks.
func (l *pgLock) AcquireAs(ctx context.Context, key string, mode history.Mode) (*Grant, error) {
	statement := l.kind.lock
	if mode == history.Shared {
		statement = l.kind.share
	}
	g, err := poll(ctx, l.delay, func() (*Grant, error) { return l.attempt(ctx, key, statement) })
	if err == nil {
		g.Mode = mode
	}
	return g, err
}

// Try implements Trier.
func (l *pgLock) Try(ctx context.Context, key string) (*Grant, error) {
	return l.attempt(ctx, key, l.kind.try)
}

func (l *pgLock) attempt(ctx context.Context, key, statement string) (*Grant, error) {
	if l.kind.rows {
		if err := l.side.row(ctx, key); err != nil {
			return nil, refused(err)
		}
	}
	owner := l.owners.next()
	conn, err := l.dial(ctx, owner)
	if err != nil {
		return nil, refused(err) // the statement that locks was not sent
	}
	sent := history.Now()
	taken, err := pgAsk(ctx, conn, l.kind.begin, statement, key)
	if err == nil && !taken {
		err = ErrHeld
	}
	if !taken {
		pgClose(conn)
		if pgBusy(err) {
			err = fmt.Errorf("%w: %w", ErrHeld, err)
		}
		if pgAnswered(err) || errors.Is(err, ErrHeld) {
			return nil, refused(err)
		}
		return nil, fmt.Errorf("locks: %s: acquire of %s: %w", l.kind.name, key, err)
	}
	g := &Grant{Key: key, Owner: owner, Sent: sent}
	if err == nil { // not cut short by the caller's end
		err = l.prove(ctx, conn, g)
	}
	if err != nil {
		return nil, l.giveUp(ctx, conn, key, err)
	}
	g.State = l.hold(conn, owner)
	return g, nil
}

// prove takes the token and then shows that the lock is still held. The order is
// what makes tokens rise with grants: the token is taken after the lock was
// granted, and the answer of the lock's own session shows that it was not lost
// before; so every later grant comes after this token. Without the last step a
// transaction that the server ended for idleness in between would carry a token
// above its successor's.
func (l *pgLock) prove(ctx context.Context, conn *pgx.Conn, g *Grant) error {
	token, err := l.side.token(ctx, g.Key)
	if err != nil {
		return err
	}
	g.Token, g.Sent = token, history.Now()
	req, cancel := inFlight(ctx, cleanup)
	defer cancel()
	_, err = conn.Exec(req, "SELECT 1")
	return err
}

// giveUp ends a session that has the lock and shall not keep it.
func (l *pgLock) giveUp(ctx context.Context, conn *pgx.Conn, key string, why error) error {
	defer pgClose(conn)
	req, cancel := inFlight(ctx, cleanup)
	defer cancel()
	if err := l.kind.unlock(req, conn, key); err != nil && !pgEnded(err) && !errors.Is(err, ErrNotHeld) {
		return fmt.Errorf("locks: %s: %w, and giving back failed: %w", l.kind.name, why, err)
	}
	return refused(why)
}

// Release implements Client.
func (l *pgLock) Release(ctx context.Context, g *Grant) error {
	h := g.State.(*pgHold)
	l.forget(h)
	unlock := l.kind.unlock
	if g.Mode == history.Shared {
		unlock = l.kind.unshare
	}
	return h.release(func(conn *pgx.Conn) error { return unlock(ctx, conn, g.Key) })
}

// Holder implements Inspector.
func (l *pgLock) Holder(ctx context.Context, key string) (h Holder, err error) {
	err = l.eye.do(ctx, func(conn *pgx.Conn) error {
		err := conn.QueryRow(ctx, l.kind.holder, key).Scan(&h.Owner)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return h, err
}

// Close implements Client: the server frees what an ended session held.
func (l *pgLock) Close() error {
	l.mu.Lock()
	holds := l.holds
	l.holds = map[*pgHold]bool{}
	l.mu.Unlock()
	for h := range holds {
		_ = h.release(func(*pgx.Conn) error { return nil })
	}
	l.side.close()
	l.eye.close()
	l.events.close()
	return nil
}
