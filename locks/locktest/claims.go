package locktest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// inTurn makes grants of two clients in turn, and passes each beside its successor.
func (t *trial) inTurn(n int, see func(older, newer *locks.Grant) error) error {
	a, b, err := t.two()
	if err != nil {
		return err
	}
	var last *locks.Grant
	for i := range n {
		c := []locks.Client{a, b}[i%2]
		g, err := t.acquire(c, t.quick())
		if err != nil {
			return err
		}
		if last != nil {
			if err := see(last, g); err != nil {
				return err
			}
		}
		if err := t.release(c, g); err != nil {
			return err
		}
		last = g
	}
	return nil
}

func tokens(t *trial) error {
	return t.inTurn(6, func(older, newer *locks.Grant) error {
		if newer.Token <= older.Token {
			return fmt.Errorf("token %d of %s after %d of %s", newer.Token, newer.Owner, older.Token, older.Owner)
		}
		return nil
	})
}

func uniqueOwners(t *trial) error {
	seen := map[string]bool{}
	return t.inTurn(5, func(older, newer *locks.Grant) error {
		seen[older.Owner] = true
		if seen[newer.Owner] {
			return fmt.Errorf("owner %s twice", newer.Owner)
		}
		return nil
	})
}

func extend(t *trial) error {
	a, b, err := t.two()
	if err != nil {
		return err
	}
	first, err := t.acquire(a, t.quick())
	if err != nil {
		return err
	}
	g := first
	for range 4 { // two leases in all
		time.Sleep(t.Lease / 2)
		before := history.Now()
		next, err := a.(locks.Extender).Extend(t.ctx, g)
		if err != nil {
			return fmt.Errorf("extend: %w", err)
		}
		switch err := t.honest(next, before); {
		case err != nil:
			return err
		case next.Owner != g.Owner || next.Token != g.Token:
			return errors.New("extend changed the owner or the token")
		case next.Sent.Mono <= g.Sent.Mono || next.Deadline <= g.Deadline && g.Deadline != 0: // 0: it tells none
			return errors.New("extend did not move sent and deadline")
		}
		g = next
	}
	ctx, cancel := context.WithTimeout(t.ctx, t.Lease/8)
	defer cancel()
	if _, err := t.ask(ctx, b); err == nil {
		return errors.New("granted to another although the holder had extended")
	}
	return t.release(a, g)
}

func expiry(t *trial) error {
	if t.Renews {
		return nil // only the end of its session would end a grant
	}
	a, b, err := t.two()
	if err != nil {
		return err
	}
	old, err := t.acquire(a, t.quick())
	if err != nil {
		return err
	}
	g, err := t.acquire(b, t.afterLease())
	if err != nil {
		return fmt.Errorf("after the lease: %w", err)
	}
	if left := old.Valid(); left > 0 && old.Deadline != 0 {
		return fmt.Errorf("granted to another while the first claims it for %v more", left)
	}
	if x, ok := a.(locks.Extender); ok {
		_, err := x.Extend(t.ctx, old)
		if err := want(locks.ErrNotHeld, err, "extend after the lease"); err != nil {
			return err
		}
	}
	if err := want(locks.ErrNotHeld, a.Release(t.ctx, old), "release after the lease"); err != nil {
		return err
	}
	if _, err := t.acquire(a, t.Lease/8); err == nil {
		return errors.New("the old grant's release freed the new holder's")
	}
	return t.release(b, g)
}

func closeFrees(t *trial) error {
	a, err := t.Open(t.ctx, t.name+"-0")
	if err != nil {
		return err
	}
	if _, err := t.acquire(a, t.quick()); err != nil {
		_ = a.Close()
		return err
	}
	if err := a.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	b, err := t.open()
	if err != nil {
		return err
	}
	g, err := t.acquire(b, t.afterLease())
	if err != nil {
		return fmt.Errorf("after the holder's close: %w", err)
	}
	return t.release(b, g)
}

// exclusion lets clients raise a counter that nothing but the lock protects, with
// a pause between read and write. Whoever is inside is also counted.
func exclusion(t *trial) error {
	const rounds = 4
	var mu sync.Mutex // for the race detector, and for what a broken lock would tear
	counter, inside := 0, 0
	enter := func(by int) (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		inside += by
		return counter, inside <= 1
	}
	work := func(c locks.Client) error {
		for range rounds {
			g, err := t.acquire(c, 5*t.Lease+t.Slack)
			if err != nil {
				return err
			}
			seen, alone := enter(+1)
			time.Sleep(5 * time.Millisecond)
			mu.Lock()
			counter = seen + 1
			mu.Unlock()
			enter(-1)
			if !alone {
				return errors.New("two clients were inside at once")
			}
			if err := t.release(c, g); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make(chan error, t.Clients)
	for range t.Clients {
		c, err := t.open()
		if err != nil {
			return err
		}
		go func() { errs <- work(c) }()
	}
	var all error
	for range t.Clients {
		all = errors.Join(all, <-errs)
	}
	if all == nil && counter != rounds*t.Clients {
		return fmt.Errorf("%d raises of the counter were lost", rounds*t.Clients-counter)
	}
	return all
}

func holder(t *trial) error {
	a, b, err := t.two()
	if err != nil {
		return err
	}
	eye, ok := b.(locks.Inspector)
	if !ok {
		return nil // no promise is made of it
	}
	is := func(owner string) error {
		h, err := eye.Holder(t.ctx, t.key)
		switch {
		case err != nil:
			return fmt.Errorf("holder: %w", err)
		case h.Owner != owner:
			return fmt.Errorf("holder is %q, want %q", h.Owner, owner)
		case h.Left < 0 || h.Left > t.Lease:
			return fmt.Errorf("holder has %v left of a lease of %v", h.Left, t.Lease)
		}
		return nil
	}
	if err := is(""); err != nil {
		return err
	}
	g, err := t.acquire(a, t.quick())
	if err != nil {
		return err
	}
	waiting := t.wait(b, t.Lease/2) // a waiter is no holder
	time.Sleep(t.Lease / 8)
	if err := is(g.Owner); err != nil {
		return err
	}
	if err := t.release(a, g); err != nil {
		return err
	}
	w := <-waiting
	if w.err != nil {
		return w.err
	}
	if err := errors.Join(is(w.g.Owner), t.release(b, w.g)); err != nil {
		return err
	}
	return is("")
}
