package locks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// pgConnect opens a connection with the given settings. Statements are sent
// without a prepare of their own: one round trip each.
func pgConnect(ctx context.Context, addr, name string, settings map[string]string) (*pgx.Conn, error) {
	host, port, _ := strings.Cut(addr, ":")
	c, err := pgx.ParseConfig(fmt.Sprintf("host=%s port=%s sslmode=disable", host, port))
	if err != nil {
		return nil, err
	}
	if os.Getenv("PGUSER") == "" {
		c.User = "postgres"
	}
	if os.Getenv("PGDATABASE") == "" {
		c.Database = "postgres"
	}
	c.DefaultQueryExecMode = pgx.QueryExecModeExec
	c.RuntimeParams["application_name"] = name
	for k, v := range settings {
		c.RuntimeParams[k] = v
	}
	return pgx.ConnectConfig(ctx, c)
}

// dial opens the session that will hold the lock as owner. Its settings let the
// server itself take a waiter out of the queue when its client is gone or has
// waited to its limit: a lock granted to nobody would never end.
func (l *pgLock) dial(ctx context.Context, owner string) (*pgx.Conn, error) {
	if len(owner) > 63 {
		return nil, fmt.Errorf("locks: postgres: application_name keeps 63 bytes; owner %q has more", owner)
	}
	settings := map[string]string{"client_connection_check_interval": "500"}
	if d, ok := ctx.Deadline(); ok {
		settings["lock_timeout"] = pgMillis(time.Until(d))
	}
	if l.cfg.IdleTimeout > 0 {
		settings[l.kind.idle] = pgMillis(l.cfg.IdleTimeout)
	}
	return pgConnect(ctx, l.cfg.Endpoints[0], owner, settings)
}

func pgMillis(d time.Duration) string { return strconv.FormatInt(max(d.Milliseconds(), 1), 10) }

// pgAsk runs the statement that takes the lock. When ctx ends it asks the server
// to cancel and waits for the answer, so that the outcome is known; taken and an
// error together say that the lock came just as ctx ended.
func pgAsk(ctx context.Context, conn *pgx.Conn, begin, statement, key string) (taken bool, err error) {
	own := context.WithoutCancel(ctx)
	cancelled := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cancelled)
		_ = conn.PgConn().Conn().SetReadDeadline(time.Now().Add(2 * grace))
		limit, done := context.WithTimeout(own, grace)
		defer done()
		_ = conn.PgConn().CancelRequest(limit) // unanswered: the read deadline ends the wait
	})
	if begin != "" {
		_, err = conn.Exec(own, begin)
	}
	if err == nil {
		err = conn.QueryRow(own, statement, key).Scan(&taken)
	}
	if !stop() {
		<-cancelled
		_ = conn.PgConn().Conn().SetReadDeadline(time.Time{})
		if err == nil {
			err = ctx.Err()
		}
	}
	return taken, err
}

// pgAnswered says that the server itself refused: the statement had no effect.
func pgAnswered(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg)
}

// pgBusy says that the server did not get the lock at once, or within lock_timeout.
func pgBusy(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "55P03" // lock_not_available
}

// pgEnded says that the server ended the session (idle, shutdown, terminated),
// and with it every lock of the session.
func pgEnded(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Severity == "FATAL" || pg.Severity == "PANIC")
}

// pgClose ends the session for certain: politely first, then the socket itself,
// as pgx after an error goes on closing in the background.
func pgClose(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	_ = conn.Close(ctx)
	_ = conn.PgConn().Conn().Close()
}

// pgHold is the session behind a grant.
type pgHold struct {
	conn    *pgx.Conn
	lose    func(why string)
	unwatch context.CancelFunc
	watched chan struct{} // closed when the watcher has ended
	lost    error         // set by the watcher before

	mu   sync.Mutex
	done bool
	end  error // what the first release said
}

func (l *pgLock) hold(conn *pgx.Conn, owner string) *pgHold {
	h := &pgHold{conn: conn, lose: func(why string) { l.tell(Lost, owner, why) }}
	l.mu.Lock()
	l.holds[h] = true
	l.mu.Unlock()
	h.watch()
	return h
}

// watch reads the idle connection, so that its end is noticed when it happens and
// not at the release.
func (h *pgHold) watch() {
	ctx, cancel := context.WithCancel(context.Background())
	watched := make(chan struct{})
	h.unwatch, h.watched = cancel, watched
	go func() {
		defer close(watched)
		var err error
		for err == nil { // nothing is listened to, but a notification would be no loss
			_, err = h.conn.WaitForNotification(ctx)
		}
		if pgEnded(err) || ctx.Err() == nil { // not merely stopped
			h.lost = err
			h.lose(err.Error())
		}
	}()
}

// use asks something of the session that goes on holding.
func (h *pgHold) use(ask func(*pgx.Conn) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done {
		return ErrNotHeld
	}
	h.unwatch()
	<-h.watched
	if h.lost != nil {
		return fmt.Errorf("%w: %w", ErrNotHeld, h.lost)
	}
	defer h.watch()
	return ask(h.conn)
}

func (l *pgLock) forget(h *pgHold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.holds, h)
}

// release stops the watcher, which reads the same connection, before it unlocks.
// The connection is closed whatever came of it; so a release that failed cannot be
// repeated, and says the same again.
func (h *pgHold) release(unlock func(*pgx.Conn) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done {
		if h.end == nil {
			return ErrNotHeld
		}
		return h.end
	}
	h.done = true
	h.unwatch()
	<-h.watched
	defer pgClose(h.conn)
	h.end = h.lost
	if h.end == nil {
		h.end = unlock(h.conn)
	}
	if pgEnded(h.end) {
		h.end = fmt.Errorf("%w: %w", ErrNotHeld, h.end)
	}
	return h.end
}
