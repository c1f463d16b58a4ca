package locks

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/dlmtest/dlmtest/history"
)

// openQuorumTwo opens a Redlock that takes two nodes for a quorum, of however many.
func openQuorumTwo(ctx context.Context, c Config) (Client, error) {
	l, err := OpenRedlock(ctx, c)
	if err != nil {
		return nil, err
	}
	l.(*redlock).enough = 2
	return l, nil
}

// openLeasePut opens an etcd lock that has no queue: all put the same key.
func openLeasePut(ctx context.Context, c Config) (Client, error) {
	l, err := openEtcdLock(ctx, c)
	if err != nil {
		return nil, err
	}
	l.enter = l.put
	return l, nil
}

// put writes the key under the lease, whoever wrote it before.
func (l *etcdLock) put(ctx context.Context, p *etcdPlace) error {
	p.key, p.proof, p.renewed = p.prefix+"holder", history.Now(), p.last()
	req, cancel := inFlight(ctx, l.cfg.Lease)
	defer cancel()
	r, err := l.db.Put(req, p.key, p.owner, clientv3.WithLease(p.lease))
	if err == nil {
		p.revision = r.Header.Revision
	}
	return err
}
