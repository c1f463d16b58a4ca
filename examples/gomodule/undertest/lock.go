// Package undertest says to dlmtest how smalllock is used: one Lock, for lock_test.go and
// for the program in cmd/smalllock-dlmtest.
package undertest

import (
	"context"
	"errors"
	"fmt"

	"github.com/dlmtest/dlmtest"
	"github.com/redis/go-redis/v9"

	"example.com/smalllock"
)

// Lock is smalllock, as a user of it would use it.
var Lock = dlmtest.Lock{
	Name:     "smalllock",
	Version:  smalllock.Version,
	About:    "one Redis, SET NX PX, with a counter as fencing token",
	Backends: []string{"redis"},
	Open:     open,
	Promise:  dlmtest.Promise{Leased: true, Token: true, Until: true, Sent: true, Extend: true, Try: true},
}

func open(_ context.Context, c dlmtest.Config) (dlmtest.Client, error) {
	db := redis.NewClient(&redis.Options{Addr: c.Endpoints[0], MaxRetries: -1}) // asked again, it would be one more lock
	return client{&smalllock.Locker{DB: db, Lease: c.Lease}}, nil
}

// client is one session. It is a dlmtest.Client and a dlmtest.Trier.
type client struct{ *smalllock.Locker }

func (c client) Acquire(ctx context.Context, key string) (dlmtest.Grant, error) {
	return granted(c.Lock(ctx, key))
}

func (c client) Try(ctx context.Context, key string) (dlmtest.Grant, error) {
	return granted(c.TryLock(ctx, key))
}

func (c client) Close() error { return c.DB.Close() }

func granted(l *smalllock.Lock, err error) (dlmtest.Grant, error) {
	if errors.Is(err, smalllock.ErrTaken) {
		return nil, fmt.Errorf("%w: %w", dlmtest.ErrNotGranted, err)
	}
	if err != nil {
		return nil, err // it may have been granted
	}
	return grant{l}, nil
}

// grant is one hold. Token, Until and Sent are the library's own methods.
type grant struct{ *smalllock.Lock }

func (g grant) Release(ctx context.Context) error { return held(g.Unlock(ctx)) }

func (g grant) Extend(ctx context.Context) error { return held(g.Lock.Extend(ctx)) }

func held(err error) error {
	if errors.Is(err, smalllock.ErrLost) {
		return fmt.Errorf("%w: %w", dlmtest.ErrNotHeld, err)
	}
	return err
}
