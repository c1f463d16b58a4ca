package resource

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/dlmtest/dlmtest/history"
)

// entry is one row of dlmtest_log.
type entry struct {
	N                int64
	F                string
	Key              string
	Owner            string
	Token            int64
	Value            string
	Sent             int64
	UnfencedValue    string
	UnfencedBase     string
	UnfencedPrevious string
	FencedValue      string
	FencedBase       string
	FencedPrevious   string
	FencedAccepted   bool
	FencedToken      int64
	UnfencedAccepted bool
}

// copies is the row as the client is told of it.
func (e entry) copies() Copies {
	return Copies{
		Unfenced: history.Copy{
			Value: e.UnfencedValue, Base: e.UnfencedBase, Previous: e.UnfencedPrevious,
			Accepted: e.UnfencedAccepted,
		},
		Fenced: history.Copy{
			Value: e.FencedValue, Base: e.FencedBase, Previous: e.FencedPrevious,
			Accepted: e.FencedAccepted, Token: e.FencedToken,
		},
	}
}

// Log implements Logger.
func (db *Postgres) Log(ctx context.Context) ([]history.Op, error) {
	rows, err := db.pool.Query(ctx, "SELECT * FROM dlmtest_log ORDER BY n")
	if err != nil {
		return nil, fmt.Errorf("resource: postgres: log: %w", err)
	}
	entries, err := pgx.CollectRows(rows, pgx.RowToStructByName[entry])
	if err != nil {
		return nil, fmt.Errorf("resource: postgres: log: %w", err)
	}
	return notes(entries), nil
}

// notes turns rows in the order of n into notes in the order of time.
//
// The server cannot read our clock, so each note gets the earliest time that
// fits: not before its request was sent, and after the note before it on its
// key. This is never later than the truth. By induction: the true instants
// follow the order of n and lie after their requests were sent, so each is at
// least both bounds. Hence no note falls after its client's answer either,
// though nobody stored when that came. What it can be is too early, for a
// request held on its way; the order per key, which the judge goes by, is
// exact all the same. Between keys the order says nothing.
func notes(entries []entry) []history.Op {
	ops := make([]history.Op, 0, len(entries))
	last := map[string]int64{}
	for _, e := range entries {
		time := max(e.Sent, last[e.Key]+1)
		last[e.Key] = time
		copies := e.copies()
		ops = append(ops, history.Op{
			Time: time, Type: history.Note, F: history.F(e.F),
			Key: e.Key, Owner: e.Owner, Token: e.Token, Value: e.Value,
			Unfenced: &copies.Unfenced, Fenced: &copies.Fenced,
		})
	}
	slices.SortStableFunc(ops, func(a, b history.Op) int { return cmp.Compare(a.Time, b.Time) })
	return ops
}
