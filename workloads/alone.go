package workloads

import "context"

// aloneRound is the guarded write by a key of the client's own: nobody else asks for
// it, so whatever keeps the client from it is the lock itself.
func (c *client) aloneRound(ctx context.Context) {
	c.locked(ctx, c.spec.Keys[c.spec.Number%len(c.spec.Keys)], c.hold)
}
