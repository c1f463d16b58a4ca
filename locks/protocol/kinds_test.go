package protocol_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/protocol"
	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
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

// A thread takes again what it holds: the same grant, deeper. It is given back as often, and
// what is lost is held no more. Behind messages and in this program it is the same.
func TestReentrant(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]locks.Client{"process": open(t, time.Minute), "inside": insideMemory(t)} {
		l := c.(locks.Reenterer)
		by := func(thread string) (*locks.Grant, error) {
			return l.AcquireBy(within(t, 150*time.Millisecond), "k", thread)
		}
		outer, err := by("t1")
		if err != nil || outer.Depth != 1 {
			t.Fatalf("%s: %+v, %v", name, outer, err)
		}
		inner, err := by("t1")
		if err != nil || inner.Depth != 2 || inner.Owner != outer.Owner || inner.Token != outer.Token {
			t.Fatalf("%s: %+v after %+v, %v", name, inner, outer, err)
		}
		for left := 1; left >= 0; left-- {
			if _, err := by("t2"); !errors.Is(err, locks.ErrNotGranted) {
				t.Errorf("%s: another thread: %v", name, err)
			}
			if got, err := l.ReleaseBy(t.Context(), outer); got != left || err != nil {
				t.Errorf("%s: %d left, %v; want %d", name, got, err, left)
			}
		}
		if _, err := l.ReleaseBy(t.Context(), outer); !errors.Is(err, locks.ErrNotHeld) {
			t.Errorf("%s: one release more: %v", name, err)
		}
		next, err := by("t2")
		if err != nil || next.Depth != 1 || next.Owner == outer.Owner {
			t.Errorf("%s: %+v, %v", name, next, err)
		}
	}
}

func insideMemory(t *testing.T) locks.Client {
	t.Helper()
	c, err := protocol.Inside(memoryAdapter())(t.Context(), locks.Config{Lease: time.Minute, Client: "c"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// hasty tells of a loss before its grant is answered.
type hasty struct{ memory }

func (h *hasty) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	g, err := h.memory.Acquire(ctx, a)
	if err == nil {
		h.tell("lost", g, "at once")
	}
	return g, err
}

// An adapter that is part of this program makes of its session what one behind messages
// does: the same errors, claims and events, and no ability that it does not offer.
func TestInside(t *testing.T) {
	t.Parallel()
	c := insideMemory(t)
	g, err := c.Acquire(t.Context(), "k")
	if err != nil || g.Owner == "" || g.Token == 0 || g.Lease != time.Minute || apart(g.Deadline, g.Sent.Mono+int64(time.Minute)) > 10*time.Millisecond {
		t.Fatalf("%+v, %v", g, err)
	}
	if _, err := c.(locks.Trier).Try(t.Context(), "k"); !errors.Is(err, locks.ErrNotGranted) {
		t.Errorf("a try of what is held: %v", err)
	}
	next, err := c.(locks.Extender).Extend(t.Context(), g)
	if err != nil || next.Owner != g.Owner || next.Token != g.Token || next.Deadline <= g.Deadline {
		t.Errorf("%+v after %+v, %v", next, g, err)
	}
	if err := c.Release(t.Context(), next); err != nil {
		t.Error(err)
	}
	if err := c.Release(t.Context(), g); !errors.Is(err, locks.ErrNotHeld) {
		t.Errorf("a second release: %v", err)
	}
	lost, err := c.Acquire(t.Context(), "1") // one event follows
	if err != nil {
		t.Fatal(err)
	}
	if e := <-c.(locks.Notifier).Events(); e.Kind != locks.Lost || e.Owner != lost.Owner {
		t.Errorf("%+v, want that %s is lost", e, lost.Owner)
	}
	early := memoryAdapter()
	early.Open = func(_ context.Context, _ adapter.Config, tell adapter.Tell) (adapter.Session, error) {
		return &hasty{memory{lease: time.Minute, held: map[string][]*adapter.Grant{}, tell: tell}}, nil
	}
	hasty, err := protocol.Inside(early)(t.Context(), locks.Config{Lease: time.Minute, Client: "c"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hasty.Close() }()
	lost, err = hasty.Acquire(t.Context(), "k")
	if e := <-hasty.(locks.Notifier).Events(); err != nil || e.Owner != lost.Owner {
		t.Errorf("%+v, %v: told before the answer, it is of another grant than %s", e, err, lost.Owner)
	}
	a := memoryAdapter()
	a.Offers = []string{"lease", "wait"}
	bare, err := protocol.Inside(a)(t.Context(), locks.Config{Lease: time.Minute, Client: "c"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bare.Close() }()
	if _, tries := bare.(locks.Trier); tries {
		t.Error("it tries, and does not offer it")
	}
	for what, err := range map[string]error{
		"a reader": second(bare.(locks.ReadWriter).AcquireAs(t.Context(), "k", history.Shared)),
		"a permit": second(bare.(locks.Permitter).AcquirePermits(t.Context(), "k", 1, 2)),
		"a thread": second(bare.(locks.Reenterer).AcquireBy(t.Context(), "k", "t1")),
	} {
		if !errors.Is(err, locks.ErrConfig) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := bare.Acquire(t.Context(), "k"); !errors.Is(err, locks.ErrFaulty) {
		t.Errorf("a token that is not offered: %v", err)
	}
}

// apart is how far two instants are from each other; one of them is read of two clocks, in turn.
func apart(a, b int64) time.Duration { return time.Duration(max(a-b, b-a)) }

func second(_ *locks.Grant, err error) error { return err }

func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}
