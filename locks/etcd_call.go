package locks

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

func dialEtcd(c Config) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{
		Endpoints: c.Endpoints, Logger: zap.NewNop(), DialTimeout: c.Lease,
		// A stopped or cut member answers nothing: the link's own pings notice it
		// within a lease, and the next request goes to another member.
		DialKeepAliveTime: c.Lease / 2, DialKeepAliveTimeout: c.Lease / 4,
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(requireLeader)},
	})
}

// requireLeader has a member that knows no leader refuse a request at once, and asks
// the next one. The refusal comes before anything is done, so a write may be sent
// again; etcd's client does that for leases and never for a Txn. Giving the lease
// back and starting anew is no way out: lease, Txn and revoke are three requests,
// and of three members in turn the cut-off one gets the same request each time.
func requireLeader(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	ctx = clientv3.WithRequireLeader(ctx)
	for {
		err := call(ctx, method, req, reply, cc, opts...)
		if !errors.Is(rpctypes.Error(err), rpctypes.ErrNoLeader) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond): // nobody may lead for a second
		}
	}
}

// patience is how long one try of a request may take. A member that was cut off a
// moment ago does not know it and keeps what it is asked for 7 s.
func (l *etcdLock) patience() time.Duration { return l.cfg.Lease / 4 }

var errEnded = errors.New("the lease has ended; an unanswered request of ours may have done it")

// revoke ends a lease, asking again after a try without an answer: to end a lease
// twice does no harm. That it is gone then is no news of who ended it: errEnded.
func (l *etcdLock) revoke(ctx context.Context, lease clientv3.LeaseID) error {
	for open := false; ; open = true {
		try, cancel := context.WithTimeout(ctx, l.patience())
		_, err := l.db.Revoke(try, lease)
		late := try.Err() != nil && ctx.Err() == nil
		cancel()
		if open && errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return errEnded
		}
		if err == nil || !late {
			return err
		}
	}
}

// tidy goes on revoking the lease of an attempt that ended in doubt: its key may
// stand in the queue, and a new leader would let it stand a lease longer.
func (l *etcdLock) tidy(lease clientv3.LeaseID) {
	ctx, cancel := context.WithTimeout(l.life, 2*l.cfg.Lease)
	defer cancel()
	_ = l.revoke(ctx, lease) // at worst it ends by itself
}
