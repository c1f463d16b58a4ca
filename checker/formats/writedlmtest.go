package formats

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// WriteDlmtest writes events of locks as a history of dlmtest. It refuses what
// such a history cannot say: registers, events without a time, an owner that is granted
// a lock again before it gave it back. What it writes can be read as any other
// history of dlmtest: a grant has a name of its own there, so a name that comes again gets a number.
// Of what a lock promises it claims no more than the events show, so it serves
// to be judged by a model, not to stand for a run. lease is for the header where
// no grant names one.
func WriteDlmtest(out io.Writer, events iter.Seq2[models.Event, error], lease time.Duration) error {
	w := dlmtestWriter{keys: map[string]bool{}, tokens: true,
		names: grantNames{used: map[string]bool{}, next: map[string]int{}, now: map[holder]*named{}, calls: map[int]*named{}}}
	for e, err := range events {
		if err == nil {
			err = w.add(&e)
		}
		if err != nil {
			return err
		}
	}
	setup := history.Setup{Kind: w.kind, Keys: slices.Sorted(maps.Keys(w.keys)), Lease: time.Duration(w.longest),
		Fencing: history.AtLeast, FenceOn: history.OnWrite}
	if w.longest == 0 {
		setup.Lease = lease
	}
	setup.Promise = history.Promise{Backend: "unknown", Token: w.tokens, About: "read from a history that dlmtest did not record"}
	if err := history.Validate(setup, w.ops); err != nil {
		var broken *history.Broken
		if errors.As(err, &broken) { // its line is one of a file that is not written
			err = fmt.Errorf("line %d: %w", w.lines[broken.Index], broken.Err)
		}
		return fmt.Errorf("there is no dlmtest history of this: %w", err)
	}
	return history.Encode(out, setup, w.ops)
}

// dlmtestWriter keeps what the header, which stands first, needs to know of all that follows.
type dlmtestWriter struct {
	ops     []history.Op
	lines   []int // from which each came
	names   grantNames
	keys    map[string]bool
	kind    history.Kind
	longest int64 // lease
	tokens  bool  // every grant has one
}

func (w *dlmtestWriter) add(e *models.Event) error {
	op, err := opOf(e)
	if err == nil {
		op.Owner, err = w.names.of(e)
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", e.Line, err)
	}
	w.keys[op.Key] = true
	if op.Mode == history.Shared {
		w.kind = history.ReadWrite
	}
	w.longest = max(w.longest, e.Lease)
	w.tokens = w.tokens && (!isGrant(e) || e.Token != 0)
	op.Index = len(w.ops)
	w.ops, w.lines = append(w.ops, op), append(w.lines, e.Line)
	return nil
}

func isGrant(e *models.Event) bool {
	return e.Type == history.OK && (e.F == models.Acquire || e.F == models.Try || e.F == models.AcquireR)
}

// theKey names the lock of a history that has one and gives it no name.
const theKey = "lock"

func opOf(e *models.Event) (history.Op, error) {
	mode := history.Mode("")
	f := history.F(e.F)
	switch e.F {
	case models.AcquireR:
		f, mode = history.Acquire, history.Shared
	case models.ReleaseR:
		f, mode = history.Release, history.Shared
	}
	switch {
	case mode == "" && e.F != models.Acquire && e.F != models.Try && e.F != models.Extend && e.F != models.Release:
		return history.Op{}, fmt.Errorf("a dlmtest history has no %s outside of a run: write EDN", e.F)
	case e.Time == 0:
		return history.Op{}, fmt.Errorf("the event has no time, by which a dlmtest history is ordered: write EDN")
	}
	op := history.Op{Time: e.Time, Process: e.Process, Type: e.Type, F: f, Mode: mode, Key: e.Key, Owner: e.Owner,
		Token: e.Token, Lease: e.Lease, Error: e.Note}
	if op.Key == "" {
		op.Key = theKey
	}
	if e.Refused && op.Error == "" { // else nothing tells it from a failure that says nothing
		op.Error = "refused"
	}
	return op, nil
}
