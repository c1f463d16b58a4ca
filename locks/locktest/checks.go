package locktest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

func noTry(p history.Promise) bool    { return !p.Tries }
func noExtend(p history.Promise) bool { return !p.Extends }
func noLease(p history.Promise) bool  { return !p.Leased }
func noLimit(p history.Promise) bool  { return p.NoLimit }
func limited(p history.Promise) bool  { return !p.NoLimit }

// Checks are all demands, in the order in which they run.
var Checks = []Check{
	{"interfaces", "the client offers what its promise says", nil, interfaces},
	{"round-trip", "acquire, release, acquire again at once", nil, roundTrip},
	{"try-refused", "a try on a held key is refused, at once", noTry, tryRefused},
	{"handover", "a waiting acquire gets the lock after its release", nil, handover},
	{"wait-limit", "a wait limit is kept and leaves nothing behind", noLimit, waitLimit},
	{"cancel", "a cancelled wait ends and leaves nothing behind", noLimit, cancelWait},
	{"no-limit", "a wait that has no limit, as its promise says, goes on when its context ends", limited, waitsOn},
	{"release-twice", "the second release of a grant says ErrNotHeld", nil, releaseTwice},
	{"stale-release", "a release by an old grant does not free the new holder's", nil, staleRelease},
	{"owners", "no two grants have one owner", nil, uniqueOwners},
	{"tokens", "tokens rise from grant to grant, of whatever client", func(p history.Promise) bool { return !p.Token }, tokens},
	{"extend", "an extension moves the deadline and keeps the lock past its first lease", noExtend, extend},
	{"expiry", "after its lease another gets the lock and the old grant is not held", noLease, expiry},
	{"alike-keys", "keys of which one's name begins the other's are two locks", nil, alikeKeys},
	{"alike-clients", "clients of which one's name begins the other's exclude each other", nil, alikeClients},
	{"close", "close frees what the client holds", nil, closeFrees},
	{"exclusion", "clients in contention exclude each other", nil, exclusion},
	{"shared", "readers hold together, and a writer alone", noShared, shared},
	{"permits", "as many permits are out as there are, and no more", noPermits, permits},
	{"reentrant", "a thread takes again at once what it holds, and gives it back as often", noReentrant, reentrant},
	{"holder", "the inspector tells who holds the key", nil, holder},
}

func interfaces(t *trial) error {
	c, err := t.open()
	if err != nil {
		return err
	}
	_, tries := c.(locks.Trier)
	_, extends := c.(locks.Extender)
	_, notifies := c.(locks.Notifier)
	switch {
	case tries != t.Promise.Tries:
		return fmt.Errorf("Trier %v, promised %v", tries, t.Promise.Tries)
	case extends != t.Promise.Extends:
		return fmt.Errorf("Extender %v, promised %v", extends, t.Promise.Extends)
	case notifies != t.Promise.Session:
		return fmt.Errorf("Notifier %v, promised %v", notifies, t.Promise.Session)
	}
	return nil
}

func roundTrip(t *trial) error {
	c, err := t.open()
	if err != nil {
		return err
	}
	for range 3 {
		g, err := t.acquire(c, t.quick())
		if err != nil {
			return err
		}
		if err := t.release(c, g); err != nil {
			return err
		}
	}
	return nil
}

func tryRefused(t *trial) error {
	a, b, err := t.two()
	if err != nil {
		return err
	}
	g, err := t.acquire(a, t.quick())
	if err != nil {
		return err
	}
	start := time.Now()
	_, err = b.(locks.Trier).Try(t.ctx, t.key)
	if err := want(locks.ErrNotGranted, err, "try on a held key"); err != nil {
		return err
	}
	if took := time.Since(start); took > t.quick() {
		return fmt.Errorf("try took %v", took)
	}
	if err := t.release(a, g); err != nil {
		return err
	}
	before := history.Now()
	if g, err = b.(locks.Trier).Try(t.ctx, t.key); err != nil {
		return fmt.Errorf("try on a free key: %w", err)
	}
	return errors.Join(t.honest(g, before), t.release(b, g))
}

// wait starts an acquire that has to wait.
func (t *trial) wait(c locks.Client, limit time.Duration) <-chan waited {
	ch := make(chan waited, 1)
	go func() {
		g, err := t.acquire(c, limit)
		ch <- waited{g, err, time.Now()}
	}()
	return ch
}

type waited struct {
	g   *locks.Grant
	err error
	at  time.Time
}

