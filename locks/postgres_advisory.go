package locks

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// pgAdvisory takes a session-level advisory lock on a 64-bit hash of the key. Two
// keys with one hash would share a lock: too strict, never too loose.
var pgAdvisory = pgKind{
	name:    "postgres-advisory",
	lock:    "SELECT pg_advisory_lock(hashtextextended($1, 0))::text IS NOT NULL",
	try:     "SELECT pg_try_advisory_lock(hashtextextended($1, 0))",
	unlock:  pgUnlock("pg_advisory_unlock"),
	share:   "SELECT pg_advisory_lock_shared(hashtextextended($1, 0))::text IS NOT NULL",
	unshare: pgUnlock("pg_advisory_unlock_shared"),
	idle:    "idle_session_timeout", // there is no transaction to be idle in
	holder: `SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
	  WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
	    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
	    AND (l.classid::bigint << 32) | l.objid::bigint = hashtextextended($1, 0)`,
}

// OpenPostgresAdvisory opens a session with an advisory lock on the first endpoint.
func OpenPostgresAdvisory(ctx context.Context, c Config) (Client, error) {
	l, err := openPG(ctx, c, pgAdvisory)
	if err != nil {
		return nil, err
	}
	return &pgNested{pgLock: l, keys: map[string]*pgNest{}}, nil
}

func pgUnlock(function string) func(context.Context, *pgx.Conn, string) error {
	return func(ctx context.Context, conn *pgx.Conn, key string) error {
		var freed bool
		err := conn.QueryRow(ctx, "SELECT "+function+"(hashtextextended($1, 0))", key).Scan(&freed)
		if err == nil && !freed {
			return ErrNotHeld
		}
		return err
	}
}
