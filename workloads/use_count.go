package workloads

import (
	"context"
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// sell reads how many are left and writes one less: the sale is that write.
func (c *client) sell(ctx context.Context, g *locks.Grant) {
	s := c.enter(ctx, g)
	if s == nil {
		return
	}
	next, any := s.sold()
	sleep(ctx, c.about(c.spec.Work))
	if any && s.mayWrite() {
		_ = s.put(ctx, next) // recorded
	}
}

// sold is what is left after one sale in each world that has something left.
func (s *section) sold() (next history.Pair, any bool) {
	if s.seen.Unfenced.Value == "" {
		s.now.Unfenced = s.spec.Use.Stock
	}
	if s.seen.Fenced.Value == "" {
		s.now.Fenced = s.spec.Use.Stock
	}
	next = history.Pair{Unfenced: max(s.now.Unfenced-1, 0), Fenced: max(s.now.Fenced-1, 0)}
	return next, next != s.now
}

// sellVersioned sells without a lock: the resource takes the write only if what the
// client has read still stands there; else it starts again.
func (c *client) sellVersioned(ctx context.Context) {
	c.writes++
	g := &locks.Grant{Key: c.key(), Owner: fmt.Sprintf("%s/a%d", c.author(), c.writes)}
	s := c.enter(ctx, g)
	if s == nil {
		return
	}
	next, any := s.sold()
	sleep(ctx, c.about(c.spec.Work))
	if any && s.mayWrite() {
		_ = s.put(ctx, next) // recorded; who was refused comes again
	}
}

// pay charges the next order and marks it as paid. The card takes what comes; the
// table of orders has a fence.
func (c *client) pay(ctx context.Context, g *locks.Grant) {
	s := c.enter(ctx, g)
	if s == nil {
		return
	}
	next := history.Pair{Unfenced: s.now.Unfenced + 1, Fenced: s.now.Fenced + 1}
	sleep(ctx, c.about(c.spec.Work))
	if s.mayWrite() && s.do(ctx, "charge order", next, false, "") == nil {
		_ = s.put(ctx, next) // recorded
	}
}

// runSlot runs the next slot that is due, and marks it. What was missed is run late.
func (c *client) runSlot(ctx context.Context, g *locks.Grant) {
	s := c.enter(ctx, g)
	if s == nil {
		return
	}
	due := int(history.Raw() / int64(max(c.spec.Use.Every, time.Millisecond)))
	next := history.Pair{Unfenced: following(s.now.Unfenced, due), Fenced: following(s.now.Fenced, due)}
	if next == s.now {
		return
	}
	sleep(ctx, c.about(c.spec.Work))
	if s.mayWrite() && s.do(ctx, "run slot", next, false, "") == nil {
		_ = s.put(ctx, next) // recorded
	}
}

// following is the slot after last, if it is due by now; the first is the current one.
func following(last, due int) int {
	if last == 0 {
		return due
	}
	return min(last+1, max(last, due))
}

// writeFile writes the next version block by block; the checkpoint is in the middle.
func (c *client) writeFile(ctx context.Context, g *locks.Grant) {
	s := c.enter(ctx, g)
	if s == nil {
		return
	}
	next, n := history.Pair{Unfenced: s.now.Unfenced + 1, Fenced: s.now.Fenced + 1}, c.spec.Use.Blocks
	for i := 1; i <= n; i++ {
		sleep(ctx, c.about(c.spec.Work/time.Duration(n)))
		if i == n/2+1 && !s.mayWrite() {
			return
		}
		if s.do(ctx, "version", next, true, fmt.Sprintf(" block %d of %d", i, n)) != nil {
			return
		}
	}
	_ = s.put(ctx, next) // recorded
}
