package locks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/dlmtest/dlmtest/history"
)

// etcdPlace is one client's place in the queue of a key.
type etcdPlace struct {
	owner, key, prefix string
	lease              clientv3.LeaseID
	length             time.Duration
	revision           int64         // create revision of key: its rank, and the token
	of                 int           // permits that the queue shares; 0: it is none of a semaphore
	before             string        // what is in our way: the key just before ours, or of a semaphore the prefix; "": nothing
	seen               int64         // revision of the store at which before was there
	proof              history.Stamp // sent moment of the request that showed before
	renewed            history.Stamp // sent moment of the last answered renewal, when proof was sent

	life context.Context // ends with Release or Close
	stop context.CancelFunc
	once sync.Once // loss is told once

	mu     sync.Mutex
	latest history.Stamp // sent moment of the last answered renewal
}

// lost tells of the loss, unless the grant was given back before.
func (p *etcdPlace) lost(to *events, why string) {
	if p.life.Err() == nil {
		p.once.Do(func() { to.tell(Lost, p.owner, why) })
	}
}

// valid is how long the claim of p lasts.
func (p *etcdPlace) valid() time.Duration {
	return time.Duration(p.renewed.Mono + int64(p.length) - history.Mono())
}

// answered records a renewal; they may be answered out of order.
func (p *etcdPlace) answered(sent history.Stamp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sent.Mono > p.latest.Mono {
		p.latest = sent
	}
}

func (p *etcdPlace) last() history.Stamp {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.latest
}

// lease asks for the lease of a new place. One that we gave up waiting for holds
// no key and ends by itself.
func (l *etcdLock) lease(ctx context.Context, key string) (*etcdPlace, error) {
	sent := history.Now()
	req, cancel := context.WithTimeout(ctx, l.patience())
	defer cancel()
	r, err := l.db.Grant(req, int64(l.cfg.Lease/time.Second))
	if err != nil {
		return nil, err
	}
	if got := time.Duration(r.TTL) * time.Second; got != l.cfg.Lease {
		_, _ = l.db.Revoke(ctx, r.ID)
		return nil, fmt.Errorf("%w: etcd granted %v instead of %v; ask for %v, or set its election timeout lower", ErrConfig, got, l.cfg.Lease, got)
	}
	p := &etcdPlace{
		owner: l.owners.next(), prefix: etcdPrefix(key), lease: r.ID, length: l.cfg.Lease, latest: sent,
	}
	p.life, p.stop = context.WithCancel(l.life)
	return p, nil
}

// enqueue puts the key under the lease and looks who is first. A try that is not
// answered in time goes to the next member: whichever comes first puts the key. To
// start anew would be lease, Txn and revoke, three requests, and of three members in
// turn a stopped one would get each Txn.
func (l *etcdLock) enqueue(ctx context.Context, p *etcdPlace) error {
	for {
		late, err := l.putOnce(ctx, p)
		if !late || ctx.Err() != nil || p.valid() <= 0 {
			return err
		}
	}
}

// putOnce is one try of enqueue; late says that it was not answered in time.
func (l *etcdLock) putOnce(ctx context.Context, p *etcdPlace) (late bool, err error) {
	p.proof, p.renewed = history.Now(), p.last()
	req, cancel := inFlight(ctx, l.patience())
	defer cancel()
	r, err := l.db.Txn(req).
		If(clientv3.Compare(clientv3.CreateRevision(p.key), "=", 0)).
		Then(clientv3.OpPut(p.key, p.owner, clientv3.WithLease(p.lease)),
			clientv3.OpGet(p.prefix, clientv3.WithFirstCreate()...)).
		Else(clientv3.OpGet(p.key)).
		Commit()
	if err != nil {
		return req.Err() != nil, err
	}
	if !r.Succeeded { // an earlier try has put it
		p.revision = r.Responses[0].GetResponseRange().Kvs[0].CreateRevision
		return false, l.look(ctx, p)
	}
	p.revision = r.Header.Revision
	// The get sees our own put. Are we first, this very request is the proof.
	first := r.Responses[1].GetResponseRange().Kvs
	if len(first) == 1 && first[0].CreateRevision == p.revision {
		return false, nil
	}
	return false, l.look(ctx, p)
}

// look reads, at one revision, our own key and what is in our way. Without
// anything, it is the proof of the grant: a key that is gone, or that another
// lease owns, holds nothing (etcd #11456: a waiter whose lease had ended was granted).
func (l *etcdLock) look(ctx context.Context, p *etcdPlace) error {
	p.proof, p.renewed = history.Now(), p.last()
	req, cancel := inFlight(ctx, l.patience())
	defer cancel()
	r, err := l.db.Txn(req).Then(clientv3.OpGet(p.key), clientv3.OpGet(p.prefix, p.older()...)).Commit()
	if err != nil {
		return err
	}
	own, older := r.Responses[0].GetResponseRange().Kvs, r.Responses[1].GetResponseRange().Kvs
	if len(own) == 0 || own[0].CreateRevision != p.revision || clientv3.LeaseID(own[0].Lease) != p.lease {
		return refused(errors.New("the lease ended while waiting"))
	}
	p.before, p.seen = p.inTheWay(older), r.Header.Revision
	return nil
}

