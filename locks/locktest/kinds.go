package locktest

import (
	"context"
	"errors"
	"fmt"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

func noShared(p history.Promise) bool    { return !p.Shared }
func noPermits(p history.Promise) bool   { return !p.Permits }
func noReentrant(p history.Promise) bool { return p.Reentry == "" }

// takes is one way of asking for the key.
type takes func(context.Context) (*locks.Grant, error)

// had wants a grant, soon.
func (t *trial) had(take takes, what string) (*locks.Grant, error) {
	ctx, cancel := context.WithTimeout(t.ctx, t.quick())
	defer cancel()
	g, err := take(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return g, nil
}

// refused wants none, in the time in which a free key would be granted.
func (t *trial) refused(take takes, what string) error {
	ctx, cancel := context.WithTimeout(t.ctx, min(t.quick()/2, t.Lease/8)) // four in a row are within one lease
	defer cancel()
	_, err := take(ctx)
	return want(locks.ErrNotGranted, err, what)
}

func shared(t *trial) error {
	a, b, err := t.two()
	if err != nil {
		return err
	}
	as := func(c locks.Client, mode history.Mode) takes {
		return func(ctx context.Context) (*locks.Grant, error) {
			return c.(locks.ReadWriter).AcquireAs(ctx, t.key, mode)
		}
	}
	one, err := t.had(as(a, history.Shared), "a reader of a free key")
	if err != nil {
		return err
	}
	two, err := t.had(as(b, history.Shared), "a second reader")
	if err != nil {
		return err
	}
	if one.Mode != history.Shared || two.Mode != history.Shared {
		return fmt.Errorf("readers hold as %q and %q", one.Mode, two.Mode)
	}
	if err := errors.Join(t.release(a, one), t.refused(as(a, history.Exclusive), "a writer beside a reader"), t.release(b, two)); err != nil {
		return err
	}
	w, err := t.had(as(a, history.Exclusive), "a writer after the readers")
	if err != nil {
		return err
	}
	return errors.Join(t.refused(as(b, history.Shared), "a reader beside a writer"), t.release(a, w))
}

func permits(t *trial) error {
	a, b, err := t.two()
	if err != nil {
		return err
	}
	of := func(c locks.Client, n int) takes {
		return func(ctx context.Context) (*locks.Grant, error) {
			return c.(locks.Permitter).AcquirePermits(ctx, t.key, n, 3)
		}
	}
	two, err := t.had(of(a, 2), "two permits of three")
	if err != nil {
		return err
	}
	one, err := t.had(of(b, 1), "the last of three permits")
	if err != nil {
		return err
	}
	if err := errors.Join(t.refused(of(b, 1), "a fourth permit of three"), t.release(a, two)); err != nil {
		return err
	}
	again, err := t.had(of(b, 2), "two permits that were given back")
	if err != nil {
		return err
	}
	return errors.Join(t.release(b, one), t.release(b, again))
}

func reentrant(t *trial) error {
	a, b, err := t.two()
	if err != nil {
		return err
	}
	by := func(c locks.Client, thread string) takes {
		return func(ctx context.Context) (*locks.Grant, error) {
			return c.(locks.Reenterer).AcquireBy(ctx, t.key, thread)
		}
	}
	outer, err := t.had(by(a, "t1"), "a free key by a thread")
	if err != nil {
		return err
	}
	inner, err := t.had(by(a, "t1"), "the key again by its thread")
	if err != nil {
		return err
	}
	if inner.Owner != outer.Owner || inner.Token != outer.Token || outer.Depth != 1 || inner.Depth != 2 {
		return fmt.Errorf("the key again is %+v, and was %+v", inner, outer)
	}
	for left := 1; left >= 0; left-- {
		if err := t.refused(by(b, "t1"), fmt.Sprintf("another client's thread, with %d holds left", left+1)); err != nil {
			return err
		}
		if t.Promise.Reentry == history.ByThread {
			if err := t.refused(by(a, "t2"), fmt.Sprintf("another thread, with %d holds left", left+1)); err != nil {
				return err
			}
		}
		if got, err := a.(locks.Reenterer).ReleaseBy(t.ctx, inner); err != nil || got != left {
			return fmt.Errorf("a release leaves %d, %w; want %d", got, err, left)
		}
	}
	g, err := t.had(by(b, "t1"), "the key after all holds were given back")
	if err != nil {
		return err
	}
	if _, err := a.(locks.Reenterer).ReleaseBy(t.ctx, outer); !errors.Is(err, locks.ErrNotHeld) {
		return fmt.Errorf("one release more: %w, want %w", err, locks.ErrNotHeld)
	}
	_, err = b.(locks.Reenterer).ReleaseBy(t.ctx, g)
	return err
}
