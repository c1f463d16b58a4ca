package locks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/dlmtest/dlmtest/history"
)

// etcdLock queues by create revision, as concurrency.Mutex does, but with a lease
// of its own for every grant: revoking it removes the key whatever became of the
// put (a put that arrives later finds no lease), so a lost answer is settled by
// one request, and losing one lease loses one grant.
type etcdLock struct {
	*events
	cfg Config
	// enter takes a place in the queue.
	enter   func(context.Context, *etcdPlace) error
	db, eye *clientv3.Client // eye is Holder's own connection
	owners  owners
	delay   *jitter
	held    holdings
	life    context.Context // ends with Close
	end     context.CancelFunc
}

// OpenEtcd opens a session with the cluster at the endpoints.
func OpenEtcd(ctx context.Context, c Config) (Client, error) {
	l, err := openEtcdLock(ctx, c)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func openEtcdLock(ctx context.Context, c Config) (*etcdLock, error) {
	if err := checkEtcdLease(c.Lease); err != nil {
		return nil, err
	}
	db, err := dialEtcd(c)
	if err != nil {
		return nil, err
	}
	eye, err := dialEtcd(c)
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	l := &etcdLock{
		events: newEvents(), cfg: c, db: db, eye: eye, owners: owners{client: c.Client},
		delay: newJitter(c, 20*time.Millisecond, 100*time.Millisecond),
	}
	l.enter = l.enqueue
	l.life, l.end = context.WithCancel(context.Background())
	if _, err := db.Get(ctx, etcdRoot); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("locks: etcd at %v does not answer: %w", c.Endpoints, err)
	}
	return l, nil
}

func checkEtcdLease(lease time.Duration) error {
	if want := wholeSeconds(lease); lease != want {
		return fmt.Errorf("%w: etcd grants whole seconds; ask for %v, not %v", ErrConfig, want, lease)
	}
	return nil
}

func wholeSeconds(d time.Duration) time.Duration {
	return max(time.Second, (d + time.Second - 1).Truncate(time.Second))
}

const etcdRoot = "dlmtest/locks/"

func etcdPrefix(key string) string { return etcdRoot + url.PathEscape(key) + "/" }

// Acquire implements Client. It stands in the queue until ctx ends; what certainly
// took nothing, such as an election in progress, is asked again.
func (l *etcdLock) Acquire(ctx context.Context, key string) (*Grant, error) {
	return poll(ctx, l.delay, func() (*Grant, error) { return l.attempt(ctx, key, etcdAlone, l.wait) })
}

// Try implements Trier.
func (l *etcdLock) Try(ctx context.Context, key string) (*Grant, error) {
	return l.attempt(ctx, key, etcdAlone, func(context.Context, *etcdPlace) error { return refused(ErrHeld) })
}

func (l *etcdLock) attempt(ctx context.Context, key string, how etcdKind, wait func(context.Context, *etcdPlace) error) (*Grant, error) {
	p, err := l.lease(ctx, key)
	if err != nil {
		return nil, refused(err) // a lease without a key locks nothing
	}
	how.take(p)
	err = l.enter(ctx, p)
	if err == nil && p.before != "" {
		err = wait(ctx, p)
	}
	if err == nil && p.valid() <= 0 {
		err = errStale
	}
	if err != nil {
		return nil, l.giveUp(ctx, p, err)
	}
	g := &Grant{
		Key: key, Owner: p.owner, Token: p.revision, Sent: p.proof, Lease: l.cfg.Lease,
		Deadline: p.renewed.Mono + int64(l.cfg.Lease), State: p,
	}
	l.held.add(g)
	go l.watchLoss(p)
	return g, nil
}

// giveUp leaves the queue. Only a confirmed revoke makes the refusal certain.
func (l *etcdLock) giveUp(ctx context.Context, p *etcdPlace, why error) error {
	p.stop()
	req, cancel := inFlight(ctx, cleanup)
	defer cancel()
	err := l.revoke(req, p.lease)
	if err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) && !errors.Is(err, errEnded) {
		go l.tidy(p.lease)
		return fmt.Errorf("locks: etcd: %w, and revoking the lease failed: %w", withoutRefusal(why), err)
	}
	if errors.Is(why, ErrNotGranted) {
		return why
	}
	return refused(why)
}

// withoutRefusal hides that an error matches ErrNotGranted, which is no longer sure.
func withoutRefusal(err error) error { return errors.New(err.Error()) }

// Release implements Client.
func (l *etcdLock) Release(ctx context.Context, g *Grant) error {
	p := g.State.(*etcdPlace)
	p.stop()
	l.held.drop(g.Owner)
	err := l.revoke(ctx, p.lease)
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return ErrNotHeld
	}
	return err
}

// Extend implements Extender by KeepAliveOnce with a send time of its own:
// concurrency.Session counts from receipt, which claims too much. A try that is not
// answered in time goes to the next member, with a send time of its own.
func (l *etcdLock) Extend(ctx context.Context, g *Grant) (*Grant, error) {
	p := g.State.(*etcdPlace)
	for {
		sent := history.Now()
		try, cancel := context.WithTimeout(ctx, l.patience())
		err := l.keepAlive(try, p)
		late := try.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			return renewed(g, sent, sent.Mono+int64(l.cfg.Lease)), nil
		case errors.Is(err, rpctypes.ErrLeaseNotFound):
			p.lost(l.events, "lease not found")
			return nil, ErrNotHeld
		case !late:
			return nil, err
		}
	}
}

// Holder implements Inspector: the oldest key of the queue.
func (l *etcdLock) Holder(ctx context.Context, key string) (Holder, error) {
	r, err := l.eye.Get(ctx, etcdPrefix(key), clientv3.WithFirstCreate()...)
	if err != nil || len(r.Kvs) == 0 {
		return Holder{}, err
	}
	h := Holder{Owner: string(r.Kvs[0].Value)}
	ttl, err := l.eye.TimeToLive(ctx, clientv3.LeaseID(r.Kvs[0].Lease))
	// After an election the new leader answers "for ever" until it has started the leases afresh.
	if err == nil && ttl.TTL > 0 && ttl.TTL < int64(math.MaxInt64/time.Second) {
		h.Left = time.Duration(ttl.TTL) * time.Second
	}
	return h, err
}

// Close implements Client.
func (l *etcdLock) Close() error {
	l.end()
	ctx, cancel := context.WithTimeout(context.Background(), cleanup)
	defer cancel()
	for _, g := range l.held.all() {
		_, _ = l.db.Revoke(ctx, g.State.(*etcdPlace).lease) // at worst it ends with its lease
	}
	l.events.close()
	return errors.Join(l.db.Close(), l.eye.Close())
}