// older asks for the key just before ours, and of a semaphore for all and our own.
func (p *etcdPlace) older() []clientv3.OpOption {
	if p.of > 0 {
		return []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithMaxCreateRev(p.revision)}
	}
	return append(clientv3.WithLastCreate(), clientv3.WithMaxCreateRev(p.revision-1))
}

func (p *etcdPlace) inTheWay(older []*mvccpb.KeyValue) string {
	switch {
	case p.of > 0 && etcdTaken(older) > p.of:
		return p.prefix // any of them may go first
	case p.of == 0 && len(older) > 0:
		return string(older[0].Key)
	}
	return ""
}

// wait stands in the queue, keeping its lease alive, until nobody is before it.
func (l *etcdLock) wait(ctx context.Context, p *etcdPlace) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { cancel(l.renew(ctx, p)) })
	defer renewing.Wait()
	defer cancel(nil)
	for p.before != "" {
		watched := l.awaitDelete(ctx, p)
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		// Whatever ended the watch, only a look tells; without an answer we stand
		// where we stood. A look that a stopped member does not answer goes to the next
		// at once: were it to wait for the watch and the renewal between, of three
		// members in turn the stopped one would get each look.
		look := l.look(ctx, p)
		for errors.Is(look, context.DeadlineExceeded) && ctx.Err() == nil {
			look = l.look(ctx, p)
		}
		err := errors.Join(watched, look)
		if errors.Is(err, ErrNotGranted) {
			return err
		}
		if err != nil && p.before != "" {
			select {
			case <-ctx.Done():
			case <-time.After(l.delay.next()):
			}
		}
	}
	return nil
}

// renew keeps the lease of a waiter alive until ctx ends or the lease does.
func (l *etcdLock) renew(ctx context.Context, p *etcdPlace) error {
	tick := time.NewTicker(l.cfg.Lease / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		one, cancel := context.WithTimeout(ctx, l.cfg.Lease/4)
		err := l.keepAlive(one, p)
		cancel()
		if errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return refused(err)
		}
	}
}

// keepAlive renews once; the claim counts from before the request left.
func (l *etcdLock) keepAlive(ctx context.Context, p *etcdPlace) error {
	sent := history.Now()
	r, err := l.db.KeepAliveOnce(ctx, p.lease)
	if err != nil {
		return err
	}
	if got := time.Duration(r.TTL) * time.Second; got != l.cfg.Lease {
		return fmt.Errorf("locks: etcd renewed for %v instead of %v", got, l.cfg.Lease)
	}
	p.answered(sent)
	return nil
}

// awaitDelete returns when what is in our way is gone, or a key of it, or a quarter of a lease has
// passed: a member that was cut off tells nothing, and ends its watches only after
// three election timeouts and more.
func (l *etcdLock) awaitDelete(ctx context.Context, p *etcdPlace) error {
	ctx, cancel := context.WithTimeout(clientv3.WithRequireLeader(ctx), l.cfg.Lease/4)
	defer cancel()
	var all []clientv3.OpOption
	if p.of > 0 {
		all = append(all, clientv3.WithPrefix())
	}
	err := awaitDelete(ctx, l.db, p.before, p.seen+1, all...)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func awaitDelete(ctx context.Context, db *clientv3.Client, key string, from int64, more ...clientv3.OpOption) error {
	for w := range db.Watch(ctx, key, append(more, clientv3.WithRev(from), clientv3.WithFilterPut())...) {
		if err := w.Err(); err != nil {
			return err
		}
		if len(w.Events) > 0 {
			return nil
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.New("locks: etcd: the watch ended")
}

// watchLoss tells of a key that vanished without our release: its lease ended, or
// somebody revoked it.
func (l *etcdLock) watchLoss(p *etcdPlace) {
	from := p.revision + 1
	for p.life.Err() == nil {
		gone := awaitDelete(p.life, l.db, p.key, from) == nil
		if !gone { // the watch broke, by a cut or a compaction: look, and watch from there
			r, err := l.db.Get(p.life, p.key)
			gone = err == nil && len(r.Kvs) == 0
			if err == nil {
				from = r.Header.Revision + 1
			}
		}
		if gone {
			p.lost(l.events, "its key is gone")
			return
		}
		select {
		case <-p.life.Done():
		case <-time.After(l.cfg.Lease / 4):
		}
	}
}
