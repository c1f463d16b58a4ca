package protocol

import (
	"context"
	"crypto/rand"
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
	cfg    locks.Config
	name   string // part of each owner, so that no two sessions share one
	events *queue
}

// Open starts an adapter and opens its session. What it returns is a locks.Client with
// the interfaces that hello offers.
func Open(ctx context.Context, cmd Command, c locks.Config) (locks.Client, error) {
	s := &Session{cfg: c, name: c.Client + "/" + rand.Text()[:10], events: newQueue()}
	var err error
	if s.Conn, err = Dial(ctx, cmd, s.told); err != nil {
		_ = s.events.close()
		return nil, err
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
	return s.offered(), nil
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
	Permits int // of a semaphore: how many it has in all; 0: it is none
	Want    int // of a semaphore: how many are wanted of them
}

// grace is how much longer than the caller's wait an answer may take: one that comes a
// moment late is worth more than an unknown outcome.
const grace = 500 * time.Millisecond

// waitMax is told where the caller has set no limit.
const waitMax = time.Hour

// Take asks for a lock in any mode.
func (s *Session) Take(ctx context.Context, a Ask) (*locks.Grant, error) {
	r := Request{Do: DoAcquire, Key: a.Key, Mode: a.Mode, Permits: a.Permits, Want: a.Want}
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
	return s.claim(&locks.Grant{Key: a.Key, Owner: s.owner(res.Grant), Token: res.Token, State: res.Grant}, res, sent)
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
		return nil, s.meaning(err)
	}
	if f := s.checkClaim(DoExtend, res); f != nil {
		return nil, s.fail(f)
	}
	next := *g
	return s.claim(&next, res, sent)
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

// owner is the name of a grant in the history: unique in the run.
func (s *Session) owner(grant string) string { return s.name + "/" + grant }

// claim fills in what the library told about how long it holds.
func (s *Session) claim(g *locks.Grant, r *Result, sent history.Stamp) (*locks.Grant, error) {
	now := history.Now()
	g.Sent, g.Deadline, g.Lease = sent, r.Deadline, 0
	if s.Offers(OfferLease) {
		g.Lease = s.cfg.Lease
	}
	if r.Sent == 0 {
		return g, nil
	}
	if r.Sent > now.Mono+clockNoise {
		return nil, s.fail(fault(Mistaken, "sent_ns is %v after its answer; it is by CLOCK_MONOTONIC, in ns", time.Duration(r.Sent-now.Mono)))
	}
	g.Sent = ago(now, max(0, min(now.Mono-r.Sent, now.Raw-sent.Raw)))
	if g.Deadline == 0 && g.Lease > 0 && !s.Offers(OfferRenews) { // the library does not tell; the service owes it for certain until then
		g.Deadline = g.Sent.Mono + int64(g.Lease)
	}
	return g, nil
}

// clockNoise is how far two processes may be apart that read one clock: each was not
// running for a moment between the two readings that its own is made of.
const clockNoise = int64(10 * time.Millisecond)

// ago is a stamp so much earlier. The adapter's clock is this process's, bent as it is;
// the judge's is not, so what the adapter stamps is counted back from now.
func ago(now history.Stamp, by int64) history.Stamp {
	return history.Stamp{Raw: now.Raw - by, Mono: now.Mono - by, Real: now.Real - by}
}

// checkGrant looks at an answer to acquire or try.
func (s *Session) checkGrant(r *Result) *Fault {
	if r.Grant == "" {
		return fault(Mistaken, "acquire was answered with ok and no grant; name it, such as \"g1\"")
	}
	switch {
	case s.Offers(OfferToken) && r.Token == 0:
		return fault(Overclaims, "hello offers token, and a grant has none")
	case !s.Offers(OfferToken) && r.Token != 0:
		return fault(Overclaims, "a grant has token %d, and hello does not offer token", r.Token)
	}
	return s.checkClaim(DoAcquire, r)
}

// deadlineMax is how far ahead a deadline may lie: farther, it is by another clock.
const deadlineMax = 24 * time.Hour

func (s *Session) checkClaim(do Do, r *Result) *Fault {
	switch {
	case s.Offers(OfferValidity) && r.Deadline == 0:
		return fault(Overclaims, "hello offers validity, and an %s was answered without deadline_ns", do)
	case !s.Offers(OfferValidity) && r.Deadline != 0:
		return fault(Overclaims, "an %s was answered with deadline_ns, and hello does not offer validity", do)
	case s.Offers(OfferSent) && r.Sent == 0:
		return fault(Overclaims, "hello offers sent, and an %s was answered without sent_ns", do)
	case !s.Offers(OfferSent) && r.Sent != 0:
		return fault(Overclaims, "an %s was answered with sent_ns, and hello does not offer sent", do)
	case r.Deadline != 0 && time.Duration(abs(r.Deadline-history.Mono())) > deadlineMax:
		return fault(Mistaken, "deadline_ns is %v from now; it is by CLOCK_MONOTONIC, in ns", time.Duration(r.Deadline-history.Mono()))
	}
	return nil
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
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
	case r.Code == NotGranted && !asks, r.Code == NotHeld && !holds, r.Code == Config && holds:
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
