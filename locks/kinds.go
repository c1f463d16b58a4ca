package locks

import (
	"context"

	"github.com/dlmtest/dlmtest/history"
)

// What a Client may offer beyond a mutex, an interface each. A key is used in one
// kind alone: who writes by Acquire does not see who reads by AcquireAs.

// ReadWriter is a Client whose keys can be held by readers together, or by one writer.
type ReadWriter interface {
	// AcquireAs waits for key as a reader (history.Shared) or as the writer
	// (history.Exclusive). Its errors, and what ends the grant, are those of Acquire.
	AcquireAs(ctx context.Context, key string, mode history.Mode) (*Grant, error)
}

// Changer is a ReadWriter whose holds can be turned into the other mode without
// being given back.
type Changer interface {
	// Change waits until g, which goes on meanwhile, is held in the other mode, and
	// returns it so. ErrNotGranted: g is held as it was; ErrNotHeld: it is lost. Two
	// readers that both wait to write would wait for ever, so one is refused at once.
	Change(ctx context.Context, g *Grant, mode history.Mode) (*Grant, error)
}

// Permitter is a Client whose keys have a number of permits: a semaphore.
type Permitter interface {
	// AcquirePermits waits for n of the permits of key, all or none; of is how many
	// there are, and the same for all who use key. Release gives back all of a grant.
	AcquirePermits(ctx context.Context, key string, n, of int) (*Grant, error)
}

// Reenterer is a Client whose keys can be taken again by whoever holds them.
type Reenterer interface {
	// AcquireBy waits for key on behalf of a thread of this client. Taken again by its
	// holder (see history.Reentry), it returns the same Owner and Token at once, one deeper.
	AcquireBy(ctx context.Context, key, thread string) (*Grant, error)
	// ReleaseBy gives back one hold of g, and says how many remain.
	ReleaseBy(ctx context.Context, g *Grant) (left int, err error)
}

// Keeper is a Client that renews a grant by itself: a watchdog. Others are renewed by Keep.
type Keeper interface {
	// Keep renews g until stop is called. It calls told once, before the deadline of
	// the last renewal that was answered, if there is no later one: the holder must
	// know in time that it may hold no more. Renewed is called with each new claim.
	Keep(ctx context.Context, g *Grant, renewed func(*Grant), told func(why string)) (stop func())
}

// Waker is a Client that can ask the servers how many waiters they have woken.
type Waker interface {
	// Woken is their number since the servers were started. It only rises.
	Woken(ctx context.Context) (int64, error)
}

// Offers says whether a lock offers a kind; what it promises is what a run relies on.
func Offers(p history.Promise, k history.Kind) bool {
	switch k {
	case history.Tried:
		return p.Tries
	case history.Reentrant:
		return p.Reentry != ""
	case history.ReadWrite:
		return p.Shared
	case history.Semaphore:
		return p.Permits
	case history.Watchdog:
		return p.Leased && (p.Extends || p.Renews) // its user renews it, or its session does
	}
	return true
}
