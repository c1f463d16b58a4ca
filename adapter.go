package dlmtest

import (
	"context"
	crand "crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// session is a Client of the user's as dlmtest drives one.
type session struct {
	*Lock
	config locks.Config
	client Client
	grants atomic.Uint64
	events chan locks.Event

	mu     sync.Mutex
	closed bool
	held   sync.WaitGroup // watchers of Lost
	ending chan struct{}
}

// hold is a Grant in hand; it goes with locks.Grant as its State.
type hold struct {
	grant    Grant
	released chan struct{} // closed when Release is asked for
	once     sync.Once
}

// open is the locks.Opener of a lock on a backend.
func (l *Lock) open(backend string) locks.Opener {
	return func(ctx context.Context, c locks.Config) (locks.Client, error) {
		s := &session{Lock: l, config: c, ending: make(chan struct{}), events: make(chan locks.Event, 64)}
		own := Config{Backend: backend, Endpoints: c.Endpoints, Lease: c.Lease, Client: c.Client, Seed: c.Seed, Ways: c.Ways}
		var err error
		if s.client, err = guard(ctx, "Open", func() (Client, error) { return l.Open(ctx, own) }); err != nil {
			return nil, err
		}
		if s.client == nil {
			return nil, fault("Open returned neither a client nor an error")
		}
		if _, tries := s.client.(Trier); l.Promise.Try && !tries {
			return nil, broken("Try", "client", s.client, "Try(context.Context, string) (dlmtest.Grant, error)")
		}
		return s.offering(), nil
	}
}

// Acquire implements locks.Client.
func (s *session) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	return s.take(ctx, "Acquire", key, s.client.Acquire)
}

func (s *session) take(ctx context.Context, what, key string, ask func(context.Context, string) (Grant, error)) (*locks.Grant, error) {
	begun := history.Now()
	g, err := guard(ctx, what, func() (Grant, error) { return ask(ctx, key) })
	if err != nil {
		return nil, err
	}
	if g == nil {
		return nil, fault("%s returned neither a grant nor an error", what)
	}
	h := &hold{grant: g, released: make(chan struct{})}
	made := &locks.Grant{Key: key, Owner: fmt.Sprintf("%s/%d/%s", s.config.Client, s.grants.Add(1), crand.Text()[:10]), State: h}
	if err := s.claim(what, made, g, begun); err != nil {
		return nil, err
	}
	s.watch(made, h)
	return made, nil
}

// claim reads what a grant says of itself, asked for at begun.
func (s *session) claim(what string, made *locks.Grant, g Grant, begun history.Stamp) error {
	made.Sent, made.Lease = begun, 0
	if s.Promise.Leased {
		made.Lease = s.config.Lease
	}
	if err := s.token(what, made, g); err != nil {
		return err
	}
	now := history.Now()
	if s.Promise.Sent {
		sender, ok := g.(Sender)
		if !ok {
			return broken("Sent", "grant", g, "Sent() time.Time")
		}
		at := history.MonoAt(sender.Sent())
		if at < begun.Mono || at > now.Mono {
			return fault("a grant of %s says that its request was sent %v before the end of the call, which took %v: want Sent within the call, by time.Now",
				what, time.Duration(now.Mono-at), time.Duration(now.Mono-begun.Mono))
		}
		made.Sent = between(begun, now, at)
	}
	switch {
	case s.Promise.Until:
		expirer, ok := g.(Expirer)
		if !ok {
			return broken("Until", "grant", g, "Until() time.Time")
		}
		until := expirer.Until()
		if made.Deadline = history.MonoAt(until); until.IsZero() || made.Deadline <= begun.Mono {
			return fault("a grant of %s says that it is valid until %v, which was before it was asked for", what, until)
		}
	case s.Promise.Leased && s.Promise.Sent:
		made.Deadline = made.Sent.Mono + int64(s.config.Lease)
	}
	return nil
}

// between is the stamp of an instant of the client's own MONOTONIC in a call.
func between(begun, now history.Stamp, mono int64) history.Stamp {
	ago := now.Mono - mono
	return history.Stamp{Raw: max(begun.Raw, now.Raw-ago), Mono: mono, Real: now.Real - ago}
}

func (s *session) token(what string, made *locks.Grant, g Grant) error {
	if !s.Promise.Token {
		return nil
	}
	tokener, ok := g.(Tokener)
	if !ok {
		return broken("Token", "grant", g, "Token() int64")
	}
	if made.Token = tokener.Token(); made.Token <= 0 {
		return fault("a grant of %s has the token %d: want 1 or more, as Promise.Token says that there is one", what, made.Token)
	}
	return nil
}

// watch passes on that a grant is lost, until it is given back.
func (s *session) watch(made *locks.Grant, h *hold) {
	notifier, ok := h.grant.(Notifier)
	if !s.Promise.Lost || !ok {
		return
	}
	lost := notifier.Lost()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.held.Go(func() {
		select {
		case <-lost:
		case <-h.released:
			return
		case <-s.ending:
			return
		}
		select {
		case <-h.released: // both have come: what is given back cannot be lost
			return
		default:
		}
		e := locks.Event{Kind: locks.Lost, Owner: made.Owner, At: history.Now(), Why: "the lock says that it is lost"}
		select {
		case s.events <- e:
		case <-s.ending:
		}
	})
}

// Release implements locks.Client.
func (s *session) Release(ctx context.Context, g *locks.Grant) error {
	h := g.State.(*hold)
	h.once.Do(func() { close(h.released) })
	_, err := guard(ctx, "Release", func() (struct{}, error) { return struct{}{}, h.grant.Release(ctx) })
	return err
}

// Close implements locks.Client.
func (s *session) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	close(s.ending)
	s.held.Wait()
	close(s.events)
	ctx, cancel := context.WithTimeout(context.Background(), s.config.Lease)
	defer cancel()
	_, err := guard(ctx, "Close", func() (struct{}, error) { return struct{}{}, s.client.Close() })
	return err
}
