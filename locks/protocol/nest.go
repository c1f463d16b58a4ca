package protocol

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/dlmtest/dlmtest/locks"
)

// nest holds the grants of a reentrant lock: the adapter makes a new one for each hold, and
// those of one thread and key are one grant, which gets deeper.
type nest struct {
	mu     sync.Mutex
	holds  map[string][]*locks.Grant // by the owner of the first of them, from the outermost on
	owners map[[2]string]string      // by key and thread
	unsure map[string]bool           // owners that were not told what became of a release: their holds may be over
}

// nested puts g into the holds of its thread. Where these may be over, and g has another token, it is a new hold.
func (n *nest) nested(g *locks.Grant, thread string) *locks.Grant {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.holds == nil {
		n.holds, n.owners, n.unsure = map[string][]*locks.Grant{}, map[[2]string]string{}, map[string]bool{}
	}
	at := [2]string{g.Key, thread}
	outer := n.holds[n.owners[at]]
	if len(outer) > 0 && n.unsure[outer[0].Owner] && g.Token != outer[0].Token {
		n.forget(outer[0].Owner)
		outer = nil
	}
	if len(outer) > 0 {
		g.Owner, g.Token = outer[0].Owner, outer[0].Token
	}
	n.owners[at] = g.Owner
	n.holds[g.Owner] = append(n.holds[g.Owner], g)
	g.Depth = len(n.holds[g.Owner])
	return g
}

// unnest gives back the innermost hold, and forgets all of them where none is held.
func (n *nest) unnest(g *locks.Grant, release func(*locks.Grant) error) (left int, err error) {
	n.mu.Lock()
	held := n.holds[g.Owner]
	n.mu.Unlock()
	if len(held) == 0 {
		return 0, fmt.Errorf("%w: it was given back, or lost", locks.ErrNotHeld)
	}
	if err := n.refused(g.Owner, release(held[len(held)-1])); err != nil {
		return len(held), err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.holds[g.Owner] = held[:len(held)-1]
	return len(held) - 1, nil
}

// refused takes the error of a release or an extend of an owner: what is not held any more is held by none of its holds.
func (n *nest) refused(owner string, err error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case errors.Is(err, locks.ErrNotHeld):
		n.forget(owner)
	case err != nil && n.unsure != nil:
		n.unsure[owner] = true
	}
	return err
}

// forget forgets the holds of an owner. n.mu is held.
func (n *nest) forget(owner string) {
	delete(n.holds, owner)
	delete(n.unsure, owner)
}

// lost forgets the holds of an owner; "": of all.
func (n *nest) lost(owner string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if owner == "" {
		clear(n.holds)
		clear(n.unsure)
	}
	n.forget(owner)
}

// AcquireBy implements locks.Reenterer. An adapter that does not offer reentrant is not
// asked for it.
func (s *Session) AcquireBy(ctx context.Context, key, thread string) (*locks.Grant, error) {
	if !s.Offers(OfferReentrant) {
		return nil, s.lacks(OfferReentrant)
	}
	g, err := s.Take(ctx, Ask{Key: key, Thread: thread})
	if err != nil {
		return nil, err
	}
	return s.nested(g, thread), nil
}

// ReleaseBy implements locks.Reenterer.
func (s *Session) ReleaseBy(ctx context.Context, g *locks.Grant) (left int, err error) {
	return s.unnest(g, func(inner *locks.Grant) error { return s.Release(ctx, inner) })
}
