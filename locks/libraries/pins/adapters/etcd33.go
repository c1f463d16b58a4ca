//go:build ignore

// etcd's concurrency.Mutex before the client was a module of its own: a Session for each lock, whose lease the client renews; Lock
// and Unlock. Session.Done() is its word of a loss.
package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/coreos/etcd/clientv3"
	"github.com/coreos/etcd/clientv3/concurrency"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

func main() {
	adapter.Main(adapter.Adapter{Name: "etcd-concurrency", Library: versionOf("github.com/coreos/etcd"),
		Offers: []string{"lease", "renews", "wait", "events"}, Open: open})
}

type session struct {
	etcd  *clientv3.Client
	lease time.Duration
	tell  adapter.Tell
}

type held struct {
	session  *concurrency.Session
	mutex    *concurrency.Mutex
	released atomic.Bool
}

func open(_ context.Context, c adapter.Config, tell adapter.Tell) (adapter.Session, error) {
	if c.Lease%time.Second != 0 {
		return nil, fmt.Errorf("%w: leases are whole seconds here", adapter.ErrConfig)
	}
	etcd, err := clientv3.New(clientv3.Config{Endpoints: c.Endpoints, DialTimeout: 5 * time.Second})
	return &session{etcd, c.Lease, tell}, err
}

func (s *session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	own, err := concurrency.NewSession(s.etcd, concurrency.WithTTL(int(s.lease/time.Second)))
	if err != nil {
		return nil, fmt.Errorf("%w: no session: %w", adapter.ErrNotGranted, err)
	}
	h := &held{session: own, mutex: concurrency.NewMutex(own, "/"+a.Key)}
	if err := h.mutex.Lock(ctx); err != nil {
		if e := own.Close(); e != nil { // revokes the lease, and with it the place in the queue
			return nil, errors.Join(err, e)
		}
		return nil, fmt.Errorf("%w: %w", adapter.ErrNotGranted, err)
	}
	g := &adapter.Grant{State: h}
	go func() {
		<-own.Done()
		if !h.released.Load() {
			s.tell("lost", g, "its session is done")
		}
	}()
	return g, nil
}

func (s *session) Release(ctx context.Context, g *adapter.Grant) error {
	h := g.State.(*held)
	h.released.Store(true)
	if err := h.mutex.Unlock(ctx); err != nil {
		return err
	}
	h.session.Orphan()
	_, err := s.etcd.Revoke(ctx, h.session.Lease())
	if err != nil && ctx.Err() == nil {
		return nil // the key is gone, and that was asked
	}
	return err
}

func (s *session) Close() error { return s.etcd.Close() }
