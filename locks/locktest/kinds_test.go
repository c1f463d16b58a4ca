package locktest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// The kinds of the redis lock, on a real server.
func TestRedisKinds(t *testing.T) {
	addrs := redisNodes(t, 1)
	open := func(name string) locks.Client {
		c, err := locks.OpenRedis(t.Context(), locks.Config{Endpoints: addrs, Lease: 20 * time.Second, Client: name})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	a, b := open("a"), open("b")
	soon := func() context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	must := func(g *locks.Grant, err error) *locks.Grant {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	refused := func(_ *locks.Grant, err error) {
		t.Helper()
		if !errors.Is(err, locks.ErrNotGranted) || !errors.Is(err, locks.ErrHeld) {
			t.Errorf("want a refusal as held by another, got %v", err)
		}
	}
	t.Run("semaphore", func(t *testing.T) {
		of := func(c locks.Client) locks.Permitter { return c.(locks.Permitter) }
		one := must(of(a).AcquirePermits(t.Context(), "s", 1, 3))
		two := must(of(b).AcquirePermits(t.Context(), "s", 2, 3))
		refused(of(a).AcquirePermits(soon(), "s", 1, 3))
		if _, err := b.(locks.Extender).Extend(t.Context(), two); err != nil {
			t.Error(err)
		}
		if err := b.Release(t.Context(), two); err != nil {
			t.Error(err)
		}
		if err := b.Release(t.Context(), two); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("a second release: %v", err)
		}
		must(of(a).AcquirePermits(t.Context(), "s", 2, 3))
		refused(of(b).AcquirePermits(soon(), "s", 1, 3))
		if one.Permits != 1 || two.Permits != 2 || two.Token <= one.Token {
			t.Errorf("%+v, %+v", one, two)
		}
	})
	t.Run("read-write", func(t *testing.T) {
		as := func(ctx context.Context, c locks.Client, m history.Mode) (*locks.Grant, error) {
			return c.(locks.ReadWriter).AcquireAs(ctx, "rw", m)
		}
		one, two := must(as(t.Context(), a, history.Shared)), must(as(t.Context(), b, history.Shared))
		refused(as(soon(), a, history.Exclusive))
		refused(a.(locks.Changer).Change(soon(), one, history.Exclusive))
		if err := b.Release(t.Context(), two); err != nil {
			t.Error(err)
		}
		writer := must(a.(locks.Changer).Change(t.Context(), one, history.Exclusive))
		if writer.Mode != history.Exclusive || writer.Owner != one.Owner || writer.Token <= two.Token { // above those of readers that have left
			t.Errorf("%+v of %+v, after %+v", writer, one, two)
		}
		refused(as(soon(), b, history.Shared))
		reader := must(a.(locks.Changer).Change(t.Context(), writer, history.Shared))
		must(as(t.Context(), b, history.Shared))
		if err := a.Release(t.Context(), reader); err != nil {
			t.Error(err)
		}
	})
	t.Run("reentrant", func(t *testing.T) {
		by := func(ctx context.Context, c locks.Client, thread string) (*locks.Grant, error) {
			return c.(locks.Reenterer).AcquireBy(ctx, "n", thread)
		}
		one, two := must(by(t.Context(), a, "t1")), must(by(t.Context(), a, "t1"))
		if two.Depth != 2 || two.Owner != one.Owner || two.Token != one.Token {
			t.Errorf("%+v of %+v", two, one)
		}
		refused(by(soon(), a, "t2")) // another thread of the same client
		refused(by(soon(), b, "t1"))
		for want := 1; want >= 0; want-- {
			if left, err := a.(locks.Reenterer).ReleaseBy(t.Context(), one); err != nil || left != want {
				t.Errorf("%d left, want %d: %v", left, want, err)
			}
		}
		if _, err := a.(locks.Reenterer).ReleaseBy(t.Context(), one); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("a third release: %v", err)
		}
		must(by(t.Context(), b, "t1"))
	})
}
