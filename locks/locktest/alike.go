package locktest

import (
	"errors"
	"fmt"

	"github.com/dlmtest/dlmtest/locks"
)

// alikeKeys holds two keys at once of which one's name begins the other's, each first once. Who looks
// for what begins with its key takes the one for the other.
func alikeKeys(t *trial) error {
	a, b, err := t.two()
	if err != nil {
		return err
	}
	short, long := t.key+"-1", t.key+"-10"
	for _, keys := range [][2]string{{short, long}, {long, short}} {
		if err := t.apart(a, b, keys[0], keys[1]); err != nil {
			return err
		}
	}
	return nil
}

// apart checks that a key is granted beside another, and that its release frees no more than itself.
func (t *trial) apart(a, b locks.Client, one, other string) error {
	t.key = one
	g, err := t.acquire(a, t.quick())
	if err != nil {
		return err
	}
	t.key = other
	h, err := t.acquire(b, t.soon())
	if err != nil {
		return fmt.Errorf("%q cannot be acquired while %q is held: %w", other, one, err)
	}
	if err := t.release(b, h); err != nil {
		return err
	}
	t.key = one
	if err := t.refusedOf(b, fmt.Sprintf("acquire of %q, which %s holds, after the release of %q", one, g.Owner, other)); err != nil {
		return err
	}
	return t.release(a, g)
}

// refusedOf checks that a key that is held is not granted. An unknown outcome is no answer, as from a server that a busy
// machine keeps from its word for a quarter of a second: it asks again.
func (t *trial) refusedOf(c locks.Client, what string) (err error) {
	for range 3 {
		if _, err = t.acquire(c, t.Lease/4); err == nil || errors.Is(err, locks.ErrNotGranted) {
			break
		}
	}
	return want(locks.ErrNotGranted, err, what)
}

// alikeClients has two clients ask for a key that the other holds; the name of one begins that of the
// other. Who finds its own place by its name takes the other's for its own.
func alikeClients(t *trial) error {
	a, err := t.openAs(1)
	if err != nil {
		return err
	}
	b, err := t.openAs(10)
	if err != nil {
		return err
	}
	return errors.Join(t.excludes(b, a), t.excludes(a, b))
}

// excludes checks that who asks is refused as long as the holder holds, and no longer.
func (t *trial) excludes(holder, asks locks.Client) error {
	g, err := t.acquire(holder, t.soon())
	if err != nil {
		return err
	}
	if err := t.refusedOf(asks, "acquire while "+g.Owner+" holds it"); err != nil {
		return err
	}
	if err := t.release(holder, g); err != nil {
		return err
	}
	if g, err = t.acquire(asks, t.soon()); err != nil {
		return err
	}
	return t.release(asks, g)
}
