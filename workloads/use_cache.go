package workloads

import (
	"context"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// aged is an entry of the cache as a client knows it.
type aged struct {
	value string // of the unfenced copy
	since time.Time
}

// lookup reads an entry without the lock, and takes the lock only to rebuild what has
// grown old.
func (c *client) lookup(ctx context.Context) {
	key := c.key()
	read, cancel := context.WithTimeout(ctx, c.callLimit())
	seen, err := c.main.read(read, &locks.Grant{Key: key})
	cancel()
	if err != nil {
		return // recorded
	}
	if c.entries == nil {
		c.entries = map[string]aged{}
	}
	e, known := c.entries[key]
	if !known || e.value != seen.Unfenced.Value {
		e = aged{seen.Unfenced.Value, time.Now()}
		c.entries[key] = e
	}
	if e.value == "" || time.Since(e.since) >= c.spec.Use.Every {
		c.locked(ctx, key, func(ctx context.Context, g *locks.Grant) { c.rebuild(ctx, g, e.value) })
	}
}

// rebuild looks once more, as somebody else may have been first, and puts a new
// version. That it has begun is an effect: the database feels it, whatever comes of it.
func (c *client) rebuild(ctx context.Context, g *locks.Grant, old string) {
	s := c.enter(ctx, g)
	if s == nil || s.seen.Unfenced.Value != old {
		return
	}
	next := history.Pair{Unfenced: s.now.Unfenced + 1, Fenced: s.now.Fenced + 1}
	if s.do(ctx, "begin version", next, false, "") != nil {
		return
	}
	sleep(ctx, c.about(c.spec.Work))
	if s.mayWrite() {
		_ = s.put(ctx, next) // recorded
	}
}
