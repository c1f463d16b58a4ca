package service

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
)

// patience is how long one member may take before the next is asked the same. It is
// asked only for what may be done twice.
const patience = 500 * time.Millisecond

// askAnother passes by a member that knows no leader: it has done nothing.
func askAnother(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	ctx = clientv3.WithRequireLeader(ctx)
	for {
		err := call(ctx, method, req, reply, cc, opts...)
		if !errors.Is(rpctypes.Error(err), rpctypes.ErrNoLeader) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ask repeats what may be done twice until it is answered, or ctx ends, or Limit is reached.
func (s *Server) ask(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.Limit)
	defer cancel()
	for {
		try, stop := context.WithTimeout(ctx, patience)
		err := do(try)
		late := try.Err() != nil
		stop()
		if err == nil || ctx.Err() != nil || !late && !retriable(err) {
			return err
		}
		if !late {
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
}

// retriable are the errors of a cluster in trouble, not of the request.
func retriable(err error) bool {
	var p *problem
	return !errors.As(err, &p) && !errors.Is(err, errGone) && !errors.Is(err, rpctypes.ErrLeaseNotFound)
}

// lease is one of etcd, and from when on it runs at the least.
type lease struct {
	id   clientv3.LeaseID
	from time.Time
}

// newLease asks for the lease of a place. One that nobody heard of ends by itself.
func (s *Server) newLease(ctx context.Context, length time.Duration) (l lease, err error) {
	err = s.ask(ctx, func(ctx context.Context) error {
		sent := time.Now()
		r, err := s.db.Grant(ctx, int64(length/time.Second))
		if err != nil {
			return err
		}
		l = lease{r.ID, sent}
		if got := time.Duration(r.TTL) * time.Second; got != length {
			s.revoke(r.ID)
			return problemf(unsupported, "etcd grants no lease of %v, but %v; ask for that, or set its election timeout lower", length, got)
		}
		return nil
	})
	return l, err
}

// keepAlive renews a lease, and says from when on it runs at the least.
func (s *Server) keepAlive(ctx context.Context, id clientv3.LeaseID) (from time.Time, err error) {
	err = s.ask(ctx, func(ctx context.Context) error {
		from = time.Now()
		_, err := s.db.KeepAliveOnce(ctx, id)
		return err
	})
	return from, err
}

// revoke ends a lease that nobody needs any more; at worst it ends by itself.
func (s *Server) revoke(id clientv3.LeaseID) {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.config.Limit)
		defer cancel()
		_, _ = s.db.Revoke(ctx, id)
	}()
}
