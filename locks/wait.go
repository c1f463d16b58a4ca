package locks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// grace is how much longer than the caller's wait a request in flight, or the
// removal of its traces, may take: an answer a moment late is worth more than an
// unknown outcome.
const grace = 250 * time.Millisecond

// cleanup is how long the traces of a failed attempt may take to remove.
const cleanup = time.Second

// poll asks with a random delay between until attempt grants, leaves it open, finds
// that a retry is useless, or ctx ends. Between attempts nothing is in flight, so the limit is a plain no.
func poll(ctx context.Context, delay *jitter, attempt func() (*Grant, error)) (*Grant, error) {
	var last error
	for {
		if ctx.Err() != nil {
			return nil, limitReached(ctx, last)
		}
		g, err := attempt()
		if err == nil || !errors.Is(err, ErrNotGranted) || errors.Is(err, ErrConfig) {
			return g, err
		}
		last = err
		select {
		case <-ctx.Done():
		case <-time.After(delay.next()):
		}
	}
}

func limitReached(ctx context.Context, last error) error {
	if last == nil || errors.Is(last, ctx.Err()) {
		return fmt.Errorf("%w: %w", ErrNotGranted, ctx.Err())
	}
	return fmt.Errorf("%w (%w)", last, ctx.Err())
}

// refused says that certainly nothing was taken, and why.
func refused(why error) error { return fmt.Errorf("%w: %w", ErrNotGranted, why) }

var errStale = errors.New("the answer came after the lease had ended")

// inFlight bounds one request by limit, and by the caller's own end plus grace.
func inFlight(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	until := time.Now().Add(limit)
	if d, ok := ctx.Deadline(); ok && d.Add(grace).Before(until) {
		until = d.Add(grace)
	}
	if soonest := time.Now().Add(grace); until.Before(soonest) {
		until = soonest
	}
	own, cancel := context.WithDeadline(context.WithoutCancel(ctx), until)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return own, func() { stop(); cancel() }
}

// neverSent says that an error happened while connecting: the request did not
// leave, so it had no effect.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// quiet and quietZK are loggers for libraries that print what they also tell us.
type (
	quiet   struct{}
	quietZK struct{}
)

func (quiet) Printf(context.Context, string, ...any) {}
func (quietZK) Printf(string, ...any)                {}
