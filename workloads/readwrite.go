package workloads

import (
	"context"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// readWriteRound holds as a reader, three times of four, or as the writer. Where the
// lock can, every fourth reader then wants to write, and every second writer goes on
// as a reader: nobody may write between.
func (c *client) readWriteRound(ctx context.Context) {
	key := c.spec.Keys[c.random.IntN(len(c.spec.Keys))]
	mode, turns := history.Exclusive, c.random.IntN(2) == 0
	if c.random.IntN(4) > 0 {
		mode, turns = history.Shared, c.random.IntN(4) == 0
	}
	c.link.checkpoint(AtWaiting, key, "")
	g, err := c.main.acquireAs(ctx, key, mode)
	if err != nil {
		return
	}
	c.inHand(g, true)
	defer c.inHand(g, false)
	stop := c.renew(ctx, g)
	held := c.holdAs(ctx, g)
	if turns {
		other := map[history.Mode]history.Mode{history.Shared: history.Exclusive, history.Exclusive: history.Shared}[mode]
		if next, ok := c.main.change(ctx, held, other); ok {
			stop() // what is renewed from now on is what it has become, with its token
			stop = c.renew(ctx, next)
			held = c.holdAs(ctx, next)
		}
	}
	stop()
	c.link.checkpoint(AtReleasing, key, g.Owner)
	release, cancel := context.WithTimeout(ctx, c.releaseLimit())
	defer cancel()
	_ = c.main.release(release, held)
}

// holdAs is the critical section: of a writer as ever, of a reader two looks, which
// must find the same.
func (c *client) holdAs(ctx context.Context, g *locks.Grant) *locks.Grant {
	if g.Mode == history.Exclusive {
		c.hold(ctx, g)
		return g
	}
	c.link.checkpoint(AtAcquired, g.Key, g.Owner)
	c.look(ctx, g)
	c.work(ctx, c.about(c.spec.Work))
	c.link.checkpoint(AtBeforeWrite, g.Key, g.Owner)
	if !c.abstains(g) {
		c.look(ctx, g)
	}
	return g
}

// look reads the resource once.
func (c *client) look(ctx context.Context, g *locks.Grant) {
	ctx, cancel := context.WithTimeout(ctx, c.callLimit())
	defer cancel()
	_, _ = c.main.read(ctx, g) // recorded
}

// abstains asks the client's own check, and records where it says no.
func (c *client) abstains(g *locks.Grant) bool {
	why := c.doubt(g)
	if why != "" {
		c.note(history.Op{F: history.Abstain, Process: c.main.id, Key: g.Key, Owner: g.Owner, Error: why})
	}
	return why != ""
}

// permitRound takes one permit, or now and then two, and uses the resource.
func (c *client) permitRound(ctx context.Context) {
	key, n := c.spec.Keys[c.random.IntN(len(c.spec.Keys))], 1
	if c.spec.Permits > 1 && c.random.IntN(4) == 0 {
		n = 2
	}
	c.link.checkpoint(AtWaiting, key, "")
	g, err := c.main.acquirePermits(ctx, key, n)
	if err != nil {
		return
	}
	c.inHand(g, true)
	defer c.inHand(g, false)
	stop := c.renew(ctx, g)
	c.link.checkpoint(AtAcquired, key, g.Owner)
	c.look(ctx, g)
	c.work(ctx, c.about(c.spec.Work))
	c.link.checkpoint(AtBeforeWrite, key, g.Owner)
	if !c.abstains(g) {
		c.look(ctx, g)
	}
	stop()
	c.link.checkpoint(AtReleasing, key, g.Owner)
	release, cancel := context.WithTimeout(ctx, c.releaseLimit())
	defer cancel()
	_ = c.main.release(release, g)
}
