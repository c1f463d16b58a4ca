package protocol

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// Session is a lock behind an adapter. It implements locks.Client; Open adds the
// interfaces of what the adapter offers.
type Session struct {
	*Conn
	terms
	nest
	events *queue
}

// Open starts an adapter and opens its session. What it returns is a locks.Client with
// the interfaces that hello offers.
func Open(ctx context.Context, cmd Command, c locks.Config) (locks.Client, error) {
	s := &Session{terms: newTerms(c), events: newQueue()}
	var err error
	if s.Conn, err = Dial(ctx, cmd, s.told); err != nil {
		_ = s.events.close()
		return nil, err
	}
	s.offers = s.Offers
	if c.Opening != nil {
		c.Opening()
	}
	limit := s.limits.Open
	if _, ok := ctx.Deadline(); ok {
		limit = 0
	}
	r := Request{Do: DoOpen, Endpoints: c.Endpoints, Ways: c.Ways, Lease: c.Lease.Milliseconds(), Client: c.Client, Seed: c.Seed}
	if _, err = s.Ask(ctx, r, limit); err != nil {
		err = s.meaning(err)
		return nil, errors.Join(err, s.abandon(), s.events.close())
	}
	return offered(s, s.Offers), nil
}

// Acquire implements locks.Client. The adapter is told how long it may wait; when it
// has not answered a while after that, the outcome is unknown.
func (s *Session) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	return s.Take(ctx, Ask{Key: key})
}

// Try implements locks.Trier, where try is offered.
func (s *Session) Try(ctx context.Context, key string) (*locks.Grant, error) {
	return s.Take(ctx, Ask{Key: key, Try: true})
}

// Ask is one wish for a lock.
type Ask struct {
	Key     string
	Try     bool // do not wait
	Mode    Mode
	Permits int    // of a semaphore: how many it has in all; 0: it is none
	Want    int    // of a semaphore: how many are wanted of them
	Thread  string // of a reentrant lock: who asks; "": it is none
}

// grace is how much longer than the caller's wait an answer may take: one that comes a
// moment late is worth more than an unknown outcome.
const grace = 500 * time.Millisecond

// waitMax is told where the caller has set no limit.
const waitMax = time.Hour

// Take asks for a lock in any mode.
func (s *Session) Take(ctx context.Context, a Ask) (*locks.Grant, error) {
	r := Request{Do: DoAcquire, Key: a.Key, Mode: a.Mode, Permits: a.Permits, Want: a.Want, Thread: a.Thread}
	if r.Mode == "" {
		r.Mode = Exclusive
	}
	if a.Try {
		r.Do = DoTry
	} else {
		r.Wait = max(1, limitOf(ctx).Milliseconds())
	}
	ctx, cancel := later(ctx, grace)
	defer cancel()
	sent := history.Now()
	res, err := s.ask(ctx, r, 0, s.giveBack)
	if err != nil {
		return nil, s.meaning(err)
	}
	if f := s.checkGrant(res); f != nil {
		return nil, s.fail(f)
	}
	return s.sound(s.claim(&locks.Grant{Key: a.Key, Owner: s.owner(res.Grant), Token: res.Token, State: res.Grant}, res, sent))
}

// sound is a grant as it was claimed, unless the claim is a fault.
func (s *Session) sound(g *locks.Grant, f *Fault) (*locks.Grant, error) {
	if f != nil {
		return nil, s.fail(f)
	}
	return g, nil
}

// limitOf is how long ctx leaves.
func limitOf(ctx context.Context) time.Duration {
	if d, ok := ctx.Deadline(); ok {
		return min(waitMax, time.Until(d))
	}
	return waitMax
}

// later is ctx, ended later.
func later(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, func() { cancel(ctx.Err()) }) })
	return own, func() { stop(); cancel(nil) }
}

// giveBack releases what was granted after its caller had gone.
func (s *Session) giveBack(a *Answer) {
	if a.OK == nil || s.checkGrant(a.OK) != nil {
		return
	}
	_, _ = s.Ask(context.Background(), Request{Do: DoRelease, Grant: a.OK.Grant}, 0) // at worst its lease ends, or the session
}

// Extend implements locks.Extender, where extend is offered.
func (s *Session) Extend(ctx context.Context, g *locks.Grant) (*locks.Grant, error) {
	sent := history.Now()
	res, err := s.Ask(ctx, Request{Do: DoExtend, Grant: g.State.(string)}, 0)
	if err != nil {
		return nil, s.refused(g.Owner, s.meaning(err))
	}
	if f := s.checkClaim(DoExtend, res); f != nil {
		return nil, s.fail(f)
	}
	next := *g
	return s.sound(s.claim(&next, res, sent))
}

// Release implements locks.Client.
func (s *Session) Release(ctx context.Context, g *locks.Grant) error {
	_, err := s.Ask(ctx, Request{Do: DoRelease, Grant: g.State.(string)}, 0)
	return s.meaning(err)
}

// Close implements locks.Client.
func (s *Session) Close() error {
	err := s.Conn.Close()
	return errors.Join(err, s.events.close())
}

// meaning makes of an adapter's answer an error of package locks.
func (s *Session) meaning(err error) error {
	var r *Refusal
	if !errors.As(err, &r) {
		return err
	}
	if f := s.checkRefusal(r); f != nil {
		return s.fail(f)
	}
	switch r.Code {
	case NotGranted:
		return fmt.Errorf("%w: %w", locks.ErrNotGranted, r)
	case Held:
		return fmt.Errorf("%w: %w: %w", locks.ErrNotGranted, locks.ErrHeld, r)
	case NotHeld:
		return fmt.Errorf("%w: %w", locks.ErrNotHeld, r)
	case Config, Unsupported:
		if r.Do == DoAcquire || r.Do == DoTry {
			return fmt.Errorf("%w: %w: %w", locks.ErrNotGranted, locks.ErrConfig, r)
		}
		return fmt.Errorf("%w: %w", locks.ErrConfig, r)
	}
	return r
}

// checkRefusal looks whether a code fits its request.
func (s *Session) checkRefusal(r *Refusal) *Fault {
	asks := r.Do == DoAcquire || r.Do == DoTry
	holds := r.Do == DoExtend || r.Do == DoRelease
	switch {
	case (r.Code == NotGranted || r.Code == Held) && !asks, r.Code == NotHeld && !holds, r.Code == Config && holds:
		return fault(Mistaken, "%s was answered with %s, which does not fit", r.Do, r.Code)
	case r.Code == Unsupported && r.Do == DoTry:
		return fault(Overclaims, "hello offers try, and a try was answered with unsupported")
	case r.Code == Unsupported && r.Do == DoExtend:
		return fault(Overclaims, "hello offers extend, and an extend was answered with unsupported")
	case r.Code == Unsupported:
		return fault(Mistaken, "%s was answered with unsupported; every adapter does it", r.Do)
	}
	return nil
}
