package locks

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync/atomic"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// serviceLock drives a lock service by its API: the contract in docs/lock-service.md,
// whoever implements it. It knows nothing of the service but its answers.
type serviceLock struct {
	name   string
	cfg    Config
	remote remote
	eye    remote // Holder's own connections
	owners owners
	delay  *jitter
	held   holdings
	node   atomic.Int64 // of the endpoints, the one that is asked
}

// remote is one way of talking to a lock service. at is the endpoint to ask. An error
// that matches errDefinite certainly left everything as it was; so does ErrNotHeld.
type remote interface {
	acquire(ctx context.Context, at int, q serviceRequest) (serviceAnswer, error)
	renew(ctx context.Context, at int, q serviceRequest) (serviceAnswer, error)
	release(ctx context.Context, at int, q serviceRequest) error
	info(ctx context.Context, at int, key string) (Holder, error) // no owner: free
	close() error
}

// serviceRequest is one call. Client is the owner of the grant: the contract takes
// whoever asks with the name of the holder for the holder.
type serviceRequest struct {
	key, client  string
	lease, block time.Duration
	token        int64
}

// serviceAnswer is a grant as the service tells it. Its clock's word on the end of the
// lease is not here: no clock of another machine can carry a claim, see claim.
type serviceAnswer struct {
	token int64
	lease time.Duration // 0: it does not say
}

// errDefinite says that a request was refused before it had any effect, or without one.
var errDefinite = errors.New("refused")

func newServiceLock(name string, c Config, make func() (remote, error)) (Client, error) {
	if len(c.Endpoints) == 0 {
		return nil, fmt.Errorf("%w: locks: %s: no endpoint", ErrConfig, name)
	}
	l := &serviceLock{
		name: name, cfg: c, owners: owners{client: c.Client},
		delay: newJitter(c, 20*time.Millisecond, 100*time.Millisecond),
	}
	var err error
	if l.remote, err = make(); err != nil {
		return nil, err
	}
	if l.eye, err = make(); err != nil {
		return nil, errors.Join(err, l.remote.close())
	}
	h := fnv.New32a()
	h.Write([]byte(c.Client)) // the clients of a run are spread over the nodes
	l.node.Store(int64(h.Sum32()))
	return l, nil
}

// patience is how long one node may take to answer, beyond the time that it was asked to wait.
func (l *serviceLock) patience() time.Duration { return l.cfg.Lease / 2 }

// at is the endpoint to ask now, and next leaves it for another.
func (l *serviceLock) at() int { return int(l.node.Load() % int64(len(l.cfg.Endpoints))) }

func (l *serviceLock) next(from int) {
	if l.at() == from {
		l.node.Add(1)
	}
}

// Acquire implements Client. Each attempt may wait at the service for half a lease.
func (l *serviceLock) Acquire(ctx context.Context, key string) (*Grant, error) {
	return poll(ctx, l.delay, func() (*Grant, error) {
		block := l.cfg.Lease / 2
		if until, ok := ctx.Deadline(); ok {
			block = min(block, max(time.Until(until), 0))
		}
		return l.attempt(ctx, key, block)
	})
}

// Try implements Trier.
func (l *serviceLock) Try(ctx context.Context, key string) (*Grant, error) {
	return l.attempt(ctx, key, 0)
}

// Release implements Client, asking each node once until one answers.
func (l *serviceLock) Release(ctx context.Context, g *Grant) error {
	l.held.drop(g.Owner)
	_, err := l.each(ctx, func(ctx context.Context, at int) (serviceAnswer, error) {
		return serviceAnswer{}, l.remote.release(ctx, at, serviceRequest{key: g.Key, client: g.Owner, token: g.Token})
	})
	return err
}

// Extend implements Extender.
func (l *serviceLock) Extend(ctx context.Context, g *Grant) (*Grant, error) {
	var sent history.Stamp
	a, err := l.each(ctx, func(ctx context.Context, at int) (serviceAnswer, error) {
		sent = history.Now()
		return l.remote.renew(ctx, at, serviceRequest{key: g.Key, client: g.Owner, token: g.Token, lease: g.Lease})
	})
	if err == nil && a.token != 0 && a.token != g.Token {
		err = fmt.Errorf("the service renewed with token %d what it had granted with %d", a.token, g.Token)
	}
	if err = errors.Join(err, l.agreed(a)); err != nil {
		return nil, err
	}
	return renewed(g, sent, sent.Mono+int64(g.Lease)), nil
}

// Holder implements Inspector.
func (l *serviceLock) Holder(ctx context.Context, key string) (Holder, error) {
	return l.eye.info(ctx, l.at(), key)
}

// Close implements Client.
func (l *serviceLock) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanup)
	defer cancel()
	for _, g := range l.held.all() {
		_ = l.remote.release(ctx, l.at(), serviceRequest{key: g.Key, client: g.Owner, token: g.Token}) // at worst it ends with its lease
	}
	return errors.Join(l.remote.close(), l.eye.close())
}
