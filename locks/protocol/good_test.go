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

func open(t *testing.T, lease time.Duration) locks.Client {
	t.Helper()
	cmd, mark := command(t, "good")
	c, err := protocol.Open(t.Context(), cmd, locks.Config{Lease: lease, Client: "c"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		nothingLeft(t, mark)
	})
	return c
}

// A grant says what the library told, and when it was asked.
func TestGrant(t *testing.T) {
	t.Parallel()
	c := open(t, time.Second)
	before := history.Now()
	g, err := c.Acquire(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	now := history.Now()
	const least, most = int64(990 * time.Millisecond), int64(1010 * time.Millisecond) // the adapter reads the clock itself
	if g.Token != 1 || g.Owner == "" || g.Lease != time.Second || g.Valid() <= 0 || g.Valid() > time.Second {
		t.Errorf("grant %+v", g)
	}
	if g.Sent.Raw < before.Raw || g.Sent.Raw > now.Raw || g.Deadline < before.Mono+least || g.Deadline > now.Mono+most {
		t.Errorf("asked from %v to %v: sent %v, deadline %d", before, now, g.Sent, g.Deadline)
	}
	next, err := c.(locks.Extender).Extend(t.Context(), g)
	if err != nil || next.Deadline <= g.Deadline || next.Owner != g.Owner || next.Token != g.Token {
		t.Errorf("extended to %+v, %v", next, err)
	}
	if err := c.Release(t.Context(), g); err != nil {
		t.Error(err)
	}
	if err := c.Release(t.Context(), g); !errors.Is(err, locks.ErrNotHeld) {
		t.Errorf("a second release: %v", err)
	}
}

// A waiter is refused at its limit, and others are answered meanwhile.
func TestWaitersDoNotBlockOthers(t *testing.T) {
	t.Parallel()
	c := open(t, time.Minute)
	g, err := c.Acquire(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	waited := make(chan error)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err := c.Acquire(ctx, "k")
		waited <- err
	}()
	if _, err := c.(locks.Trier).Try(t.Context(), "k"); !errors.Is(err, locks.ErrNotGranted) || !errors.Is(err, locks.ErrHeld) {
		t.Errorf("a try of a held key: %v", err)
	}
	if _, err := c.(locks.Extender).Extend(t.Context(), g); err != nil {
		t.Error(err)
	}
	if err := <-waited; !errors.Is(err, locks.ErrNotGranted) {
		t.Errorf("a waiter at its limit: %v", err)
	}
}

// Events name their grant and come in order, after it.
func TestEvents(t *testing.T) {
	t.Parallel()
	c := open(t, time.Second)
	g, err := c.Acquire(t.Context(), "100")
	if err != nil {
		t.Fatal(err)
	}
	events := c.(locks.Notifier).Events()
	for n := range 100 { // those that come before the grant has its name follow its answer
		select {
		case e := <-events:
			if e.Kind != locks.Lost || e.Owner != g.Owner || e.At.Raw > history.Raw() {
				t.Fatalf("event %d: %+v of grant %+v", n, e, g)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%d events of 100", n)
		}
	}
}

// What is granted after its caller has gone is given back.
func TestLateGrantIsGivenBack(t *testing.T) {
	t.Parallel()
	c := open(t, time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	g, err := c.Acquire(ctx, "k")
	if err != nil {
		t.Fatal(err)
	}
	late := make(chan error)
	go func() { _, err := c.Acquire(ctx, "k"); late <- err }() // no limit: it waits
	time.Sleep(50 * time.Millisecond)
	cancel()
	if err := <-late; !errors.Is(err, protocol.ErrLate) {
		t.Fatalf("a caller that has gone: %v", err)
	}
	if err := c.Release(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	again, done := context.WithTimeout(t.Context(), 5*time.Second)
	defer done()
	if _, err := c.Acquire(again, "k"); err != nil {
		t.Errorf("the key stays with a caller that has gone: %v", err)
	}
}

// A refusal that is no use to repeat is told as such.
func TestConfig(t *testing.T) {
	t.Parallel()
	cmd, mark := command(t, "good")
	_, err := protocol.Open(t.Context(), cmd, locks.Config{Client: "c"})
	if !errors.Is(err, locks.ErrConfig) {
		t.Errorf("a lease of nothing: %v", err)
	}
	nothingLeft(t, mark)
}
