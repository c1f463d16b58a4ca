package protocol_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/protocol"
)

// Readers hold together, a writer alone, and the grant says how it is held.
func TestReadersAndWriter(t *testing.T) {
	t.Parallel()
	c := open(t, time.Minute)
	as := func(mode history.Mode) (*locks.Grant, error) {
		return c.(locks.ReadWriter).AcquireAs(within(t, 150*time.Millisecond), "k", mode)
	}
	var readers []*locks.Grant
	for range 2 {
		g, err := as(history.Shared)
		if err != nil || g.Mode != history.Shared || g.Permits != 0 {
			t.Fatalf("a reader: %+v, %v", g, err)
		}
		readers = append(readers, g)
	}
	if _, err := as(history.Exclusive); !errors.Is(err, locks.ErrNotGranted) {
		t.Fatalf("a writer beside readers: %v", err)
	}
	for _, g := range readers {
		if err := c.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
	}
	if g, err := as(history.Exclusive); err != nil || g.Mode != history.Exclusive {
		t.Fatalf("a writer of a free key: %+v, %v", g, err)
	}
	if _, err := as(history.Shared); !errors.Is(err, locks.ErrNotGranted) {
		t.Fatalf("a reader beside the writer: %v", err)
	}
}

// As many permits are out as there are, and a grant gives back all of its own.
func TestPermits(t *testing.T) {
	t.Parallel()
	c := open(t, time.Minute)
	take := func(n, of int) (*locks.Grant, error) {
		return c.(locks.Permitter).AcquirePermits(within(t, 150*time.Millisecond), "k", n, of)
	}
	two, err := take(2, 3)
	if err != nil || two.Permits != 2 || two.Mode != "" {
		t.Fatalf("two of three: %+v, %v", two, err)
	}
	if _, err := take(2, 3); !errors.Is(err, locks.ErrNotGranted) {
		t.Fatalf("four of three: %v", err)
	}
	if _, err := take(1, 3); err != nil {
		t.Fatalf("the last of three: %v", err)
	}
	if err := c.Release(t.Context(), two); err != nil {
		t.Fatal(err)
	}
	if _, err := take(2, 3); err != nil {
		t.Fatalf("two that were given back: %v", err)
	}
	for _, n := range []int{0, 4} {
		if _, err := take(n, 3); !errors.Is(err, locks.ErrConfig) {
			t.Errorf("%d of three: %v", n, err)
		}
	}
}

// What is not offered is not asked for: the adapter here would grant it.
func TestKindsNotOffered(t *testing.T) {
	t.Parallel()
	cmd, _ := command(t, "bare")
	c, err := protocol.Open(t.Context(), cmd, locks.Config{Lease: time.Second, Client: "c"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.(locks.ReadWriter).AcquireAs(t.Context(), "k", history.Shared); !errors.Is(err, locks.ErrNotGranted) || !errors.Is(err, locks.ErrConfig) {
		t.Errorf("a reader: %v", err)
	}
	if _, err := c.(locks.Permitter).AcquirePermits(t.Context(), "k", 1, 2); !errors.Is(err, locks.ErrNotGranted) || !errors.Is(err, locks.ErrConfig) {
		t.Errorf("a permit: %v", err)
	}
	if _, err := c.Acquire(t.Context(), "k"); err != nil {
		t.Errorf("the key itself: %v", err)
	}
}

func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}
