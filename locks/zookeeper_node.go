package locks

import (
	"context"
	crand "crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/dlmtest/dlmtest/history"
)

// zkNode is one client's node in the queue of a key.
type zkNode struct {
	session *zkSession
	how     zkQueue
	root    string // the queue's folder
	owner   string
	guid    string // in the node's name, to find it after a lost answer
	path    string // "" until the create was answered or found
	czxid   int64
	proof   history.Stamp // sent moment of the request that showed us first
}

var zkOpen = zk.WorldACL(zk.PermAll)

// prepare makes the folder of the queue; it is never removed.
func (n *zkNode) prepare(ctx context.Context) error {
	_, err := do(ctx, n.session, func() (any, error) {
		if exists, _, err := n.session.conn.Exists(n.root); err != nil || exists {
			return nil, err
		}
		for _, path := range []string{"/dlmtest", n.root} {
			if _, err := n.session.conn.Create(path, nil, 0, zkOpen); err != nil && !errors.Is(err, zk.ErrNodeExists) {
				return nil, err
			}
		}
		return nil, nil
	})
	return err
}

// create makes our node. After a lost answer it looks for the node by its GUID;
// the library's own protected create gives up when that look fails too, and then
// leaves an orphan that blocks the lock as long as the session (samuel/go-zookeeper #229).
func (n *zkNode) create(ctx context.Context) error {
	req, cancel := inFlight(ctx, n.session.lease)
	defer cancel()
	n.guid = crand.Text()
	path, err := do(req, n.session, func() (string, error) {
		return n.session.conn.Create(n.root+"/_c_"+n.guid+"-"+n.how.word+"-", []byte(n.owner),
			zk.FlagEphemeral|zk.FlagSequence, zkOpen)
	})
	if errors.Is(err, zk.ErrConnectionClosed) {
		path, err = n.find(req)
	}
	if err != nil {
		return err
	}
	n.path = path
	_, err = do(req, n.session, func() (any, error) {
		_, stat, err := n.session.conn.Exists(path)
		if err == nil {
			n.czxid = stat.Czxid
		}
		return nil, err
	})
	return err
}

// find looks for our node by its GUID: zk.ErrNoNode when it is not there. Sync
// first: a follower's past may not show it yet. A request of the old connection
// comes before the Sync at the same server and is refused, as moved, at another.
func (n *zkNode) find(ctx context.Context) (string, error) {
	for {
		path, err := do(ctx, n.session, func() (string, error) {
			if _, err := n.session.conn.Sync("/"); err != nil {
				return "", err
			}
			children, err := zkChildren(n.session.conn, n.root)
			for _, c := range children {
				if strings.Contains(c, n.guid) {
					return n.root + "/" + c, nil
				}
			}
			if err == nil {
				err = zk.ErrNoNode
			}
			return "", err
		})
		if !errors.Is(err, zk.ErrConnectionClosed) && !errors.Is(err, zk.ErrNoServer) {
			return path, err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// zkChildren lists a queue, oldest first.
func zkChildren(conn *zk.Conn, root string) ([]string, error) {
	children, _, err := conn.Children(root)
	slices.SortFunc(children, func(a, b string) int { return strings.Compare(zkRank(a), zkRank(b)) })
	return children, err
}

// zkRank is the ten digits that ZooKeeper appends.
func zkRank(name string) string { return name[max(0, len(name)-10):] }

// queue waits until our node is first, watching only the one before it: a release
// wakes one waiter and not the herd.
func (n *zkNode) queue(ctx context.Context, wait bool) error {
	for {
		before, err := n.before(ctx)
		if err != nil || before == "" {
			return err
		}
		if !wait {
			return refused(ErrHeld)
		}
		if err := n.awaitGone(ctx, before); err != nil {
			return err
		}
	}
}

// before is the node just before ours, "" when we are first. The Sync goes to the
// leader, which refuses an expired session; the list that follows is at least as
// new. So at some instant after proof our session lived and our node was first.
func (n *zkNode) before(ctx context.Context) (string, error) {
	req, cancel := inFlight(ctx, n.session.lease)
	defer cancel()
	n.proof = history.Now()
	return do(req, n.session, func() (string, error) {
		if err := n.session.beat(); err != nil {
			return "", err
		}
		children, err := zkChildren(n.session.conn, n.root)
		if err != nil {
			return "", err
		}
		i := slices.Index(children, n.path[len(n.root)+1:])
		switch {
		case i < 0:
			return "", zk.ErrNoNode
		}
		if before := n.how.before(children, i); before != "" {
			return n.root + before, nil
		}
		return "", nil
	})
}

// awaitGone returns when the node has gone, and now and then without cause: the
// library can lose a watch when it fails to set it again after a reconnection.
func (n *zkNode) awaitGone(ctx context.Context, path string) error {
	gone, err := do(ctx, n.session, func() (<-chan zk.Event, error) {
		if path == n.root+zkAll {
			return n.watchAll()
		}
		exists, _, gone, err := n.session.conn.ExistsW(path)
		if err == nil && !exists {
			gone = nil
		}
		return gone, err
	})
	if err != nil || gone == nil {
		return err
	}
	select {
	case <-gone:
		return nil
	case <-n.session.over:
		return zk.ErrSessionExpired
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(n.session.lease):
		return nil
	}
}

// giveUp leaves the queue; only a confirmed removal makes the refusal certain.
func (n *zkNode) giveUp(ctx context.Context, why error) error {
	req, cancel := inFlight(ctx, cleanup)
	defer cancel()
	err := n.remove(req)
	if err != nil && !errors.Is(err, zk.ErrNoNode) && !sessionGone(err) {
		go n.sweep()
		return errors.New("locks: zookeeper: " + why.Error() + ", and removing the node failed: " + err.Error())
	}
	if errors.Is(why, ErrNotGranted) {
		return why
	}
	return refused(why)
}

// remove deletes our node: zk.ErrNoNode when it was not there to begin with. A
// delete whose answer was lost is asked again, and "no node" is then its success.
func (n *zkNode) remove(ctx context.Context) error {
	for again := false; ; again = true {
		path, err := n.path, error(nil)
		if path == "" {
			path, err = n.find(ctx)
		}
		if err == nil {
			_, err = do(ctx, n.session, func() (any, error) { return nil, n.session.conn.Delete(path, -1) })
		}
		switch {
		case again && errors.Is(err, zk.ErrNoNode):
			return nil
		case !errors.Is(err, zk.ErrConnectionClosed) && !errors.Is(err, zk.ErrNoServer):
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// sweep removes our node in the background as soon as the session allows.
func (n *zkNode) sweep() {
	for !n.session.lost() {
		ctx, cancel := context.WithTimeout(context.Background(), n.session.lease)
		err := n.remove(ctx)
		cancel()
		if err == nil || errors.Is(err, zk.ErrNoNode) {
			return
		}
	}
}
