// Package adapter is the adapter's side of dlmtest's lock client protocol, version 1,
// for locks that are written in Go. It needs the standard library alone, and may be
// copied beside an old library into a module of its own.
package adapter

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Config is what a session is opened with.
type Config struct {
	Endpoints []string          // host:port of every server
	Ways      map[string]string // where a server is reached, by the host:port that other servers name it by
	Lease     time.Duration     // lease or session timeout to ask for
	Client    string            // name of this client
	Seed      uint64            // for random choices
}

// Ask is one wish for a lock.
type Ask struct {
	Key     string
	Wait    time.Duration // the longest wait; ctx ends with it. 0: do not wait at all (try)
	Shared  bool          // together with other readers
	Permits int           // of a semaphore: how many it has in all; 0: it is none
	Want    int           // of a semaphore: how many are wanted of them, all or none
	Thread  string        // of a reentrant lock: who asks, and may hold it already; "": it is none
}

// Grant is one lock that is held. Set what the library tells, and nothing else.
type Grant struct {
	Token    int64 // fencing token, where token is offered
	Deadline int64 // until when the library says that it holds, where validity is offered; see At
	Sent     int64 // when the request was sent that proved the hold, where sent or asked is offered; see At
	State    any   // the adapter's own
}

// Session is the open library.
type Session interface {
	// Acquire waits until ctx ends. ErrNotGranted: nothing is held, and nothing will be.
	Acquire(ctx context.Context, a Ask) (*Grant, error)
	// Release gives g back. ErrNotHeld: the service knows it no more.
	Release(ctx context.Context, g *Grant) error
	// Close ends the session. What is held still was given back before, as far as Release
	// did that within two seconds.
	Close() error
}

// Trier is a Session that offers try: ErrNotGranted, or a grant, without waiting.
type Trier interface {
	Try(ctx context.Context, a Ask) (*Grant, error)
}

// Extender is a Session that offers extend: it renews g and sets its new Deadline and Sent.
type Extender interface {
	Extend(ctx context.Context, g *Grant) error
}

// Errors that are definite: match them with errors.Is, as by fmt.Errorf("%w: …"). Every
// other error says that the outcome is unknown.
var (
	ErrNotGranted  = errors.New("not granted")
	ErrHeld        = fmt.Errorf("%w: held by another", ErrNotGranted) // the service said so of the lock that was asked for
	ErrNotHeld     = errors.New("not held")
	ErrConfig      = errors.New("invalid configuration")
	ErrUnsupported = errors.New("not supported")
)

// Adapter is a library behind the protocol.
type Adapter struct {
	Name    string   // of the library
	Library string   // its version
	Offers  []string // see docs/protocol.md; concurrent is added, as requests run side by side here
	// Open opens a session. tell passes on what the library says of its session; it may
	// be called from anywhere.
	Open func(ctx context.Context, c Config, tell Tell) (Session, error)
}

// Tell passes on an event: suspended, resumed or lost. g is the grant it concerns; nil:
// the whole session.
type Tell func(event string, g *Grant, why string)
