package libraries

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/locks"
)

// The advisory lock stacks in its session, for all threads of a client, on a real server.
func TestAdvisoryIsReentrantByProcess(t *testing.T) {
	addr := startPostgres(t)
	open := func(name string) locks.Reenterer {
		cfg := locks.Config{Endpoints: []string{addr}, Lease: time.Second, Client: name}
		c, err := locks.OpenPostgresAdvisory(t.Context(), cfg)
		for n := 0; err != nil && n < 100; n++ { // it takes connections while it starts
			time.Sleep(100 * time.Millisecond)
			c, err = locks.OpenPostgresAdvisory(t.Context(), cfg)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c.(locks.Reenterer)
	}
	a, b := open("a"), open("b")
	take := func(c locks.Reenterer, thread string, depth int) *locks.Grant {
		t.Helper()
		g, err := c.AcquireBy(t.Context(), "n", thread)
		if err != nil || g.Depth != depth {
			t.Fatalf("%+v, %v; want depth %d", g, err, depth)
		}
		return g
	}
	keptOut := func(when string) {
		t.Helper()
		soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if g, err := b.AcquireBy(soon, "n", "t1"); !errors.Is(err, locks.ErrNotGranted) {
			t.Errorf("%s another client got %+v, %v", when, g, err)
		}
	}
	giveBack := func(g *locks.Grant, want int, wrong error) {
		t.Helper()
		if left, err := a.ReleaseBy(t.Context(), g); left != want || !errors.Is(err, wrong) {
			t.Errorf("%d left, %v; want %d, %v", left, err, want, wrong)
		}
	}
	one, two := take(a, "t1", 1), take(a, "t2", 2)
	if two.Owner != one.Owner || two.Token != one.Token || one.Depth != 1 {
		t.Errorf("%+v of %+v", two, one)
	}
	keptOut("held twice,")
	giveBack(one, 1, nil)
	keptOut("held once more,")
	take(a, "t1", 2)
	giveBack(two, 1, nil)
	giveBack(two, 0, nil)
	giveBack(two, 0, locks.ErrNotHeld)
	other := take(b, "t1", 1)
	giveBack(one, 0, locks.ErrNotHeld)
	if other.Token <= one.Token || other.Owner == one.Owner {
		t.Errorf("%+v after %+v", other, one)
	}
}
