package locktest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/locktest"
)

// A request that is under way as a wait ends, and a release behind the end of the lease, are the machine's doing. A lock
// that never says how a wait has ended is not sound.
func TestBusyMachineAccusesNoLock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, check string
		under, late int // so many waits are under way as they end; so many releases come late
		caught      bool
	}{
		{"one under way", "cancel", 1, 0, false},
		{"one under way", "wait-limit", 1, 0, false},
		{"each under way", "cancel", 9, 0, true},
		{"each under way", "wait-limit", 9, 0, true},
		{"a late release", "round-trip", 0, 1, false},
	} {
		t.Run(c.name+"/"+c.check, func(t *testing.T) {
			t.Parallel()
			left := &busy{under: c.under, late: c.late}
			got := locktest.Run(t.Context(), memory(func(own locks.Client, _ *locks.Memory) locks.Client { return busyClient{full(own), left} }), c.check)
			if len(got) > 0 != c.caught {
				t.Errorf("%v", got)
			}
		})
	}
}

type busy struct{ under, late int }

type busyClient struct {
	fullClient
	left *busy
}

func (c busyClient) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	g, err := c.fullClient.Acquire(ctx, key)
	if err != nil && c.left.under > 0 {
		c.left.under--
		return nil, errors.New("no answer came")
	}
	return g, err
}

func (c busyClient) Release(ctx context.Context, g *locks.Grant) error {
	if c.left.late > 0 {
		c.left.late--
		time.Sleep(g.Lease)
	}
	return c.fullClient.Release(ctx, g)
}
