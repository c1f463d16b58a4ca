package locktest

import (
	"errors"
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// What a busy machine makes late is no word on the lock.

// again makes a check up to three times, each on a key of its own, while a wait ends with an unknown outcome: on a busy
// machine a request may be under way as it ends.
func (t *trial) again(check func(a, b locks.Client) error) error {
	a, b, err := t.two()
	if err != nil {
		return err
	}
	key := t.key
	for n := range 3 {
		t.key = fmt.Sprintf("%s-%d", key, n)
		if err = check(a, b); !errors.As(err, &unknown{}) {
			return err
		}
	}
	return err
}

// unknown is the error of a wait that says neither that it was granted nor that it was not.
type unknown struct{ error }

// refusal wants the outcome of a wait for what a holds by g to be that it was not granted.
func (t *trial) refusal(err error, what string, a locks.Client, g *locks.Grant) error {
	if err == nil || errors.Is(err, locks.ErrNotGranted) {
		return want(locks.ErrNotGranted, err, what)
	}
	return unknown{errors.Join(want(locks.ErrNotGranted, err, what), t.release(a, g))}
}

// endsByItself says that a grant ends with its lease where nobody extends it.
func (t *trial) endsByItself() bool {
	return t.Promise.Leased && !t.Renews && !t.Promise.Renews && !t.Promise.Session
}

// release gives a grant back. An unknown outcome after a quarter of a lease is no answer, as of a busy machine that the first
// request was late at: it asks once more, and then the grant may be gone. So it may behind the end of its lease.
func (t *trial) release(c locks.Client, g *locks.Grant) error {
	asked := time.Now()
	err := c.Release(t.ctx, g)
	if err != nil && !errors.Is(err, locks.ErrNotHeld) && time.Since(asked) >= t.Lease/4 && t.ctx.Err() == nil {
		if err = c.Release(t.ctx, g); errors.Is(err, locks.ErrNotHeld) {
			return nil
		}
	}
	if over := g.Sent.Raw + int64(t.Lease); errors.Is(err, locks.ErrNotHeld) && t.endsByItself() && history.Now().Raw >= over {
		return nil
	}
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}
