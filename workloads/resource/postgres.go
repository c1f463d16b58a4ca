package resource

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/dlmtest/dlmtest/history"
)

//go:embed postgres.sql
var schema string

// schemaLock serialises the making of the schema among clients that start
// together: CREATE … IF NOT EXISTS and CREATE OR REPLACE both race with
// themselves. The number is arbitrary.
const schemaLock = 0x646c6d74657374

// Postgres is a Resource in a PostgreSQL database, as the well-known conditional
// UPDATE: "… SET last_fencing_token = $1 WHERE last_fencing_token <= $1".
//
// A call is one function call on the server, in one statement and so in one
// transaction and one packet. Were it BEGIN, SELECT FOR UPDATE, UPDATE, COMMIT
// from here, a client stopped in the middle would hold the row: the resource
// would be a lock, and hide what the lock under test does.
type Postgres struct {
	pool  *pgxpool.Pool
	rules Rules
}

// OpenPostgres connects to a database and makes the schema where it is missing;
// any number of clients may do so at once. addr is a URL or DSN as libpq has
// them, or host:port alone for the user and the database postgres without a
// password, as in the project's own cluster.
func OpenPostgres(ctx context.Context, addr string, rules Rules) (*Postgres, error) {
	if err := rules.Check(); err != nil {
		return nil, err
	}
	if _, _, err := net.SplitHostPort(addr); err == nil && !strings.ContainsAny(addr, "/=") {
		addr = "postgres://postgres@" + addr + "/postgres?sslmode=disable"
	}
	config, err := pgxpool.ParseConfig(addr)
	if err != nil {
		return nil, fmt.Errorf("resource: postgres: %w", err)
	}
	// Parse, bind and execute go out together, with no round trip to prepare first.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("resource: postgres: %w", err)
	}
	if err := makeSchema(ctx, pool); err != nil {
		pool.Close()
		return nil, fmt.Errorf("resource: postgres: schema: %w", err)
	}
	return &Postgres{pool: pool, rules: rules}, nil
}

func makeSchema(ctx context.Context, pool *pgxpool.Pool) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(schemaLock)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, schema, pgx.QueryExecModeSimpleProtocol)
		return err
	})
}

// Read implements Resource.
func (db *Postgres) Read(ctx context.Context, req ReadRequest) (Copies, error) {
	if err := req.Check(); err != nil {
		return Copies{}, err
	}
	return db.call(ctx, "SELECT * FROM dlmtest_read($1, $2, $3, $4, $5)",
		req.Key, req.Owner, req.Token, db.rules.FenceOn == OnRead)
}

// Write implements Resource.
func (db *Postgres) Write(ctx context.Context, req WriteRequest) (Copies, error) {
	if err := req.Check(); err != nil {
		return Copies{}, err
	}
	copies, err := db.call(ctx, "SELECT * FROM dlmtest_write($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		req.Key, req.Owner, req.Token, db.rules.Fencing == Strict,
		req.Value, req.UnfencedBase, req.FencedBase, req.IfUnchanged)
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.Code == uniqueViolation {
		return copies, Reused(req.Value)
	}
	return copies, err
}

// Do implements Doer.
func (db *Postgres) Do(ctx context.Context, req EffectRequest) (Copies, error) {
	if err := req.Check(); err != nil {
		return Copies{}, err
	}
	copies, err := db.call(ctx, "SELECT * FROM dlmtest_do($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		req.Key, req.Owner, req.Token, req.Value, req.Unfenced, req.Fenced, req.Once, req.Fence)
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.Code == uniqueViolation {
		return copies, Reused(req.Value)
	}
	return copies, err
}

// Close implements Resource.
func (db *Postgres) Close() error {
	db.pool.Close()
	return nil
}

// call sends one request once; the stamp of its sending is the last argument.
func (db *Postgres) call(ctx context.Context, sql string, args ...any) (Copies, error) {
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return Copies{}, fmt.Errorf("resource: postgres: connect: %w: %w", ErrNoEffect, err)
	}
	defer conn.Release()
	e, err := one(conn.Query(ctx, sql, append(args, history.Raw())...))
	if err == nil {
		return e.copies(), nil
	}
	if noEffect(err) {
		return Copies{}, fmt.Errorf("resource: postgres: %w: %w", ErrNoEffect, err)
	}
	return Copies{}, fmt.Errorf("resource: postgres: outcome unknown: %w", err)
}

func one(rows pgx.Rows, err error) (entry, error) {
	if err != nil {
		return entry{}, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[entry])
}

const (
	uniqueViolation   = "23505" // raised by dlmtest_write
	completionUnknown = "40003"
)

// noEffect is the one place that decides whether an error leaves the outcome
// open. Certain are only: nothing was sent, and a plain ERROR of the server,
// which rolls the statement back. FATAL ends a session at any point, also while
// a finished commit waits for its answer.
func noEffect(err error) bool {
	if connect := (*pgconn.ConnectError)(nil); errors.As(err, &connect) || pgconn.SafeToRetry(err) {
		return true
	}
	pg := (*pgconn.PgError)(nil)
	if !errors.As(err, &pg) || pg.Code == completionUnknown {
		return false
	}
	return pg.SeverityUnlocalized == "ERROR"
}
