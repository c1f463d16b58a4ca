package locks

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/dlmtest/dlmtest/history"
)

// zkLock is the lock recipe of ZooKeeper: ephemeral sequential nodes, each waiter
// watching the one before it. Its grants live as long as its session.
type zkLock struct {
	*events
	cfg    Config
	owners owners
	delay  *jitter
	order  func(queue []string, own int) string // instead of that of each queue; nil: none

	mu      sync.Mutex
	session *zkSession
	eye     *zkSession // Holder's own session
	closed  bool
}

// OpenZooKeeper opens a session with the ensemble; the lease is its timeout.
func OpenZooKeeper(ctx context.Context, c Config) (Client, error) {
	l := &zkLock{
		events: newEvents(), cfg: c, owners: owners{client: c.Client},
		delay: newJitter(c, 20*time.Millisecond, 100*time.Millisecond),
	}
	if _, err := l.live(ctx); err != nil {
		l.events.close()
		return nil, err
	}
	return l, nil
}

// live is the current session, or a new one after the last has expired.
func (l *zkLock) live(ctx context.Context) (*zkSession, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errors.New("locks: zookeeper: closed")
	}
	if l.session != nil && !l.session.lost() {
		return l.session, nil
	}
	s, err := openZK(ctx, l.cfg, func(k EventKind, why string) { l.tell(k, "", why) })
	if err == nil {
		l.session = s
	}
	return s, err
}

func zkRoot(key string) string { return "/dlmtest/" + url.PathEscape(key) }

// Acquire implements Client. It stands in the queue until ctx ends; what certainly
// took nothing, such as a session that expired while waiting, is asked again.
func (l *zkLock) Acquire(ctx context.Context, key string) (*Grant, error) {
	return poll(ctx, l.delay, func() (*Grant, error) { return l.attempt(ctx, key, zkMutex, true) })
}

// Try implements Trier.
func (l *zkLock) Try(ctx context.Context, key string) (*Grant, error) {
	return l.attempt(ctx, key, zkMutex, false)
}

func (l *zkLock) attempt(ctx context.Context, key string, how zkQueue, wait bool) (*Grant, error) {
	s, err := l.live(ctx)
	if err != nil {
		return nil, refused(err)
	}
	if l.order != nil {
		how.before = l.order
	}
	n := &zkNode{session: s, how: how, root: zkRoot(key), owner: l.owners.next()}
	if err := n.prepare(ctx); err != nil {
		return nil, refused(err) // the queue's own folder locks nothing
	}
	err = n.create(ctx)
	if err == nil {
		err = n.queue(ctx, wait)
	}
	g := &Grant{Key: key, Owner: n.owner, Token: n.czxid, Sent: n.proof, Lease: l.cfg.Lease, State: n}
	g.Deadline = s.deadline(g.Sent)
	if err == nil && g.Valid() <= 0 {
		err = errStale
	}
	if err != nil {
		return nil, n.giveUp(ctx, err)
	}
	return g, nil
}

// Release implements Client.
func (l *zkLock) Release(ctx context.Context, g *Grant) error {
	n := g.State.(*zkNode)
	switch err := n.remove(ctx); {
	case errors.Is(err, zk.ErrNoNode), sessionGone(err):
		return ErrNotHeld
	case err != nil:
		go n.sweep() // or it would stand there as long as the session
		return fmt.Errorf("locks: zookeeper: release of %s: %w", g.Key, err)
	}
	return nil
}

// Extend implements Extender: the session is renewed by itself, so this asks
// whether it and the node still exist, and claims what the heartbeats have proven.
func (l *zkLock) Extend(ctx context.Context, g *Grant) (*Grant, error) {
	n := g.State.(*zkNode)
	sent := history.Now()
	exists, err := do(ctx, n.session, func() (bool, error) {
		if err := n.session.beat(); err != nil { // without it a follower may answer from the past
			return false, err
		}
		exists, _, err := n.session.conn.Exists(n.path)
		return exists, err
	})
	if sessionGone(err) || err == nil && !exists {
		return nil, ErrNotHeld
	}
	if err != nil {
		return nil, err
	}
	return renewed(g, sent, n.session.deadline(sent)), nil
}

// Holder implements Inspector: the oldest node of the queue.
func (l *zkLock) Holder(ctx context.Context, key string) (Holder, error) {
	s, err := l.watcher(ctx)
	if err != nil {
		return Holder{}, err
	}
	owner, err := do(ctx, s, func() (string, error) {
		if _, err := s.conn.Sync("/"); err != nil {
			return "", err
		}
		children, err := zkChildren(s.conn, zkRoot(key))
		if err != nil || len(children) == 0 {
			return "", err
		}
		data, _, err := s.conn.Get(zkRoot(key) + "/" + children[0])
		return string(data), err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return Holder{}, nil // no queue yet, or its first left just now
	}
	return Holder{Owner: owner}, err
}

// watcher is Holder's own session, opened when first needed.
func (l *zkLock) watcher(ctx context.Context) (*zkSession, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errors.New("locks: zookeeper: closed")
	}
	if l.eye != nil && !l.eye.lost() {
		return l.eye, nil
	}
	s, err := openZK(ctx, l.cfg, func(EventKind, string) {})
	if err == nil {
		l.eye = s
	}
	return s, err
}

// Close implements Client: closing the session removes its nodes.
func (l *zkLock) Close() error {
	l.mu.Lock()
	l.closed = true
	sessions := []*zkSession{l.session, l.eye}
	l.mu.Unlock()
	for _, s := range sessions {
		if s != nil {
			s.close()
		}
	}
	l.events.close()
	return nil
}
