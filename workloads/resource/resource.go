// Package resource is the guarded resource: what the lock under test protects.
//
// Every key is kept twice. The unfenced copy accepts every write; the fenced
// copy checks tokens. So one run shows what a broken lock breaks, and whether
// fencing would have saved it. A resource keeps a complete log of its own, in
// the order in which it decided: the judge trusts that log, not the clients.
//
// Store, with Serve and Dial, is the built-in one; OpenPostgres is the same
// thing as the well-known conditional UPDATE.
package resource

import (
	"context"
	"errors"
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// Resource is the guarded resource as one client sees it.
//
// An error leaves the outcome open, for the request may have been sent; only an
// error that matches ErrNoEffect says that certainly nothing was written. No
// call is ever sent twice by the resource itself.
type Resource interface {
	// Read returns both copies of a key; a copy never written has the Value "".
	// With FenceOn read the fenced copy registers the token. A token below the
	// highest registers nothing, and is answered: to refuse it would need a
	// lock-aware reader on every read path, and a stale read alone harms nobody.
	// Its writer is refused later; Fenced.Token tells the reader already now.
	Read(ctx context.Context, req ReadRequest) (Copies, error)
	// Write decides both copies in one atomic step. A copy that refuses a write
	// is no error: Accepted says which did what.
	//
	// Values are unique in a run, so a second delivery of one Value is a repeat:
	// it changes nothing, is not logged again and gets the first answer. The
	// same Value with another owner, token or base is an error.
	Write(ctx context.Context, req WriteRequest) (Copies, error)
	// Close ends the connection. Calls under way fail, their outcome open.
	Close() error
}

// Logger is a Resource that hands out its log afterwards, as Apply and ReadSeen
// notes in the order of their times. A Store emits its log as it goes instead.
type Logger interface {
	// Log is complete once no client has a call under way.
	Log(ctx context.Context) ([]history.Op, error)
}

// ReadRequest asks for both copies of a key.
type ReadRequest struct {
	Key   string
	Owner string // the grant on which the client acts
	Token int64  // of that grant; 0: the lock gives none
}

// WriteRequest writes one value to both copies of a key. The bases are what the
// writer had read there before: the resource logs them and does not compare
// them, as that would be another kind of protection (see IfUnchanged).
type WriteRequest struct {
	Key          string
	Owner        string // the grant on which the client acts
	Token        int64  // of that grant; 0: the lock gives none, the fenced copy accepts unchecked
	Value        string // unique in the run, not empty
	UnfencedBase string
	FencedBase   string
	// IfUnchanged is the protection that needs no lock, a version column: a copy
	// takes the write only if its base still stands there.
	IfUnchanged bool
}

// stands says whether the writer's base allows the write.
func (r WriteRequest) stands(base, current string) bool { return !r.IfUnchanged || base == current }

// Copies is the answer: both copies as this operation saw or decided them.
type Copies struct {
	Unfenced history.Copy
	Fenced   history.Copy
}

// ErrNoEffect says that a call certainly had no effect, now or later.
var ErrNoEffect = errors.New("certainly no effect")

// Check refuses a request that no resource takes; its error matches ErrNoEffect.
func (r ReadRequest) Check() error { return check(r.Key, r.Token) }

// Check refuses a request that no resource takes; its error matches ErrNoEffect.
func (r WriteRequest) Check() error {
	if r.Value == "" {
		return fmt.Errorf("resource: write to %q without a value, which would read as never written: %w", r.Key, ErrNoEffect)
	}
	return check(r.Key, r.Token)
}

func check(key string, token int64) error {
	if key == "" {
		return fmt.Errorf("resource: no key: %w", ErrNoEffect)
	}
	if token < 0 {
		return fmt.Errorf("resource: token %d of %q is negative; a lock without tokens uses 0: %w", token, key, ErrNoEffect)
	}
	return nil
}

// Reused is the error of a Value that another write has used before.
func Reused(value string) error {
	return fmt.Errorf("resource: value %q was used by another write; values are unique in a run: %w", value, ErrNoEffect)
}
