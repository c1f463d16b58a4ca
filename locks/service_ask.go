package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// attempt asks until it is answered, each node once, always as the same client: the
// contract lets the holder ask again. What was left unanswered may still arrive.
func (l *serviceLock) attempt(ctx context.Context, key string, block time.Duration) (*Grant, error) {
	q := serviceRequest{key: key, client: l.owners.next(), lease: l.cfg.Lease, block: block.Truncate(time.Millisecond)}
	var open error
	for range l.cfg.Endpoints {
		at := l.at()
		sent := history.Now()
		a, err := l.askAcquire(ctx, at, q)
		switch {
		case err == nil:
			return l.claim(ctx, q, a, sent, open != nil)
		case errors.Is(err, errBusy) && open == nil:
			l.next(at)
			return nil, refused(err)
		case errors.Is(err, errDefinite) && open == nil:
			return nil, refused(err)
		case errors.Is(err, errDefinite):
			return nil, l.giveUp(ctx, q, fmt.Errorf("%w, and before: %w", err, open))
		}
		open = err
		l.next(at)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, l.giveUp(ctx, q, open)
}

// askAcquire asks one node. When ctx ends while the service keeps the request waiting,
// it is told to forget the client, and then its answer is still heard.
func (l *serviceLock) askAcquire(ctx context.Context, at int, q serviceRequest) (serviceAnswer, error) {
	req, cancel := inFlight(ctx, q.block+l.patience())
	defer cancel()
	cancelled := context.AfterFunc(ctx, func() {
		forget, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		_ = l.remote.release(forget, at, q) // at worst the answer comes too late
	})
	defer cancelled()
	return l.remote.acquire(req, at, q)
}

// claim makes a grant of an answer. A lease runs from when the service had the request:
// not before it was sent, so the claim ends a lease after that, by this client's own
// MONOTONIC. Where the request may have waited, or an earlier one been the one that was
// granted, only a renewal shows from when on it runs. What the service says of its own
// clock (expires_at) decides nothing: a clock that is ahead would make a claim too long,
// and one behind would end it at once.
func (l *serviceLock) claim(ctx context.Context, q serviceRequest, a serviceAnswer, sent history.Stamp, again bool) (*Grant, error) {
	g := &Grant{Key: q.key, Owner: q.client, Token: a.token, Sent: sent, Lease: l.cfg.Lease, Deadline: sent.Mono + int64(l.cfg.Lease)}
	err := l.agreed(a)
	if err == nil && a.token <= 0 {
		err = fmt.Errorf("%w: the service gives the fencing token %d", ErrConfig, a.token)
	}
	if err == nil && (again || history.Mono()-sent.Mono > int64(l.cfg.Lease)/8) {
		req, cancel := inFlight(ctx, l.patience())
		defer cancel()
		var renewed *Grant
		if renewed, err = l.Extend(req, g); err == nil {
			g = renewed
		}
	}
	if err == nil && g.Valid() <= 0 {
		err = errStale
	}
	if !again {
		q.token = a.token // of the only request that was sent
	}
	switch {
	case errors.Is(err, ErrNotHeld) && !again:
		return nil, refused(err) // it was granted, and is over
	case err != nil:
		return nil, l.giveUp(ctx, q, err)
	}
	l.held.add(g)
	return g, nil
}

// agreed refuses a lease of another length than was asked for.
func (l *serviceLock) agreed(a serviceAnswer) error {
	if a.lease != 0 && a.lease != l.cfg.Lease {
		return fmt.Errorf("%w: the service granted a lease of %v instead of %v; ask for %v", ErrConfig, a.lease, l.cfg.Lease, a.lease)
	}
	return nil
}

// giveUp gives back what an attempt may have taken. With a token, that of the only
// request that was sent, a confirmed release makes the refusal certain; without one a
// request may still be under way, and the outcome stays open.
func (l *serviceLock) giveUp(ctx context.Context, q serviceRequest, why error) error {
	req, cancel := inFlight(ctx, cleanup)
	defer cancel()
	err := l.remote.release(req, l.at(), q)
	if q.token > 0 && (err == nil || errors.Is(err, ErrNotHeld)) {
		return refused(why)
	}
	if !errors.Is(why, ErrConfig) {
		why = withoutRefusal(why)
	}
	return fmt.Errorf("locks: %s: acquire of %s: %w", l.name, q.key, why)
}

// each asks node after node until one answers. That a grant is not held is certain only
// as the answer to the first: an unanswered request of ours may have ended it, and that
// it may have is no loss that the service must answer for.
func (l *serviceLock) each(ctx context.Context, call func(context.Context, int) (serviceAnswer, error)) (serviceAnswer, error) {
	var open error
	for {
		at := l.at()
		req, cancel := context.WithTimeout(ctx, l.patience())
		a, err := call(req, at)
		late := req.Err() != nil
		cancel()
		switch {
		case err == nil:
			return a, nil
		case errors.Is(err, ErrNotHeld) && open == nil, errors.Is(err, errDefinite) && !errors.Is(err, errBusy) && open == nil, ctx.Err() != nil:
			return a, err
		case errors.Is(err, ErrNotHeld):
			return a, fmt.Errorf("%s, and before: %w", err.Error(), open)
		}
		if !errors.Is(err, errDefinite) {
			open = err
		}
		l.next(at)
		if !late {
			select {
			case <-ctx.Done():
				return a, err
			case <-time.After(l.delay.next()):
			}
		}
	}
}

// errBusy is a refusal that another node, or a moment, may take back.
var errBusy = fmt.Errorf("%w: busy", errDefinite)
