// Package dlmtest tests a distributed lock of your own: does it still exclude when
// things break, and if not, does fencing save the data? It starts real servers, drives
// concurrent clients of the lock against them, breaks things on purpose, and judges the
// recorded history.
//
// Say how the lock is used, in a [Lock]. Then either run scenarios from go test with
// [Init] and [Test], or make a program of your own that is all of the command dlmtest,
// with the lock among its libraries, with [Main]. One Lock serves both.
//
// A run needs Linux and the servers of the backend: in Docker, or, with the runtime
// local, as programs of this machine and with no privilege at all.
package dlmtest

import (
	"context"
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/locks"
)

// Lock is a lock under test: what it is called, where it runs, how a client of it is
// opened, and what it promises.
type Lock struct {
	// Name is that of the library, in reports and for --library: letters, digits, - and _.
	Name string
	// Version is the library's; empty: as the build info of this program has its main
	// module, else "development".
	Version string
	// About is one sentence for people who read a report; empty: none.
	About string
	// Backends are those on whose servers the lock runs, by their names in dlmtest list,
	// such as redis or etcd. The first is the default.
	Backends []string
	// Open opens the session of one client. It must return soon after ctx has ended, and
	// is called again for as long as the servers are starting.
	Open func(ctx context.Context, c Config) (Client, error)
	// Promise is what the lock offers beyond acquire and release.
	Promise Promise
}

// Promise is what a lock offers. What is not promised is not judged, and the report says
// so; what is promised and then not there is a mistake in the Lock, and ends a run with
// exit code 3.
type Promise struct {
	Leased bool // a grant ends by itself, Config.Lease after it was made or renewed
	Order  bool // waiters are served in the order in which they came
	Renews bool // an open session renews its grants by itself, so they outlive their lease

	Token  bool // each Grant is a [Tokener]
	Until  bool // each Grant is an [Expirer]
	Sent   bool // each Grant is a [Sender]
	Lost   bool // each Grant is a [Notifier]
	Extend bool // each Grant is an [Extender]
	Try    bool // each Client is a [Trier]

	// Bound is how long after the end of a lease the next grant may take; 0: as long as
	// the backend's reference lock may.
	Bound time.Duration
}

// Config is what a client is told before it opens its session.
type Config struct {
	Backend   string        // one of Lock.Backends
	Endpoints []string      // host:port of every server, in the order of the cluster
	Lease     time.Duration // to ask for
	Client    string        // the name of the client, such as client-1
	Seed      uint64        // for random choices; each client has another
	// Ways are where servers are reached that other servers name, by the host:port that
	// these give them (Redis Sentinel); one that is not here is reached there itself.
	Ways map[string]string
}

// Client is one client's session. It is also a [Trier] where the lock promises that. Its
// methods are called by several goroutines at once.
type Client interface {
	// Acquire waits for key until ctx ends, and must return soon after. An error that
	// matches ErrNotGranted says that certainly nothing is held; any other leaves it open.
	Acquire(ctx context.Context, key string) (Grant, error)
	// Close ends the session.
	Close() error
}

// Grant is one hold of a lock. It is also a [Tokener], [Expirer], [Sender], [Notifier] or
// [Extender] where the lock promises that.
type Grant interface {
	// Release gives it back, and must return soon after ctx has ended. It is also called
	// after the lease has ended or the lock was lost: an error that matches ErrNotHeld then
	// says that the service knows the grant no more. Any other error leaves it open.
	Release(ctx context.Context) error
}

// Trier is a Client that can ask without waiting.
type Trier interface {
	// Try takes key, or returns an error that matches ErrNotGranted.
	Try(ctx context.Context, key string) (Grant, error)
}

// Extender is a Grant that can be renewed for another lease.
type Extender interface {
	// Extend renews the grant; Until, Sent and Token are read again when it has succeeded.
	// An error that matches ErrNotHeld says that the grant is lost.
	Extend(ctx context.Context) error
}

// Tokener is a Grant with a fencing token.
type Tokener interface {
	// Token is greater than 0, and greater for each later grant of one key.
	Token() int64
}

// Expirer is a Grant that tells until when it is valid.
type Expirer interface {
	// Until is by the client's own clock; as with time.Now, it carries a monotonic reading.
	Until() time.Time
}

// Sender is a Grant that tells when the request was sent whose answer proved it, or its
// renewal. Only with it can be judged whether Until claims too much: a call may have
// waited for any part of its time.
type Sender interface {
	// Sent is by the client's own clock, between the begin and the end of the call.
	Sent() time.Time
}

// Notifier is a Grant that tells when the lock is lost, as a session or a watchdog does.
type Notifier interface {
	// Lost is closed when the lock is known to be lost. What it does after Release does
	// not matter.
	Lost() <-chan struct{}
}

var (
	// ErrNotGranted says that an Acquire or a Try certainly took nothing.
	ErrNotGranted = locks.ErrNotGranted
	// ErrHeld is an ErrNotGranted with its reason: the service answered that another holds the lock. Whether that can be
	// true is judged (honest-refusal).
	ErrHeld = fmt.Errorf("%w: %w", locks.ErrNotGranted, locks.ErrHeld)
	// ErrNotHeld says that the service does not, or no longer, know the grant.
	ErrNotHeld = locks.ErrNotHeld
)
