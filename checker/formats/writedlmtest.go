package formats

import (
	"bytes"
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
// such a history cannot say: registers, events without a time.
// Of what a lock promises it claims no more than the events show, so it serves
// to be judged by a model, not to stand for a run. lease is for the header where
// no grant names one.
func WriteDlmtest(out io.Writer, events iter.Seq2[models.Event, error], lease time.Duration) error {
	var body bytes.Buffer // the header stands first, and needs what comes last
	lines, err := history.NewWriter(&body, history.Setup{})
	if err != nil {
		return err
	}
	head := body.Len()
	keys, longest := map[string]bool{}, int64(0)
	kind := history.Mutex
	tokens := true
	for e, err := range events {
		if err != nil {
			return err
		}
		op, err := opOf(&e)
		if err != nil {
			return fmt.Errorf("line %d: %w", e.Line, err)
		}
		keys[op.Key] = true
		if op.Mode == history.Shared {
			kind = history.ReadWrite
		}
		longest = max(longest, e.Lease)
		tokens = tokens && (!isGrant(&e) || e.Token != 0)
		if err := lines.Append(op); err != nil {
			return err
		}
	}
	if err := lines.Flush(); err != nil {
		return err
	}
	setup := history.Setup{Kind: kind, Keys: slices.Sorted(maps.Keys(keys)), Lease: time.Duration(longest)}
	if longest == 0 {
		setup.Lease = lease
	}
	setup.Promise = history.Promise{Backend: "unknown", Token: tokens, About: "read from a history that dlmtest did not record"}
	return finish(out, setup, body.Bytes()[head:])
}

func finish(out io.Writer, setup history.Setup, body []byte) error {
	if err := history.Validate(setup, nil); err != nil {
		return fmt.Errorf("there is no dlmtest history of this: %w", err)
	}
	if _, err := history.NewWriter(out, setup); err != nil {
		return err
	}
	_, err := out.Write(body)
	return err
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
	op := history.Op{Time: e.Time, Process: e.Process, Type: e.Type, F: f, Mode: mode, Key: e.Key, Owner: e.Owner, Token: e.Token, Lease: e.Lease, Error: e.Note}
	if op.Key == "" {
		op.Key = theKey
	}
	return op, nil
}
