package workloads

import (
	"context"

	"github.com/dlmtest/dlmtest/locks"
)

// acts is how often a leader acts before it steps down.
const acts = 10

// term is one time as a leader: the lock is taken, the resource written again and
// again, and the lock given back. A leader that knows of its loss stops.
func (c *client) term(ctx context.Context) {
	key := c.spec.Keys[c.random.IntN(len(c.spec.Keys))]
	c.link.checkpoint(AtWaiting, key, "")
	g, err := c.main.acquire(ctx, key)
	if err != nil {
		return
	}
	c.inHand(g, true)
	defer c.inHand(g, false)
	c.inspect(ctx, key)
	stop := c.renew(ctx, g)
	for range acts {
		if ctx.Err() != nil || c.isLost(g) {
			break
		}
		c.hold(ctx, g)
	}
	stop()
	c.link.checkpoint(AtReleasing, key, g.Owner)
	release, cancel := context.WithTimeout(ctx, c.releaseLimit())
	defer cancel()
	_ = c.main.release(release, g)
}

func (c *client) isLost(g *locks.Grant) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost[g.Owner]
}
