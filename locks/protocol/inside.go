package protocol

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// inside is the session of an adapter that is part of this program: the same as Session
// makes of one in a process of its own, by calls in place of messages.
type inside struct {
	terms
	nest
	a      adapter.Adapter
	open   adapter.Session
	events *queue

	mu    sync.Mutex
	last  int
	names map[*adapter.Grant]string // of those that nobody asked to give back
	held  map[*adapter.Grant]bool   // of these, those that nobody called lost
}

// Inside opens sessions of an adapter that is part of this program.
func Inside(a adapter.Adapter) locks.Opener {
	return func(ctx context.Context, c locks.Config) (locks.Client, error) {
		s := &inside{terms: newTerms(c), a: a, events: newQueue(), names: map[*adapter.Grant]string{}, held: map[*adapter.Grant]bool{}}
		s.offers = func(offer string) bool { return slices.Contains(a.Offers, offer) }
		var err error
		s.open, err = a.Open(ctx, adapter.Config{Endpoints: c.Endpoints, Ways: c.Ways, Lease: c.Lease, Client: c.Client, Seed: c.Seed}, s.tell)
		if err != nil {
			return nil, errors.Join(proven(err), s.events.close())
		}
		return offered(s, s.offers), nil
	}
}

// proven is an adapter's error as one of package locks.
func proven(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, adapter.ErrConfig):
		return fmt.Errorf("%w: %w", locks.ErrConfig, err)
	case errors.Is(err, adapter.ErrHeld):
		return fmt.Errorf("%w: %w: %w", locks.ErrNotGranted, locks.ErrHeld, err)
	case errors.Is(err, adapter.ErrNotGranted):
		return fmt.Errorf("%w: %w", locks.ErrNotGranted, err)
	case errors.Is(err, adapter.ErrNotHeld):
		return fmt.Errorf("%w: %w", locks.ErrNotHeld, err)
	}
	return err
}

// nameOf is the name of a grant. It may be told to be lost before its answer is out, and is the same grant then.
func (s *inside) nameOf(g *adapter.Grant) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names[g] == "" {
		s.last++
		s.names[g], s.held[g] = "g"+strconv.Itoa(s.last), true
	}
	return s.names[g]
}

func (s *inside) tell(event string, g *adapter.Grant, why string) {
	e := locks.Event{Kind: locks.EventKind(event), At: history.Now(), Why: why}
	if g != nil {
		e.Owner = s.owner(s.nameOf(g))
	}
	if e.Kind == locks.Lost {
		s.lost(e.Owner)
		s.giveUp(g)
	}
	s.events.put(e)
}

// giveUp leaves what is lost out of what Close gives back; nil: all.
func (s *inside) giveUp(g *adapter.Grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g == nil {
		clear(s.held)
		return
	}
	delete(s.held, g)
}

// forget leaves out what was asked to be given back, and its name.
func (s *inside) forget(g *adapter.Grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.names, g)
	delete(s.held, g)
}

func (s *inside) take(ctx context.Context, a adapter.Ask, how func(context.Context, adapter.Ask) (*adapter.Grant, error)) (*locks.Grant, error) {
	sent := history.Now()
	g, err := how(ctx, a)
	switch {
	case errors.Is(err, adapter.ErrConfig):
		return nil, fmt.Errorf("%w: %w", locks.ErrNotGranted, proven(err))
	case err != nil:
		return nil, proven(err)
	}
	r := &Result{Grant: s.nameOf(g), Token: g.Token, Deadline: g.Deadline, Sent: g.Sent}
	if f := s.checkGrant(r); f != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrFaulty, f)
	}
	return faulty(s.claim(&locks.Grant{Key: a.Key, Owner: s.owner(r.Grant), Token: g.Token, State: g}, r, sent))
}

func faulty(g *locks.Grant, f *Fault) (*locks.Grant, error) {
	if f != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrFaulty, f)
	}
	return g, nil
}

