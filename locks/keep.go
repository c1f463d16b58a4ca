package locks

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Keep renews g by e at a third of its lease until stop is called. Before each
// request it calls before, which may block. It calls lost once, when the service
// knows g no more, or an eighth of the lease before the deadline of the last renewal
// that was answered: from then on nobody else's grant is impossible. A stopped
// watchdog tells nothing.
func Keep(ctx context.Context, e Extender, g *Grant, before func(), lost func(why string)) (stop func()) {
	if g.Lease == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	k := keeper{e: e, g: g, before: before, answers: make(chan *Grant, 1), gone: make(chan error, 1)}
	done := make(chan struct{})
	asking := make(chan struct{})
	go func() { defer close(asking); k.ask(ctx) }()
	go func() { defer close(done); k.watch(ctx, lost) }()
	return func() { cancel(); <-asking; <-done }
}

type keeper struct {
	e       Extender
	g       *Grant
	before  func()
	answers chan *Grant
	gone    chan error
}

// ask renews until ctx ends or the grant is gone.
func (k *keeper) ask(ctx context.Context) {
	held := k.g
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(k.g.Lease / 3):
		}
		k.before()
		// Not ctx: a renewal in flight is finished, not cut into an unknown.
		one, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.g.Lease/3)
		next, err := k.e.Extend(one, held)
		cancel()
		switch {
		case err == nil:
			held = next
			select {
			case k.answers <- next:
			case <-ctx.Done():
				return
			}
		case errors.Is(err, ErrNotHeld):
			k.gone <- err
			return
		}
	}
}

// watch tells of the loss in time, whatever has become of a request.
func (k *keeper) watch(ctx context.Context, lost func(string)) {
	claimed := k.g
	for {
		left := claimed.Valid() - k.g.Lease/8
		timer := time.NewTimer(left)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case claimed = <-k.answers:
			timer.Stop()
		case err := <-k.gone:
			timer.Stop()
			lost(err.Error())
			return
		case <-timer.C:
			lost(fmt.Sprintf("no renewal was answered, and the claim ends in %v", claimed.Valid().Round(time.Millisecond)))
			k.drain(ctx)
			return
		}
	}
}

// drain takes answers that come too late: the holder was told.
func (k *keeper) drain(ctx context.Context) {
	for {
		select {
		case <-k.answers:
		case <-k.gone: //nolint:errcheck // the holder was told
		case <-ctx.Done():
			return
		}
	}
}
