package workloads

import (
	"context"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// watched works for longer than its lease, while a watchdog renews it: the lock's
// own, or ours. A holder that is told of the loss does not write.
func (c *client) watched(ctx context.Context) {
	key := c.spec.Keys[c.random.IntN(len(c.spec.Keys))]
	c.link.checkpoint(AtWaiting, key, "")
	g, err := c.main.acquire(ctx, key)
	if err != nil {
		return
	}
	c.inHand(g, true)
	defer c.inHand(g, false)
	c.inspect(ctx, key)
	stop := c.keep(ctx, g)
	c.hold(ctx, g)
	stop()
	c.link.checkpoint(AtReleasing, key, g.Owner)
	release, cancel := context.WithTimeout(ctx, c.releaseLimit())
	defer cancel()
	_ = c.main.release(release, g)
}

// keep has g renewed, and records each new claim and the loss.
func (c *client) keep(ctx context.Context, g *locks.Grant) (stop func()) {
	lost := func(why string) {
		c.lose(history.Op{F: history.Lost, Process: c.main.id, Key: g.Key, Owner: g.Owner, Error: why})
	}
	if keeper, ok := c.lock.(locks.Keeper); ok {
		p := c.process()
		renewed := func(next *locks.Grant) { p.renewed(next) }
		return keeper.Keep(ctx, g, renewed, lost)
	}
	extender, ok := c.lock.(locks.Extender)
	if !ok {
		return func() {}
	}
	p := c.process()
	asked := recorded{p, extender}
	checkpoint := func() { c.link.checkpoint(AtRenewing, g.Key, g.Owner) }
	return locks.Keep(ctx, asked, g, c.spec.Patience, checkpoint, lost)
}

// recorded is an Extender whose calls are recorded.
type recorded struct {
	p *process
	e locks.Extender
}

// Extend implements locks.Extender.
func (r recorded) Extend(ctx context.Context, g *locks.Grant) (*locks.Grant, error) {
	return r.p.extend(ctx, r.e, g)
}

// renewed records a renewal that a library made by itself and told of.
func (p *process) renewed(g *locks.Grant) {
	_ = p.call(history.Op{F: history.Extend, Key: g.Key, Owner: g.Owner, Token: g.Token}, func(done *history.Op) error {
		claim(done, g)
		done.Sent = 0 // before the invoke
		return nil
	})
}