// Acquire implements locks.Client.
func (s *inside) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	return s.take(ctx, adapter.Ask{Key: key, Wait: limitOf(ctx)}, s.open.Acquire)
}

// Try implements locks.Trier.
func (s *inside) Try(ctx context.Context, key string) (*locks.Grant, error) {
	return s.take(ctx, adapter.Ask{Key: key}, s.open.(adapter.Trier).Try) // it offers try
}

// AcquireAs implements locks.ReadWriter.
func (s *inside) AcquireAs(ctx context.Context, key string, mode history.Mode) (*locks.Grant, error) {
	if !s.offers(OfferShared) {
		return nil, s.lacks(OfferShared)
	}
	g, err := s.take(ctx, adapter.Ask{Key: key, Wait: limitOf(ctx), Shared: mode == history.Shared}, s.open.Acquire)
	if err == nil {
		g.Mode = mode
	}
	return g, err
}

// AcquirePermits implements locks.Permitter.
func (s *inside) AcquirePermits(ctx context.Context, key string, n, of int) (*locks.Grant, error) {
	if !s.offers(OfferPermits) {
		return nil, s.lacks(OfferPermits)
	}
	g, err := s.take(ctx, adapter.Ask{Key: key, Wait: limitOf(ctx), Permits: of, Want: n}, s.open.Acquire)
	if err == nil {
		g.Permits = n
	}
	return g, err
}

// AcquireBy implements locks.Reenterer.
func (s *inside) AcquireBy(ctx context.Context, key, thread string) (*locks.Grant, error) {
	if !s.offers(OfferReentrant) {
		return nil, s.lacks(OfferReentrant)
	}
	g, err := s.take(ctx, adapter.Ask{Key: key, Wait: limitOf(ctx), Thread: thread}, s.open.Acquire)
	if err != nil {
		return nil, err
	}
	return s.nested(g, thread), nil
}

// ReleaseBy implements locks.Reenterer.
func (s *inside) ReleaseBy(ctx context.Context, g *locks.Grant) (left int, err error) {
	return s.unnest(g, func(inner *locks.Grant) error { return s.Release(ctx, inner) })
}

// Extend implements locks.Extender.
func (s *inside) Extend(ctx context.Context, g *locks.Grant) (*locks.Grant, error) {
	sent := history.Now()
	own := g.State.(*adapter.Grant)
	if err := s.open.(adapter.Extender).Extend(ctx, own); err != nil { // it offers extend
		return nil, s.refused(g.Owner, proven(err))
	}
	r := &Result{Deadline: own.Deadline, Sent: own.Sent}
	if f := s.checkClaim(DoExtend, r); f != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrFaulty, f)
	}
	next := *g
	return faulty(s.claim(&next, r, sent))
}

// Release implements locks.Client. What nobody has given back yet is asked of the library,
// also where it was told to be lost.
func (s *inside) Release(ctx context.Context, g *locks.Grant) error {
	own := g.State.(*adapter.Grant)
	s.forget(own)
	return proven(s.open.Release(ctx, own))
}

// Events implements locks.Notifier.
func (s *inside) Events() <-chan locks.Event { return s.events.out }

// Close implements locks.Client.
func (s *inside) Close() error {
	s.mu.Lock()
	held := s.held
	s.held = map[*adapter.Grant]bool{}
	s.mu.Unlock()
	adapter.GiveBack(s.open, held)
	return errors.Join(s.open.Close(), s.events.close())
}

// Hello is what the adapter would say of itself in a process of its own.
func (s *inside) Hello() Result {
	return Result{Version: Version, Name: s.a.Name, Library: s.a.Library, Offers: s.a.Offers}
}

// Failed is never closed: what an adapter could do against the protocol it does by messages.
func (s *inside) Failed() <-chan struct{} { return nil }

// Fault is nil, see Failed.
func (s *inside) Fault() *Fault { return nil }

// lacks is the answer to what hello does not offer. Nothing was asked.
func (s *inside) lacks(offer string) error { return lacks(s.a.Name, offer) }
