package pglock

import (
	"context"
	"errors"
	"net/url"
	"sync/atomic"

	"cirello.io/pglock"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// Do is pglock's Do, which runs a function under the lock, gives it back when that returns,
// and cancels the function's context when its heartbeat has lost the lock.
var Do = adapter.Adapter{Name: "pglock-do", Offers: offers, Open: func(ctx context.Context, c adapter.Config, tell adapter.Tell) (adapter.Session, error) {
	s, err := open(ctx, c, tell)
	if err != nil {
		return nil, err
	}
	return &doer{s}, nil
}}

type doer struct{ *session }

// run is a function that Do runs, until it is told to return.
type run struct {
	released atomic.Bool
	giveBack chan struct{}
	done     chan error // what Do has returned
}

// Acquire implements adapter.Session.
func (s *doer) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	return s.do(ctx, a.Key)
}

// Try implements adapter.Trier.
func (s *doer) Try(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	return s.do(ctx, a.Key, pglock.FailIfLocked())
}

// do waits under a context that the lock does not live under: it would end with it.
func (s *doer) do(ctx context.Context, key string, options ...pglock.LockOption) (*adapter.Grant, error) {
	key = url.PathEscape(key) // the log has spaces between words
	own, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, cancel)
	r := &run{giveBack: make(chan struct{}), done: make(chan error, 1)}
	g := &adapter.Grant{State: r}
	entered := make(chan struct{})
	go func() {
		defer cancel()
		r.done <- s.locks.Do(own, key, func(alive context.Context, _ *pglock.Lock) error {
			g.Sent = s.asked.last(key)
			close(entered)
			select {
			case <-alive.Done():
				s.tell("lost", g, "the context of Do's function was cancelled")
				<-r.giveBack
			case <-r.giveBack:
			}
			return alive.Err() // as a function does that was told to stop; nil: it was not
		}, options...)
	}()
	select {
	case <-entered:
		if !stop() { // it came as the wait ended
			close(r.giveBack)
			return nil, errors.Join(ctx.Err(), <-r.done)
		}
		return g, nil
	case err := <-r.done:
		return nil, refused(err)
	}
}

// Release lets the function return, and waits until Do has, which hands on what the function says. After a loss that is an error, and what
// became of the lock is unknown: a heartbeat without an answer is a loss to Do, and the row may still be there.
func (s *doer) Release(_ context.Context, g *adapter.Grant) error {
	r := g.State.(*run)
	if r.released.Swap(true) {
		return adapter.ErrNotHeld
	}
	close(r.giveBack)
	return <-r.done
}
