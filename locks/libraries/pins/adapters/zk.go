//go:build ignore

// go-zookeeper's Lock: Lock() has no context and no limit, so a wait ends when the lock
// is had; the fencing token is the czxid of its node, which a user can ask for.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

func main() {
	adapter.Main(adapter.Adapter{Name: "go-zookeeper", Library: versionOf("github.com/go-zookeeper/zk"),
		Offers: []string{"lease", "renews", "events"}, Open: open})
}

type session struct {
	conn *zk.Conn
	tell adapter.Tell
}

func open(_ context.Context, c adapter.Config, tell adapter.Tell) (adapter.Session, error) {
	conn, events, err := zk.Connect(c.Endpoints, c.Lease, zk.WithLogInfo(false))
	if err != nil {
		return nil, err
	}
	go pass(events, tell)
	return &session{conn, tell}, nil
}

// pass tells what the library says of its session, by its own words. It says that it is
// disconnected after each vain attempt to connect.
func pass(events <-chan zk.Event, tell adapter.Tell) {
	open, cut := false, false
	for e := range events {
		switch e.State {
		case zk.StateHasSession:
			if cut {
				tell("resumed", nil, "has its session again")
			}
			open, cut = true, false
		case zk.StateDisconnected:
			if open && !cut {
				tell("suspended", nil, "disconnected")
				cut = true
			}
		case zk.StateExpired:
			tell("lost", nil, "session expired")
			open, cut = false, false
		}
	}
}

func (s *session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	l := zk.NewLock(s.conn, "/locks/"+url.PathEscape(a.Key), zk.WorldACL(zk.PermAll))
	done := make(chan error, 1)
	go func() { done <- l.Lock() }()
	select {
	case err := <-done:
		if err != nil {
			return nil, err
		}
		return &adapter.Grant{State: l}, nil
	case <-ctx.Done():
		go func() { // it cannot be called off: what comes too late is given back
			if <-done == nil {
				_ = l.Unlock()
			}
		}()
		return nil, fmt.Errorf("%w: still waiting: %w", adapter.ErrNotGranted, ctx.Err()) // nobody will act on it
	}
}

func (s *session) Release(_ context.Context, g *adapter.Grant) error {
	err := g.State.(*zk.Lock).Unlock()
	if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNotLocked) {
		return fmt.Errorf("%w: %w", adapter.ErrNotHeld, err)
	}
	return err
}

func (s *session) Close() error {
	s.conn.Close()
	time.Sleep(50 * time.Millisecond) // its last words are sent in the background
	return nil
}
