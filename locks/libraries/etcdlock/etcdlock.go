//go:build ignore

package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

func init() { Adapter.Open = open } // the table of libraries has the adapter without it

type session struct {
	etcd  *clientv3.Client
	lock  v3lockpb.LockClient
	lease time.Duration
}

// held is a lock's key and its lease.
type held struct {
	key   []byte
	lease clientv3.LeaseID
}

func open(ctx context.Context, c adapter.Config, _ adapter.Tell) (adapter.Session, error) {
	if c.Lease%time.Second != 0 {
		return nil, fmt.Errorf("%w: leases are whole seconds here", adapter.ErrConfig)
	}
	etcd, err := clientv3.New(clientv3.Config{Endpoints: c.Endpoints, DialTimeout: 5 * time.Second})
	if err != nil {
		return nil, err
	}
	return &session{etcd, v3lockpb.NewLockClient(etcd.ActiveConnection()), c.Lease}, nil
}

// Acquire takes a lease and has the server wait. The lease is not renewed meanwhile: it
// may end before the lock is had.
func (s *session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	lease, err := s.etcd.Grant(ctx, int64(s.lease/time.Second))
	if err != nil {
		return nil, fmt.Errorf("%w: no lease: %w", adapter.ErrNotGranted, err)
	}
	got, err := s.lock.Lock(ctx, &v3lockpb.LockRequest{Name: []byte(a.Key), Lease: int64(lease.ID)})
	if err != nil {
		return nil, s.giveUp(lease.ID, err)
	}
	return &adapter.Grant{Token: got.Header.Revision, State: &held{got.Key, lease.ID}}, nil
}

// giveUp revokes the lease, and with it the place in the queue.
func (s *session) giveUp(id clientv3.LeaseID, err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.lease)
	defer cancel()
	if _, e := s.etcd.Revoke(ctx, id); e != nil && !errors.Is(e, rpctypes.ErrLeaseNotFound) {
		return errors.Join(err, e)
	}
	return fmt.Errorf("%w: %w", adapter.ErrNotGranted, err)
}

func (s *session) Extend(ctx context.Context, g *adapter.Grant) error {
	_, err := s.etcd.KeepAliveOnce(ctx, g.State.(*held).lease)
	if err != nil && errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return fmt.Errorf("%w: %w", adapter.ErrNotHeld, err)
	}
	return err
}

func (s *session) Release(ctx context.Context, g *adapter.Grant) error {
	h := g.State.(*held)
	if _, err := s.lock.Unlock(ctx, &v3lockpb.UnlockRequest{Key: h.key}); err != nil {
		return err
	}
	_, err := s.etcd.Revoke(ctx, h.lease)
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return fmt.Errorf("%w: %w", adapter.ErrNotHeld, err) // Unlock says yes to a key that is gone
	}
	return err
}

func (s *session) Close() error { return s.etcd.Close() }
