package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// quorum of n nodes.
func quorum(n int) int { return n/2 + 1 }

// ballot is what the nodes answered until a quorum was decided.
type ballot struct {
	yes  bool            // a quorum said yes
	no   bool            // so many said no that no quorum can say yes
	errs []error         // of nodes that did not answer
	done []chan struct{} // closed when the node's own request has ended
}

// ask sends one request to every node at once and returns as soon as a quorum of
// them has decided it, so one stopped node blocks nobody (redsync #80). On each
// node the request waits for the one before it: a DEL that overtakes its SET
// would leave the key behind for a lease.
func (l *redlock) ask(before *ballot, request func(context.Context, *redis.Client) (bool, error)) *ballot {
	type answer struct {
		yes bool
		err error
	}
	n := len(l.nodes)
	b := &ballot{done: make([]chan struct{}, n)}
	answers := make(chan answer, n)
	for i, db := range l.nodes {
		done := make(chan struct{})
		b.done[i] = done
		l.behind.Add(1)
		go func() {
			defer l.behind.Done()
			defer close(done)
			if before != nil {
				<-before.done[i]
			}
			ctx, cancel := context.WithTimeout(context.Background(), l.node)
			defer cancel()
			yes, err := request(ctx, db)
			answers <- answer{yes, err}
		}()
	}
	need := cmp.Or(l.enough, quorum(n))
	yes, no := 0, 0
	for range n {
		switch a := <-answers; {
		case a.err != nil:
			b.errs = append(b.errs, a.err)
		case a.yes:
			yes++
		default:
			no++
		}
		b.yes, b.no = yes >= need, no > n-need
		if b.yes || b.no {
			break
		}
	}
	return b
}

func (b *ballot) why(otherwise error) error {
	if b.no || len(b.errs) == 0 {
		return otherwise
	}
	return fmt.Errorf("no quorum: %w", errors.Join(b.errs...))
}

// verdict of a release or an extension: nil by quorum, ErrNotHeld when no quorum
// can hold it, and open when too few answered.
func (b *ballot) verdict(key, what string) error {
	switch {
	case b.yes:
		return nil
	case b.no:
		return ErrNotHeld
	}
	return fmt.Errorf("locks: redlock: %s of %s: %w", what, key, b.why(errors.New("the nodes disagree")))
}

// Holder implements Inspector: the owner that a quorum of nodes stores.
func (l *redlock) Holder(ctx context.Context, key string) (Holder, error) {
	type answer struct {
		h   Holder
		err error
	}
	answers := make(chan answer, len(l.eyes))
	for _, db := range l.eyes {
		go func() {
			one, cancel := context.WithTimeout(ctx, l.node)
			defer cancel()
			h, err := readHolder(one, db, key)
			answers <- answer{h, err}
		}()
	}
	left := map[string][]time.Duration{}
	var errs []error
	for range l.eyes {
		a := <-answers
		if a.err != nil {
			errs = append(errs, a.err)
			continue
		}
		left[a.h.Owner] = append(left[a.h.Owner], a.h.Left)
	}
	return countHolder(left, len(l.eyes), errs)
}

// countHolder names the owner on a quorum of n nodes; it holds for as long as the
// quorum's shortest-lived member does. Nodes that did not answer could still make
// a quorum for somebody: then it cannot be told.
func countHolder(left map[string][]time.Duration, n int, errs []error) (Holder, error) {
	most := 0
	for owner, l := range left {
		if owner == "" {
			continue
		}
		most = max(most, len(l))
		if len(l) >= quorum(n) {
			slices.SortFunc(l, func(a, b time.Duration) int { return int(b - a) })
			return Holder{Owner: owner, Left: l[quorum(n)-1]}, nil
		}
	}
	if most+len(errs) >= quorum(n) {
		return Holder{}, fmt.Errorf("locks: redlock: too few nodes answered: %w", errors.Join(errs...))
	}
	return Holder{}, nil
}
