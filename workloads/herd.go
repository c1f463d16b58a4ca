package workloads

import (
	"context"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// herd is the guarded write, while the first client also asks the servers, before
// and after, how many waiters they have woken.
func herd(ctx context.Context, l *link, s Spec) error {
	c, begun, err := begin(ctx, l, s)
	if err != nil || !begun {
		return err
	}
	ctx, cancel := c.whileSound(ctx)
	defer cancel()
	c.countWoken(ctx)
	for ctx.Err() == nil && !c.told() {
		c.round(ctx)
		sleep(ctx, c.about(s.Think))
	}
	c.countWoken(ctx)
	return c.closeLock()
}

func (c *client) countWoken(ctx context.Context) {
	waker, ok := c.lock.(locks.Waker)
	if !ok || c.spec.Number > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.callLimit())
	defer cancel()
	n, err := waker.Woken(ctx)
	op := history.Op{F: history.Woken, Length: n}
	if err != nil {
		op.Error = err.Error()
	}
	c.note(op)
}
