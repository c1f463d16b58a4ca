package history

import (
	"fmt"
	"slices"
)

// Kind is what kind of lock the clients of a run used, which is what their loop asks
// for. All but ReadWrite and Semaphore let in one client at a time.
type Kind string

// The kinds. The zero value is a plain mutex, waited for and given back.
const (
	Mutex     Kind = ""
	Tried     Kind = "try"        // asked for without waiting, or with a short limit
	Reentrant Kind = "reentrant"  // its holder may take it again, and gives it back as often
	ReadWrite Kind = "read-write" // readers together, or one writer
	Semaphore Kind = "semaphore"  // at most Setup.Permits at a time
	Leader    Kind = "leader"     // held for long by one who acts again and again
	Watchdog  Kind = "watchdog"   // renewed beside work that takes longer than its lease
	Herd      Kind = "herd"       // many wait for it at once
	Alone     Kind = "own-key"    // of a key that one client alone asks for
)

// Kinds are all of them.
var Kinds = []Kind{Mutex, Tried, Reentrant, ReadWrite, Semaphore, Leader, Watchdog, Herd, Alone}

// Shares says that several clients may hold such a lock at once.
func (k Kind) Shares() bool { return k == ReadWrite || k == Semaphore }

// Mode is how a read-write lock is held.
type Mode string

// The modes. Whoever says none holds exclusively.
const (
	Exclusive Mode = "exclusive"
	Shared    Mode = "shared"
)

// check refuses a kind that is none, and permits where they mean nothing.
func (s *Setup) checkKind() error {
	switch {
	case !slices.Contains(Kinds, s.Kind):
		return fmt.Errorf("kind %q: want one of %q, or none for a mutex", s.Kind, Kinds[1:])
	case s.Kind == Semaphore && s.Permits < 1:
		return fmt.Errorf("permits %d: a semaphore has at least one", s.Permits)
	case s.Kind != Semaphore && s.Permits != 0:
		return fmt.Errorf("permits %d: only a semaphore has permits", s.Permits)
	}
	return nil
}

// kind checks what an operation says of the kind of its lock.
func (v *validator) kind(op *Op) error {
	switch {
	case op.Mode != "" && op.Mode != Exclusive && op.Mode != Shared:
		return fmt.Errorf("mode %q: want exclusive or shared", op.Mode)
	case op.Permits < 0 || op.Depth < 0 || op.Limit < 0:
		return fmt.Errorf("permits %d, depth %d and limit %d: none can be negative", op.Permits, op.Depth, op.Limit)
	case op.Busy && op.Type != Fail:
		return fmt.Errorf("another is said to hold the lock, but only a failure says that")
	case op.F == Change && op.Type == Invoke && op.Mode == "":
		return fmt.Errorf("a change without the mode that is wanted")
	}
	return nil
}

// granted files a grant. One that a reentrant lock gives its holder again is no new
// one: it has the owner and the token of the first, and says so by its depth. Where nobody
// held it as that owner the lock has counted wrong, or knows of an acquire whose answer was lost,
// or comes later: of threads of one client that ask at once, who was served first may be answered last.
func (v *validator) granted(op, invoke *Op) error {
	if op.Owner == "" {
		return fmt.Errorf("a grant without an owner")
	}
	before, known := v.owners[op.Owner]
	switch {
	case op.Depth <= 1 && known && before.deeper && before.of == (holding{op.Node, invoke.Key}) && invoke.Index < before.index:
		before.deeper = false
		v.owners[op.Owner] = before
	case op.Depth == 1 && known && !before.back && before.of == (holding{op.Node, invoke.Key}): // told so of a hold within a hold
	case op.Depth <= 1 && known:
		return used("owner", op.Owner, before.index)
	case !known:
		v.owners[op.Owner] = granted{index: op.Index, token: op.Token, of: holding{op.Node, invoke.Key}, deeper: v.byProcess && op.Depth > 1}
	}
	return nil
}
