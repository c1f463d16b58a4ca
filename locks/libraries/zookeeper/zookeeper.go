// Package zookeeper is the adapter of go-zookeeper's zk.Lock on one connection a client: Lock
// and Unlock, without a context and without a try, so a wait can neither be bounded nor
// cancelled. The events of the connection tell of its session; the lock does not name its
// node, so there is no token.
package zookeeper

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// Adapter is the library behind the lock client protocol.
var Adapter = adapter.Adapter{Name: "go-zookeeper", Offers: []string{"lease", "renews", "events", "order", "asked"}, Open: open}

type session struct {
	conn *zk.Conn
	wire *adapter.Wire
}

// root is where the nodes of all locks lie.
const root = "/dlmtest-library/"

// asks finds the key in a request for the children of a lock (opcode 12), whose answer is
// what Lock returns on: length, xid, opcode, then the path with its length.
func asks(b []byte) string {
	if len(b) < 16 || binary.BigEndian.Uint32(b[8:]) != 12 {
		return ""
	}
	path := b[16:min(len(b), 16+int(binary.BigEndian.Uint32(b[12:])))]
	key, _ := strings.CutPrefix(string(path), root)
	return key
}

// quiet drops the log of the library; its events say the same.
type quiet struct{}

// Printf implements zk.Logger.
func (quiet) Printf(string, ...any) {}

func open(ctx context.Context, c adapter.Config, tell adapter.Tell) (adapter.Session, error) {
	wire := adapter.NewWire(asks)
	dial := func(network, addr string, limit time.Duration) (net.Conn, error) {
		return wire.On(net.DialTimeout(network, addr, limit))
	}
	conn, events, err := zk.Connect(c.Endpoints, c.Lease, zk.WithLogger(quiet{}), zk.WithDialer(dial))
	if err != nil {
		return nil, err
	}
	ready := make(chan struct{})
	go listen(events, func() { close(ready) }, tell)
	select {
	case <-ready:
		return &session{conn, wire}, nil
	case <-ctx.Done():
		conn.Close()
		return nil, fmt.Errorf("no ZooKeeper session: %w", ctx.Err())
	}
}

// listen passes on what the connection tells of its session. An expired one is followed by
// a new one of the same connection.
func listen(events <-chan zk.Event, ready func(), tell adapter.Tell) {
	open, cut := false, false
	for ev := range events {
		switch {
		case ev.Type != zk.EventSession:
		case ev.State == zk.StateHasSession && !open:
			open = true
			ready()
		case ev.State == zk.StateHasSession && cut:
			cut = false
			tell("resumed", nil, "connected again to "+ev.Server)
		case ev.State == zk.StateDisconnected && open && !cut:
			cut = true
			tell("suspended", nil, "disconnected from "+ev.Server)
		case ev.State == zk.StateExpired && open:
			cut = false // a new session follows, in which nothing is held
			tell("lost", nil, "session expired")
		}
	}
}

// Acquire does not end with its context: Lock cannot.
func (s *session) Acquire(_ context.Context, a adapter.Ask) (*adapter.Grant, error) {
	called, key := adapter.Monotonic(), url.PathEscape(a.Key)
	l := zk.NewLock(s.conn, root+key, zk.WorldACL(zk.PermAll))
	if err := l.Lock(); err != nil {
		return nil, err // its node may be there, and be first one day
	}
	sent, asked := s.wire.Since(key, called)
	if !asked {
		sent = called
	}
	return &adapter.Grant{Sent: sent, State: l}, nil
}

func (s *session) Release(_ context.Context, g *adapter.Grant) error {
	err := g.State.(*zk.Lock).Unlock()
	if errors.Is(err, zk.ErrNotLocked) || errors.Is(err, zk.ErrNoNode) {
		return fmt.Errorf("%w: %w", adapter.ErrNotHeld, err)
	}
	return err
}

// Close sends the end of the session and waits for its answer; a wait for a lock ends with
// an error.
func (s *session) Close() error { s.conn.Close(); return nil }