func handover(t *trial) error {
	a, b, err := t.two()
	if err != nil {
		return err
	}
	g, err := t.acquire(a, t.quick())
	if err != nil {
		return err
	}
	ch := t.wait(b, t.afterLease())
	time.Sleep(t.Lease / 4)
	select {
	case w := <-ch:
		return fmt.Errorf("granted to a second client while the first holds it (error %s)", fmt.Sprint(w.err))
	default:
	}
	released := time.Now()
	if err := t.release(a, g); err != nil {
		return err
	}
	w := <-ch
	if w.err != nil {
		return w.err
	}
	if took := w.at.Sub(released); took > t.soon() {
		return fmt.Errorf("the waiter got it %v after the release", took)
	}
	return t.release(b, w.g)
}

// leftNothing checks, after b's wait ended, that the key is free once a has gone.
func (t *trial) leftNothing(a, b locks.Client, g *locks.Grant) error {
	if err := t.release(a, g); err != nil {
		return err
	}
	time.Sleep(t.Lease / 8) // for what was left behind to take the lock
	for _, c := range []locks.Client{a, b} {
		g, err := t.acquire(c, t.quick())
		if err != nil {
			return fmt.Errorf("left behind by the wait: %w", err)
		}
		if err := t.release(c, g); err != nil {
			return err
		}
	}
	return nil
}

func waitLimit(t *trial) error { return t.again(t.waitLimited) }

func (t *trial) waitLimited(a, b locks.Client) error {
	g, err := t.acquire(a, t.quick())
	if err != nil {
		return err
	}
	start, limit := time.Now(), t.Lease/4
	_, err = t.acquire(b, limit)
	if err := t.refusal(err, "acquire with a wait limit", a, g); err != nil {
		return err
	}
	// A library that polls may end when its next turn would be too late.
	if took := time.Since(start); took < limit*3/4 || took > limit+t.Slack {
		return fmt.Errorf("a wait limit of %v ended after %v", limit, took)
	}
	return t.leftNothing(a, b, g)
}

func cancelWait(t *trial) error { return t.again(t.cancelled) }

func (t *trial) cancelled(a, b locks.Client) error {
	g, err := t.acquire(a, t.quick())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(t.ctx)
	time.AfterFunc(t.Lease/8, cancel)
	start := time.Now()
	_, err = b.Acquire(ctx, t.key)
	if err := t.refusal(err, "a cancelled acquire", a, g); err != nil {
		return err
	}
	if took := time.Since(start); took > t.Lease/8+t.Slack {
		return fmt.Errorf("cancelled after %v, ended after %v", t.Lease/8, took)
	}
	return t.leftNothing(a, b, g)
}

// waitsOn holds a lock to its word that its user cannot end a wait.
func waitsOn(t *trial) error {
	a, b, err := t.two()
	if err != nil {
		return err
	}
	g, err := t.acquire(a, t.quick())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.ctx, t.Lease/8)
	defer cancel()
	ch := make(chan waited, 1)
	go func() {
		g, err := b.Acquire(ctx, t.key)
		ch <- waited{g: g, err: err}
	}()
	select {
	case w := <-ch:
		return fmt.Errorf("the wait ended with its context (%s): then its promise must not say that it has no limit", fmt.Sprint(w.err))
	case <-time.After(t.Lease / 2):
	}
	if err := t.release(a, g); err != nil {
		return err
	}
	w := <-ch
	if w.err != nil {
		return w.err
	}
	return t.release(b, w.g)
}

func releaseTwice(t *trial) error {
	c, err := t.open()
	if err != nil {
		return err
	}
	g, err := t.acquire(c, t.quick())
	if err != nil {
		return err
	}
	if err := t.release(c, g); err != nil {
		return err
	}
	return want(locks.ErrNotHeld, c.Release(t.ctx, g), "second release")
}

func staleRelease(t *trial) error {
	a, b, err := t.two()
	if err != nil {
		return err
	}
	old, err := t.acquire(a, t.quick())
	if err != nil {
		return err
	}
	if err := t.release(a, old); err != nil {
		return err
	}
	g, err := t.acquire(b, t.quick())
	if err != nil {
		return err
	}
	if err := want(locks.ErrNotHeld, a.Release(t.ctx, old), "release by an old grant"); err != nil {
		return err
	}
	if g2, err := t.acquire(a, t.Lease/4); err == nil {
		return fmt.Errorf("the old grant's release freed %s: granted again to %s", g.Owner, g2.Owner)
	}
	return t.release(b, g)
}
