package workloads

import (
	"context"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// transfer moves one from the first key to the second, holding both. Each second
// client takes them in the opposite order, which is the mistake that is looked at.
func (c *client) transfer(ctx context.Context) {
	n := len(c.spec.Keys)
	if n < 2 {
		return
	}
	i := c.random.IntN(n)
	first, second := c.spec.Keys[i], c.spec.Keys[(i+1)%n]
	if n == 2 {
		first, second = c.spec.Keys[0], c.spec.Keys[1]
	}
	if c.spec.Number%2 == 1 {
		first, second = second, first
	}
	c.locked(ctx, first, func(ctx context.Context, g *locks.Grant) {
		sleep(ctx, c.about(c.spec.Work))
		c.locked(ctx, second, func(ctx context.Context, h *locks.Grant) { c.move(ctx, g, h) })
	})
}

// move writes both keys under their grants.
func (c *client) move(ctx context.Context, g, h *locks.Grant) {
	from, to := c.enter(ctx, g), c.enter(ctx, h)
	if from == nil || to == nil || !from.mayWrite() || !to.mayWrite() {
		return
	}
	if from.put(ctx, history.Pair{Unfenced: from.now.Unfenced - 1, Fenced: from.now.Fenced - 1}) == nil {
		_ = to.put(ctx, history.Pair{Unfenced: to.now.Unfenced + 1, Fenced: to.now.Fenced + 1}) // recorded
	}
}
