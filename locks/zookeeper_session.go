package locks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/dlmtest/dlmtest/history"
)

// zkSession is one ZooKeeper session. Its grants are lost when it expires.
type zkSession struct {
	conn  *zk.Conn
	lease time.Duration
	tell  func(EventKind, string)
	ready chan struct{} // closed when the session is open
	over  chan struct{} // closed when it has expired or was closed

	mu         sync.Mutex
	granted    time.Duration // session timeout that the server granted
	base, last history.Stamp // see answered
	open, cut  bool          // was opened; is disconnected now
	ended      bool
}

// openZK starts a session and waits until it is open, with the timeout asked for.
func openZK(ctx context.Context, c Config, tell func(EventKind, string)) (*zkSession, error) {
	if err := wholeMillis(c.Lease); err != nil {
		return nil, err
	}
	s := &zkSession{lease: c.Lease, tell: tell, ready: make(chan struct{}), over: make(chan struct{})}
	conn, _, err := zk.Connect(c.Endpoints, c.Lease,
		zk.WithLogger(quietZK{}), zk.WithLogInfo(false), zk.WithDialer(s.dial), zk.WithEventCallback(s.event))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.conn = conn
	s.mu.Unlock()
	select {
	case <-ctx.Done():
		s.close()
		return nil, fmt.Errorf("locks: zookeeper at %v: no session: %w", c.Endpoints, ctx.Err())
	case <-s.ready:
	}
	if got := s.timeout(); got != c.Lease {
		s.close()
		return nil, fmt.Errorf("%w: zookeeper granted a session of %v instead of %v; "+
			"ask for %v, or set tickTime (a session is 2 to 20 ticks) or min/maxSessionTimeout", ErrConfig, got, c.Lease, got)
	}
	go s.heartbeat()
	return s, nil
}

func (s *zkSession) dial(network, addr string, timeout time.Duration) (net.Conn, error) {
	limit := s.lease / 4 // several servers must fit into a session
	conn, err := net.DialTimeout(network, addr, min(timeout, limit))
	if err != nil {
		return nil, err
	}
	return &zkWire{Conn: conn, session: s, limit: limit}, nil
}

func (s *zkSession) timeout() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.granted
}

// greeted records a handshake; a timeout of zero says that the session is over.
func (s *zkSession) greeted(sent history.Stamp, timeout time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if timeout > 0 {
		s.granted, s.base, s.last = timeout, sent, sent
	}
}

// answered records a heartbeat through the leader. The claim counts from the
// answered heartbeat *before* it: a follower tells the leader that a session is
// alive only when the leader pings it, twice a tick, so a follower that is cut off
// right after the answer has not yet told of the last one. Heartbeats closer
// together than lease/8 count as one; this holds for tickTime up to lease/4.
func (s *zkSession) answered(sent history.Stamp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sent.Mono-s.last.Mono >= int64(s.lease/8) {
		s.base, s.last = s.last, sent
	}
}

// deadline of what this session holds, by a request sent at sent: never later
// than that request could have renewed it.
func (s *zkSession) deadline(sent history.Stamp) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(s.base.Mono, sent.Mono) + int64(s.granted)
}

// heartbeat asks the leader, by Sync, each lease/6. The library's own pings are
// rarer, and it does not say when they were answered.
func (s *zkSession) heartbeat() {
	tick := time.NewTicker(s.lease / 6)
	defer tick.Stop()
	for {
		select {
		case <-s.over:
			return
		case <-tick.C:
			_ = s.beat() // cut off: the event has told it
		}
	}
}

func (s *zkSession) beat() error {
	sent := history.Now()
	if _, err := s.conn.Sync("/"); err != nil {
		return err
	}
	s.answered(sent)
	return nil
}

// event is called by the library, in order, and must not block.
func (s *zkSession) event(ev zk.Event) {
	if ev.Type != zk.EventSession {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
	case ev.State == zk.StateHasSession && !s.open:
		s.open = true
		close(s.ready)
	case ev.State == zk.StateHasSession && s.cut:
		s.cut = false
		s.tell(Resumed, "connected again to "+ev.Server)
	case ev.State == zk.StateDisconnected && s.open && !s.cut:
		s.cut = true
		s.tell(Suspended, "disconnected from "+ev.Server)
	case ev.State == zk.StateExpired && s.open:
		s.tell(Lost, "session expired")
		s.endLocked()
		// The library would go on with a new session under the same Conn, and
		// requests meant for the old one would reach the new.
		go s.conn.Close()
	}
}

func (s *zkSession) endLocked() {
	if !s.ended {
		s.ended = true
		close(s.over)
	}
}

func (s *zkSession) lost() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

func (s *zkSession) close() {
	s.mu.Lock()
	s.endLocked()
	s.mu.Unlock()
	s.conn.Close()
}

// do runs a request of the library, which knows no context. When ctx ends first
// the request goes on alone, and its outcome is open.
func do[T any](ctx context.Context, s *zkSession, request func() (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	ch := make(chan answer, 1)
	go func() {
		v, err := request()
		ch <- answer{v, err}
	}()
	var none T
	select {
	case a := <-ch:
		return a.v, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	case <-s.over:
		return none, zk.ErrSessionExpired
	}
}

// sessionGone says that nothing of the session is left on the servers.
func sessionGone(err error) bool { return errors.Is(err, zk.ErrSessionExpired) }
