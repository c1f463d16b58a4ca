// Package locks says what a lock under test must offer and holds the reference
// locks, one file each. Every lock takes its connection details from Config and
// passes the suite in locktest.
package locks

import (
	"context"
	"errors"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// Client is one client's session with a lock service. It may be used by several
// goroutines, as a renewal runs beside the work.
type Client interface {
	// Acquire waits for key until ctx ends. An error that matches ErrNotGranted
	// says that certainly nothing is held; any other error leaves it open.
	Acquire(ctx context.Context, key string) (*Grant, error)
	// Release gives a grant back. An error that matches ErrNotHeld says that the
	// service knows this grant no more; any other error leaves it open.
	Release(ctx context.Context, g *Grant) error
	// Close ends the session and frees what it holds.
	Close() error
}

// Trier is a Client that can ask without waiting.
type Trier interface {
	// Try takes key or returns an error that matches ErrNotGranted.
	Try(ctx context.Context, key string) (*Grant, error)
}

// Extender is a Client whose grants have a lease that can be renewed.
type Extender interface {
	// Extend renews g for another lease and returns the renewed claim, with the
	// same Owner and Token and a later Sent and Deadline. ErrNotHeld: it is lost.
	Extend(ctx context.Context, g *Grant) (*Grant, error)
}

// Notifier is a Client that is told of the fate of its session.
type Notifier interface {
	// Events delivers in order and is closed by Close. Nothing is dropped.
	Events() <-chan Event
}

// Inspector is a Client that can read at the server who holds a key.
type Inspector interface {
	// Holder returns the owner as the server stores it, "" when the key is free.
	// It uses a connection of its own, so a stalled session does not stall it.
	Holder(ctx context.Context, key string) (Holder, error)
}

// Grant is one successful acquire, or its renewal.
type Grant struct {
	Key      string
	Owner    string        // unique in the run
	Token    int64         // fencing token, rising from grant to grant; 0: this lock gives none
	Sent     history.Stamp // when the request whose answer proved the hold was sent
	Lease    time.Duration // as granted by the service; 0: the lock has no lease
	Deadline int64         // by this program's own MONOTONIC (history.Mono), ns; 0: no deadline claimed
	// Of a lock that is no plain mutex, see Reenterer, ReadWriter and Permitter.
	Mode    history.Mode
	Permits int
	Depth   int
	State   any // private to the driver
}

// Valid is how long the grant is still claimed, by this program's own MONOTONIC;
// the largest duration when it claims no deadline.
func (g *Grant) Valid() time.Duration {
	if g.Deadline == 0 {
		return 1<<63 - 1
	}
	return time.Duration(g.Deadline - history.Mono())
}

// Holder is who holds a key, read at the server.
type Holder struct {
	Owner string        // "" : free
	Left  time.Duration // of the lease, where the server tells; 0: it does not
}

// EventKind is what a session learns about itself.
type EventKind string

// Suspended: the link is gone and the lock may be; Resumed: the session
// survived; Lost: the session is over and with it every grant made under it.
const (
	Suspended EventKind = "suspended"
	Resumed   EventKind = "resumed"
	Lost      EventKind = "lost"
)

// Event is one message to a session. Owner is set when it concerns one grant.
type Event struct {
	Kind  EventKind
	Owner string
	At    history.Stamp
	Why   string
}

// ErrNotGranted says that an acquire or a try certainly took nothing: it was
// refused, or it waited to its limit and its traces were removed.
var ErrNotGranted = errors.New("not granted")

// ErrHeld says why something was not granted: another holds the lock.
var ErrHeld = errors.New("held by another")

// ErrNotHeld says that the service does not, or no longer, know the grant.
var ErrNotHeld = errors.New("not held")

// Config is what a driver needs to open a session.
type Config struct {
	Endpoints []string `json:"endpoints"` // host:port of every server, in the order of the cluster
	// Ways are where servers are reached that other servers name, by the host:port that
	// these give them; one that is not here is reached there itself.
	Ways   map[string]string `json:"ways,omitempty"`
	Lease  time.Duration     `json:"lease"`  // asked for; the service may refuse, never silently change it
	Client string            `json:"client"` // name of the client, part of every owner
	Seed   uint64            `json:"seed"`   // for random delays; owners are random beyond it, see owners
	// IdleTimeout is PostgreSQL's idle_in_transaction_session_timeout; 0: off.
	IdleTimeout time.Duration `json:"idle_timeout,omitempty"`
	// Wait is how many replicas must acknowledge a grant or a renewal (Redis's
	// WAIT) before it is claimed; redis-replicated only, 0: none.
	Wait int `json:"wait,omitempty"`
	// Bearer is the token that a lock service wants with every request; http and grpc only.
	Bearer string `json:"bearer,omitempty"`
	// Between, if set, is called where a driver stands between two requests of one
	// acquire, the first of which took the key: a fault can be triggered there. It
	// may block. Only broken locks have such a place that matters.
	Between func(key, owner string) `json:"-"`
	// Opening, if set, is called once the lock's own program has started, if it is one, before it is asked to open its session.
	Opening func() `json:"-"`
}

func (c Config) between(g *Grant) {
	if c.Between != nil {
		c.Between(g.Key, g.Owner)
	}
}

// ErrConfig says that the service cannot grant what Config asks for, such as a
// lease that it would round: do not retry.
var ErrConfig = errors.New("not as configured")

// ErrFaulty says that the lock under test, or its adapter, did what no lock may do,
// whatever it excludes: it panicked, hung, or returned nonsense. Its client ends with it,
// and nothing is concluded about the lock.
var ErrFaulty = errors.New("a mistake of the lock under test or of its adapter, no verdict about it")
