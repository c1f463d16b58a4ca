package workloads

import (
	"context"
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/locks"
)

// tryRound asks without waiting, or waits for up to twice the time of the work.
func (c *client) tryRound(ctx context.Context) {
	key := c.spec.Keys[c.random.IntN(len(c.spec.Keys))]
	c.link.checkpoint(AtWaiting, key, "")
	var g *locks.Grant
	var err error
	if c.random.IntN(2) == 0 {
		g, err = c.main.try(ctx, key)
	} else {
		g, err = c.main.acquireWithin(ctx, key, max(time.Millisecond, about(c.random, c.spec.Work)))
	}
	if err != nil {
		return
	}
	c.inHand(g, true)
	defer c.inHand(g, false)
	stop := c.renew(ctx, g)
	c.hold(ctx, g)
	stop()
	c.link.checkpoint(AtReleasing, key, g.Owner)
	release, cancel := context.WithTimeout(ctx, c.releaseLimit())
	defer cancel()
	_ = c.main.release(release, g)
}

// valueOf is the n-th value that somebody writes.
func valueOf(who string, n int) string { return fmt.Sprintf("%s/w%d", who, n) }
