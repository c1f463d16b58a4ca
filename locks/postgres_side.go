package locks

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// pgSide is a second connection, made when needed and again after an error; its
// statements commit by themselves.
type pgSide struct {
	addr, name string
	mu         sync.Mutex
	conn       *pgx.Conn
	rows       map[string]bool // keys whose row is known to exist
}

func (s *pgSide) do(ctx context.Context, f func(*pgx.Conn) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		conn, err := pgConnect(ctx, s.addr, s.name, nil)
		if err != nil {
			return err
		}
		s.conn = conn
	}
	err := f(s.conn)
	if err != nil {
		pgClose(s.conn)
		s.conn = nil
	}
	return err
}

// pgTables makes the tables. CREATE IF NOT EXISTS fails when two sessions run it
// at once, so they take turns.
func pgTables(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.PgConn().Exec(ctx, `
BEGIN;
SELECT pg_advisory_xact_lock(7350218);
CREATE TABLE IF NOT EXISTS dlmtest_locks (key text PRIMARY KEY);
CREATE TABLE IF NOT EXISTS dlmtest_tokens (key text PRIMARY KEY, token bigint NOT NULL);
COMMIT`).ReadAll()
	return err
}

// row makes the row that the lock of key locks.
func (s *pgSide) row(ctx context.Context, key string) error {
	return s.do(ctx, func(conn *pgx.Conn) error {
		if s.rows[key] {
			return nil
		}
		_, err := conn.Exec(ctx, "INSERT INTO dlmtest_locks (key) VALUES ($1) ON CONFLICT DO NOTHING", key)
		if err == nil {
			if s.rows == nil {
				s.rows = map[string]bool{}
			}
			s.rows[key] = true
		}
		return err
	})
}

// token raises the key's counter in a transaction of its own. A sequence would
// not do: nextval writes to the log only every 32nd time, so after a crash a
// value may come again whose transaction had committed while the one that logged
// it had not. A row that was updated and committed survives.
func (s *pgSide) token(ctx context.Context, key string) (token int64, err error) {
	req, cancel := inFlight(ctx, 5*time.Second)
	defer cancel()
	err = s.do(req, func(conn *pgx.Conn) error {
		return conn.QueryRow(req, `INSERT INTO dlmtest_tokens (key, token) VALUES ($1, 1)
		  ON CONFLICT (key) DO UPDATE SET token = dlmtest_tokens.token + 1 RETURNING token`, key).Scan(&token)
	})
	return token, err
}

func (s *pgSide) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		pgClose(s.conn)
		s.conn = nil
	}
}
