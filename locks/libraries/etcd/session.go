// Package etcd holds the adapters of the recipes of etcd's client: concurrency.Mutex and
// Election on one Session a client, and the RWMutex of its experimental recipes.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// client has one session at a time, as its users have; one that is lost is followed by
// the next.
type client struct {
	cfg  adapter.Config
	db   *clientv3.Client
	tell adapter.Tell

	mu      sync.Mutex
	session *concurrency.Session
	closing bool
}

func dial(c adapter.Config, tell adapter.Tell) (*client, error) {
	if c.Lease%time.Second != 0 {
		return nil, fmt.Errorf("%w: leases are whole seconds here", adapter.ErrConfig)
	}
	db, err := clientv3.New(clientv3.Config{Endpoints: c.Endpoints, DialTimeout: 5 * time.Second})
	return &client{cfg: c, db: db, tell: tell}, err
}

// begin opens a session. NewSession knows no limit of its own.
func (c *client) begin(ctx context.Context) (*concurrency.Session, error) {
	seconds := int64(c.cfg.Lease / time.Second)
	lease, err := c.db.Grant(ctx, seconds)
	if err != nil {
		return nil, err
	}
	if lease.TTL != seconds {
		return nil, fmt.Errorf("%w: etcd grants a lease of %d s, asked for %v", adapter.ErrConfig, lease.TTL, c.cfg.Lease)
	}
	return concurrency.NewSession(c.db, concurrency.WithTTL(int(seconds)), concurrency.WithLease(lease.ID))
}

// current is the session, a new one where the last is lost.
func (c *client) current(ctx context.Context) (*concurrency.Session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != nil && alive(c.session) {
		return c.session, nil
	}
	s, err := c.begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: no session: %w", adapter.ErrNotGranted, err)
	}
	c.session = s
	go c.watch(s)
	return s, nil
}

func alive(s *concurrency.Session) bool {
	select {
	case <-s.Done():
		return false
	default:
		return true
	}
}

// watch tells of the end of a session, which takes all its grants with it.
func (c *client) watch(s *concurrency.Session) {
	<-s.Done()
	c.mu.Lock()
	closing := c.closing
	c.mu.Unlock()
	if !closing {
		c.tell("lost", nil, "Session.Done: the lease is lost")
	}
}

// Close revokes the lease of the session.
func (c *client) Close() error {
	c.mu.Lock()
	c.closing = true
	s := c.session
	c.mu.Unlock()
	var err error
	if s != nil {
		err = s.Close()
	}
	return errors.Join(err, c.db.Close())
}
