package resource

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

func TestNotes(t *testing.T) {
	got := notes([]entry{
		{F: "apply", Key: "a", Value: "1", Sent: 100, UnfencedAccepted: true, FencedAccepted: true, FencedToken: 7},
		{F: "apply", Key: "a", Value: "2", Sent: 50},             // sent before, decided after: held on the wire
		{F: "read-seen", Key: "b", UnfencedValue: "x", Sent: 60}, // another key
		{F: "apply", Key: "a", Value: "3", Sent: 200},
	})
	want := []struct {
		key, value string
		time       int64
	}{{"b", "", 60}, {"a", "1", 100}, {"a", "2", 101}, {"a", "3", 200}}
	for i, w := range want {
		if op := got[i]; op.Key != w.key || op.Value != w.value || op.Time != w.time || op.Type != history.Note {
			t.Errorf("note %d: %+v, want %+v", i, op, w)
		}
	}
	if op := got[1]; !op.Unfenced.Accepted || !op.Fenced.Accepted || op.Fenced.Token != 7 {
		t.Errorf("copies of an apply: %+v %+v", op.Unfenced, op.Fenced)
	}
	if op := got[0]; op.Unfenced.Accepted || op.Unfenced.Value != "x" || op.F != history.ReadSeen {
		t.Errorf("copies of a read: %+v", op.Unfenced)
	}
}

// Whatever the true instants were, a note lies in [sent, truth] and so before
// the answer, and the order per key is that of the rows.
func TestNotesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows []entry
		var truth []int64
		now := int64(0)
		for i := range rapid.IntRange(0, 30).Draw(t, "rows") {
			now += rapid.Int64Range(1, 5).Draw(t, "gap")
			sent := max(0, now-rapid.Int64Range(0, 40).Draw(t, "on the wire"))
			rows = append(rows, entry{Key: fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "key")), Token: int64(i), Sent: sent})
			truth = append(truth, now)
		}
		last := map[string]int64{}
		for _, op := range notes(rows) {
			i := op.Token
			if op.Time < rows[i].Sent || op.Time > truth[i] {
				t.Errorf("row %d: time %d outside [%d, %d]", i, op.Time, rows[i].Sent, truth[i])
			}
			if before, ok := last[op.Key]; ok && before >= i {
				t.Errorf("key %s: row %d after row %d", op.Key, i, before)
			}
			last[op.Key] = i
		}
	})
}

func TestNoEffect(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"no connection", &pgconn.ConnectError{}, true},
		{"statement failed", &pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "40P01"}, true},
		{"completion unknown", &pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "40003"}, false},
		{"server shut down", &pgconn.PgError{SeverityUnlocalized: "FATAL", Code: "57P01"}, false},
		{"deadline", context.DeadlineExceeded, false},
		{"anything else", errors.New("unexpected EOF"), false},
	} {
		if got := noEffect(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
