package libraries

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

var rueidisLock = Library{
	Module: "github.com/redis/rueidis",
	About: "rueidislock on one Redis node with KeyMajority 1, as its documents have it for one; WithContext renews by itself " +
		"and tells of a loss by its context, which says nothing of until when; Release is that context's cancel, which answers nothing",
	On: []locks.Lock{{Open: openRueidis, CheckLease: wholeMillis, Renews: true, Promise: history.Promise{
		Backend: "redis", Leased: true, Session: true, Tries: true, Validity: history.Untold, Mute: true,
	}}},
}

type rueidisClient struct {
	locks.Queue
	cfg    locks.Config
	locker rueidislock.Locker
	wire   *wire
	n      atomic.Int64
}

// rueidisHold is what its user has of a grant.
type rueidisHold struct {
	ctx      context.Context // of the library: cancelled when the lock is lost or released
	cancel   context.CancelFunc
	release  context.CancelFunc
	released atomic.Bool
}

func openRueidis(_ context.Context, c locks.Config) (locks.Client, error) {
	wire := newWire(func(b []byte) string { return between(b, "rueidislock:0:", "\r") })
	dial := func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
		return wire.on(d.DialContext(ctx, "tcp", addr))
	}
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: c.Endpoints[:1], DialCtxFn: dial},
		KeyMajority:  1, KeyValidity: c.Lease, // not NoLoopTracking: see docs/libraries.md
	})
	if err != nil {
		return nil, err
	}
	return &rueidisClient{Queue: locks.NewQueue(), cfg: c, locker: locker, wire: wire}, nil
}

// Acquire implements locks.Client.
func (c *rueidisClient) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	return c.lock(ctx, key, c.locker.WithContext)
}

// Try implements locks.Trier.
func (c *rueidisClient) Try(ctx context.Context, key string) (*locks.Grant, error) {
	return c.lock(ctx, key, c.locker.TryWithContext)
}

type rueidisTake func(context.Context, string) (context.Context, context.CancelFunc, error)

// lock bounds the wait and not the hold: a lock ends with the context that it was asked
// for with, so that one may be cancelled only as long as nothing is held.
func (c *rueidisClient) lock(ctx context.Context, key string, take rueidisTake) (*locks.Grant, error) {
	called := history.Now()
	h := &rueidisHold{}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	h.cancel = cancel
	stop := context.AfterFunc(ctx, cancel)
	var err error
	h.ctx, h.release, err = take(own, key)
	if err != nil {
		cancel()
		// It has asked for the removal of what the attempt may have left, and nobody was granted it.
		return nil, fmt.Errorf("%w: %w", locks.ErrNotGranted, err)
	}
	if !stop() { // the limit was reached as it was granted
		h.release()
		return nil, fmt.Errorf("%w: %w", locks.ErrNotGranted, ctx.Err())
	}
	sent := c.wire.last(key, called)
	owner := fmt.Sprintf("%s/%d/%d", c.cfg.Client, c.n.Add(1), called.Raw)
	go c.watch(h, owner)
	return &locks.Grant{Key: key, Owner: owner, Sent: sent, Lease: c.cfg.Lease, State: h}, nil
}

// watch tells of the end of a grant that its user has not ended.
func (c *rueidisClient) watch(h *rueidisHold, owner string) {
	<-h.ctx.Done()
	if !h.released.Load() {
		c.Tell(locks.Lost, owner, "its context was cancelled")
	}
	h.cancel()
}

// Release implements locks.Client. The library answers nothing; what its user can see
// is whether the context had been cancelled before.
func (c *rueidisClient) Release(_ context.Context, g *locks.Grant) error {
	h := g.State.(*rueidisHold)
	if h.released.Swap(true) || h.ctx.Err() != nil {
		h.release()
		return fmt.Errorf("%w: %w", locks.ErrNotHeld, errors.New("its context was cancelled before"))
	}
	h.release()
	return nil
}

// Close implements locks.Client.
func (c *rueidisClient) Close() error {
	c.locker.Close()
	c.End()
	return nil
}
