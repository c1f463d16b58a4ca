package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// Election is concurrency.Election as a lock: Campaign waits until its client leads, Resign
// gives the lead back. The token is Rev(), the create revision of the leader's key.
var Election = adapter.Adapter{Name: "etcd-election", Offers: []string{"lease", "renews", "wait", "events", "token", "order"}, Open: openElection}

type elections struct{ *client }

func openElection(ctx context.Context, c adapter.Config, tell adapter.Tell) (adapter.Session, error) {
	s, err := openMutex(ctx, c, tell) // which opens the same session
	if err != nil {
		return nil, err
	}
	return &elections{s.(*mutexes).client}, nil
}

type lead struct {
	election *concurrency.Election
	resigned atomic.Bool
}

// Acquire implements adapter.Session.
func (s *elections) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	own, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	prefix := "dlmtest/election/" + a.Key
	e := concurrency.NewElection(own, prefix)
	if err := e.Campaign(ctx, s.cfg.Client); err != nil {
		return nil, s.lost(e, fmt.Sprintf("%s/%x", prefix, own.Lease()), err)
	}
	return &adapter.Grant{Token: e.Rev(), State: &lead{election: e}}, nil
}

// lost says what is certain after a vain Campaign: it resigns by itself, and does not tell
// whether that went well. Where its key was put and is gone, nobody stands for it.
func (s *elections) lost(e *concurrency.Election, key string, err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Lease)
	defer cancel()
	got, e2 := s.db.Get(ctx, key)
	if e.Rev() != 0 && e2 == nil && len(got.Kvs) == 0 {
		return fmt.Errorf("%w: %w", adapter.ErrNotGranted, err)
	}
	return errors.Join(err, e2)
}

// Release implements adapter.Session.
func (s *elections) Release(ctx context.Context, g *adapter.Grant) error {
	l := g.State.(*lead)
	if l.resigned.Swap(true) {
		return fmt.Errorf("%w: it has resigned", adapter.ErrNotHeld)
	}
	return l.election.Resign(ctx)
}
