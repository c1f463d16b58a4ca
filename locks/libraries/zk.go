package libraries

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

var goZooKeeper = Library{
	Module: "github.com/go-zookeeper/zk",
	About: "zk.Lock on one connection a client: Lock and Unlock, without a context and without a try, so a wait can neither be bounded nor cancelled; " +
		"the events of the connection tell of its session; the lock does not name its node, so there is no token",
	On: []locks.Lock{{Open: openZK, Renews: true, Promise: history.Promise{
		Backend: "zookeeper", Leased: true, Session: true, Order: true, Validity: history.Untold, NoLimit: true,
	}}},
}

type zkClient struct {
	locks.Queue
	cfg   locks.Config
	conn  *zk.Conn
	wire  *wire
	n     atomic.Int64
	ready chan struct{}
}

// zkRoot is where the nodes of all locks lie.
const zkRoot = "/dlmtest-library/"

// zkAsks finds the key in a request for the children of a lock (opcode 12), whose
// answer is what Lock returns on: length, xid, opcode, then the path with its length.
func zkAsks(b []byte) string {
	if len(b) < 16 || binary.BigEndian.Uint32(b[8:]) != 12 {
		return ""
	}
	path := b[16:min(len(b), 16+int(binary.BigEndian.Uint32(b[12:])))]
	key, _ := strings.CutPrefix(string(path), zkRoot)
	return key
}

// zkQuiet drops the log of the library; its events say the same.
type zkQuiet struct{}

func (zkQuiet) Printf(string, ...any) {}

func openZK(ctx context.Context, c locks.Config) (locks.Client, error) {
	wire := newWire(zkAsks)
	dial := func(network, addr string, limit time.Duration) (net.Conn, error) {
		return wire.on(net.DialTimeout(network, addr, limit))
	}
	conn, events, err := zk.Connect(c.Endpoints, c.Lease, zk.WithLogger(zkQuiet{}), zk.WithDialer(dial))
	if err != nil {
		return nil, err
	}
	l := &zkClient{Queue: locks.NewQueue(), cfg: c, conn: conn, wire: wire, ready: make(chan struct{})}
	go l.listen(events)
	select {
	case <-l.ready:
		return l, nil
	case <-ctx.Done():
		_ = l.Close()
		return nil, fmt.Errorf("no ZooKeeper session: %w", ctx.Err())
	}
}

// listen passes on what the connection tells of its session. An expired one is
// followed by a new one of the same connection.
func (c *zkClient) listen(events <-chan zk.Event) {
	open, cut := false, false
	for ev := range events {
		switch {
		case ev.Type != zk.EventSession:
		case ev.State == zk.StateHasSession && !open:
			open = true
			close(c.ready)
		case ev.State == zk.StateHasSession && cut:
			cut = false
			c.Tell(locks.Resumed, "", "connected again to "+ev.Server)
		case ev.State == zk.StateDisconnected && open && !cut:
			cut = true
			c.Tell(locks.Suspended, "", "disconnected from "+ev.Server)
		case ev.State == zk.StateExpired && open:
			cut = false // a new session follows, in which nothing is held
			c.Tell(locks.Lost, "", "session expired")
		}
	}
}

// Acquire implements locks.Client. It does not end with ctx: Lock cannot.
func (c *zkClient) Acquire(_ context.Context, key string) (*locks.Grant, error) {
	called := history.Now()
	l := zk.NewLock(c.conn, zkRoot+key, zk.WorldACL(zk.PermAll))
	if err := l.Lock(); err != nil {
		return nil, err // its node may be there, and be first one day
	}
	sent := c.wire.last(key, called)
	owner := fmt.Sprintf("%s/%x/%d/%d", c.cfg.Client, c.conn.SessionID(), c.n.Add(1), called.Raw)
	return &locks.Grant{Key: key, Owner: owner, Sent: sent, Lease: c.cfg.Lease, State: l}, nil
}

// Release implements locks.Client.
func (c *zkClient) Release(_ context.Context, g *locks.Grant) error {
	err := g.State.(*zk.Lock).Unlock()
	if errors.Is(err, zk.ErrNotLocked) || errors.Is(err, zk.ErrNoNode) {
		return fmt.Errorf("%w: %w", locks.ErrNotHeld, err)
	}
	return err
}

// Close implements locks.Client. The library sends the end of the session and waits
// for its answer; a wait for a lock ends with an error.
func (c *zkClient) Close() error {
	c.conn.Close()
	time.AfterFunc(0, c.End)
	return nil
}
