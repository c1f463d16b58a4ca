package libraries

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

var etcdConcurrency = Library{
	Module: "go.etcd.io/etcd/client/v3",
	About: "etcd's concurrency.Mutex on one Session a client, which renews its lease by itself and tells by Done() when it is lost; " +
		"Unlock succeeds on a lock that is gone; the token is the create revision of its key, as IsOwner has it",
	On: []locks.Lock{{Open: openEtcdConcurrency, Renews: true, Promise: history.Promise{
		Backend: "etcd", Leased: true, Token: true, Session: true, Tries: true, Order: true, Validity: history.Untold,
	}}},
}

// etcdClient has one session at a time, as its users have; one that is lost is
// followed by the next.
type etcdClient struct {
	locks.Queue
	cfg     locks.Config
	db      *clientv3.Client
	mu      sync.Mutex
	session *concurrency.Session
	closing bool
}

func openEtcdConcurrency(ctx context.Context, c locks.Config) (locks.Client, error) {
	db, err := clientv3.New(clientv3.Config{Endpoints: c.Endpoints, DialTimeout: c.Lease, Logger: zap.NewNop()})
	if err != nil {
		return nil, err
	}
	l := &etcdClient{Queue: locks.NewQueue(), cfg: c, db: db}
	if _, err := l.open(ctx); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// open is the session, a new one where the last is lost.
func (c *etcdClient) open(ctx context.Context) (*concurrency.Session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != nil {
		select {
		case <-c.session.Done():
		default:
			return c.session, nil
		}
	}
	granted, err := c.db.Grant(ctx, int64(c.cfg.Lease/time.Second)) // NewSession knows no limit of its own
	if err != nil {
		return nil, err
	}
	if got := time.Duration(granted.TTL) * time.Second; got != c.cfg.Lease {
		return nil, fmt.Errorf("%w: etcd grants a lease of %v, asked for %v", locks.ErrConfig, got, c.cfg.Lease)
	}
	s, err := concurrency.NewSession(c.db, concurrency.WithTTL(int(c.cfg.Lease/time.Second)), concurrency.WithLease(granted.ID))
	if err != nil {
		return nil, err
	}
	c.session = s
	go c.watch(s)
	return s, nil
}

// watch tells of the end of a session, which takes all its grants with it.
func (c *etcdClient) watch(s *concurrency.Session) {
	<-s.Done()
	c.mu.Lock()
	closing := c.closing
	c.mu.Unlock()
	if !closing {
		c.Tell(locks.Lost, "", "Session.Done: the lease is lost")
	}
}

// Acquire implements locks.Client.
func (c *etcdClient) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	return c.lock(ctx, key, (*concurrency.Mutex).Lock)
}

// Try implements locks.Trier.
func (c *etcdClient) Try(ctx context.Context, key string) (*locks.Grant, error) {
	return c.lock(ctx, key, (*concurrency.Mutex).TryLock)
}

func (c *etcdClient) lock(ctx context.Context, key string, take func(*concurrency.Mutex, context.Context) error) (*locks.Grant, error) {
	s, err := c.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: no session: %w", locks.ErrNotGranted, err)
	}
	sent := history.Now()
	m := concurrency.NewMutex(s, "dlmtest/concurrency/"+key)
	if err := take(m, ctx); err != nil {
		return nil, etcdRefused(m, err)
	}
	rev := etcdRevision(m)
	return &locks.Grant{Key: key, Owner: fmt.Sprintf("%s/%x/%d", c.cfg.Client, s.Lease(), rev), Token: rev, Sent: sent, Lease: c.cfg.Lease, State: m}, nil
}

// etcdRefused says what is certain: the key of this attempt was deleted, or the session
// that it hung on is gone. Else it may still stand in the queue, and nobody waits for it.
func etcdRefused(m *concurrency.Mutex, err error) error {
	if errors.Is(err, concurrency.ErrLocked) || errors.Is(err, concurrency.ErrSessionExpired) || m.Key() == "\x00" {
		return fmt.Errorf("%w: %w", locks.ErrNotGranted, err)
	}
	return err
}

// etcdRevision is the create revision that the mutex compares for its owner.
func etcdRevision(m *concurrency.Mutex) int64 {
	cmp := m.IsOwner()
	return cmp.GetCompare().GetCreateRevision()
}

// Release implements locks.Client.
func (c *etcdClient) Release(ctx context.Context, g *locks.Grant) error {
	err := g.State.(*concurrency.Mutex).Unlock(ctx)
	if errors.Is(err, concurrency.ErrLockReleased) {
		return fmt.Errorf("%w: %w", locks.ErrNotHeld, err)
	}
	return err
}

// Close implements locks.Client.
func (c *etcdClient) Close() error {
	c.mu.Lock()
	c.closing = true
	s := c.session
	c.mu.Unlock()
	var err error
	if s != nil {
		err = s.Close() // revokes the lease
	}
	c.End()
	return errors.Join(err, c.db.Close())
}
