package dlmtest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest"
)

// A lock library of one's own.
type (
	locker interface {
		Lock(ctx context.Context, key string) (held, error)
		Close() error
	}
	held interface {
		Unlock(ctx context.Context) error
		Expires() time.Time
	}
)

var errLost = errors.New("lost")

func dial(addr string, lease time.Duration) (locker, error) { return nil, errors.New("an example") }

// session and grant are how dlmtest uses it.
type session struct{ locker }

func (s session) Acquire(ctx context.Context, key string) (dlmtest.Grant, error) {
	h, err := s.Lock(ctx, key)
	if err != nil {
		return nil, err // it may be held all the same: nothing here says that it is not
	}
	return grant{h}, nil
}

type grant struct{ held }

func (g grant) Release(ctx context.Context) error {
	err := g.Unlock(ctx)
	if errors.Is(err, errLost) {
		return fmt.Errorf("%w: %w", dlmtest.ErrNotHeld, err)
	}
	return err
}

func (g grant) Until() time.Time { return g.Expires() }

// lock is what Init, Test and Main are given.
var lock = dlmtest.Lock{
	Name:     "mylock",
	Version:  "v1.4.0",
	Backends: []string{"redis"},
	Promise:  dlmtest.Promise{Leased: true, Until: true},
	Open: func(_ context.Context, c dlmtest.Config) (dlmtest.Client, error) {
		l, err := dial(c.Endpoints[0], c.Lease)
		if err != nil {
			return nil, err
		}
		return session{l}, nil
	},
}

// A main package that is all of dlmtest, with a lock of its own: mylock-dlmtest run
// --scenario gc-pause --library mylock.
func ExampleMain() {
	dlmtest.Main(lock)
}

// In TestMain, before anything else.
func ExampleInit() {
	_ = func(m *testing.M) { // func TestMain(m *testing.M)
		dlmtest.Init(lock)
		m.Run()
	}
}

// In a test: the release is gated, with the one weakness that every lease has.
func ExampleTest() {
	_ = func(t *testing.T) { // func TestPause(t *testing.T)
		dlmtest.Test(t, lock,
			dlmtest.Scenario("gc-pause"),
			dlmtest.Flag("lease", "1s"),
			dlmtest.KnownWeakness("mutual-exclusion", "a stopped client wakes up after its lease; fence your writes", "docs/leases.md"))
	}
}

// What cannot be is told with what was meant, before anything runs.
func ExampleLock_Check() {
	l := lock
	l.Backends = []string{"reddis"}
	fmt.Println(l.Check())
	// Output: lock mylock: Lock.Backends: no backend is "reddis"; did you mean "redis"?
}
