//go:build ignore

// The RWMutex recipe of etcd's client, of which writers alone are used: Lock and Unlock
// under a Session for each lock. Lock has no context, so a wait ends when it is had.
package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

func main() {
	adapter.Main(adapter.Adapter{Name: "etcd-rwmutex", Library: versionOf("go.etcd.io/etcd/client/v3"),
		Offers: []string{"lease", "renews", "events"}, Open: open})
}

type session struct {
	etcd  *clientv3.Client
	lease time.Duration
	tell  adapter.Tell
}

type held struct {
	session  *concurrency.Session
	mutex    *recipe.RWMutex
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
	h := &held{session: own, mutex: recipe.NewRWMutex(own, a.Key)}
	done := make(chan error, 1)
	go func() { done <- h.mutex.Lock() }()
	select {
	case err = <-done:
	case <-ctx.Done(): // it cannot be called off, but its place can be taken back
		err = ctx.Err()
	}
	if err != nil {
		if e := own.Close(); e != nil {
			return nil, fmt.Errorf("%w; and its session: %w", err, e)
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

func (s *session) Release(_ context.Context, g *adapter.Grant) error {
	h := g.State.(*held)
	h.released.Store(true)
	if err := h.mutex.Unlock(); err != nil {
		return err
	}
	_ = h.session.Close() // the key is gone, and that was asked
	return nil
}

func (s *session) Close() error { return s.etcd.Close() }
