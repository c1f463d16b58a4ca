package formats

import (
	"errors"
	"fmt"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// The parts of a dlmtest history that can be read, in Options.Part.
const (
	PartLock     = "lock"     // acquires, tries, renewals and releases
	PartFenced   = "fenced"   // reads and writes of the copy that checks tokens
	PartUnfenced = "unfenced" // reads and writes of the copy that takes every write
)

// readDlmtest reads one part of a history of dlmtest. Each part is a history of
// its own: a process does one after the other.
func (r *Reader) readDlmtest() error {
	named, nameless := false, 0
	return history.Stream(r.in, r.knowsFence, func(op *history.Op) error {
		e := models.Event{Line: op.Index + 2, Time: op.Time, Process: op.Process, Type: op.Type, Key: op.Key, Owner: op.Owner,
			Token: op.Token, Lease: op.Lease, Note: op.Error}
		if err := r.clock(&e); err != nil {
			return r.at(e.Line, err)
		}
		if op.Type == history.Note {
			r.Skipped["notes"]++
			return nil
		}
		named = named || op.Owner != ""
		if op.Owner == "" && op.Type == history.OK && (op.F == history.Acquire || op.F == history.Try) && nameless == 0 {
			nameless = e.Line
		}
		switch {
		case named && nameless > 0: // one of the two would be taken for a client of its own
			return r.at(e.Line, fmt.Errorf("the grant of line %d has no owner, but other operations name theirs", nameless))
		case op.Process < 0 || op.Time < 0 || op.Time > furthest || op.Lease < 0 || op.Lease > furthest || op.Token < 0:
			return r.at(e.Line, fmt.Errorf("a process, time, lease or token out of range"))
		case op.F == history.Read || op.F == history.Write:
			return r.guarded(&e, op)
		case op.F == history.Effect:
			r.Skipped["effects"]++
			return nil
		case op.F == history.Change:
			return r.at(e.Line, fmt.Errorf("a hold changes its mode, for which no model has a word"))
		case op.Permits > 1:
			return r.at(e.Line, fmt.Errorf("%d permits at once: the model semaphore knows holds of one", op.Permits))
		case op.F != history.Acquire && op.F != history.Try && op.F != history.Extend && op.F != history.Release:
			return r.at(e.Line, fmt.Errorf("f %s is no operation of a client", clip(string(op.F))))
		case r.o.Part == PartFenced || r.o.Part == PartUnfenced:
			r.Skipped["operations on locks"]++
			return nil
		}
		e.F = models.F(op.F)
		if op.Mode == history.Shared {
			if e.F = shared[op.F]; e.F == "" {
				return r.at(e.Line, fmt.Errorf("no model has a word for the %s of a reader", op.F))
			}
		}
		return r.give(&e)
	})
}

// knowsFence refuses the fenced copy where its fence goes by another rule than a model knows: what that refused would seem to be wrong.
func (r *Reader) knowsFence(setup history.Setup) error {
	switch {
	case r.o.Part != PartFenced:
	case setup.FenceOn == history.OnRead:
		return errors.New("fence_on is read: no model knows a fence that reads register their token with; dlmtest check without --model judges it")
	case setup.Fencing == history.Strict:
		return errors.New("fencing is strict: no model knows a fence that takes a token once; dlmtest check without --model judges it")
	}
	return nil
}

// shared are a model's words for what a reader does.
var shared = map[history.F]models.F{history.Acquire: models.AcquireR, history.Release: models.ReleaseR, history.Extend: models.Extend}

// guarded reads an operation on the guarded resource.
func (r *Reader) guarded(e *models.Event, op *history.Op) error {
	seen := op.Fenced
	switch r.o.Part {
	case PartUnfenced:
		seen = op.Unfenced
	case PartFenced:
	default:
		r.Skipped["reads and writes"]++
		return nil
	}
	e.F, e.Value = models.F(op.F), op.Value
	if op.Type != history.OK {
		return r.give(e)
	}
	switch {
	case seen == nil:
		return r.at(e.Line, fmt.Errorf("%s ends without what the %s copy said", op.F, r.o.Part))
	case op.F == history.Read:
		e.Value = seen.Value
	case !seen.Accepted:
		e.Type = history.Fail
	}
	return r.give(e)
}
