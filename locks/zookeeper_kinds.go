package locks

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/dlmtest/dlmtest/history"
)

// zkQueue is how the nodes of a queue stand to each other.
type zkQueue struct {
	word string // in the name of our node
	// before is what our node, the one at own, waits for: "/" and a node before it,
	// zkAll for any change, "" for nothing.
	before func(queue []string, own int) string
}

// zkAll watches the queue itself.
const zkAll = "/*"

var (
	zkMutex  = zkQueue{"lock", zkEachBefore}
	zkWriter = zkQueue{"write", zkEachBefore}
	zkReader = zkQueue{"read", func(queue []string, own int) string {
		for i := own - 1; i >= 0; i-- { // the last writer before it; readers before it may go on
			if strings.Contains(queue[i], "-write-") {
				return "/" + queue[i]
			}
		}
		return ""
	}}
)

// zkEachBefore waits for the one before it, so a release wakes one waiter.
func zkEachBefore(queue []string, own int) string {
	if own == 0 {
		return ""
	}
	return "/" + queue[own-1]
}

// zkPermits lets in who has at most of permits with all before it. Any of those before
// may go first, so it watches them all: a release wakes every waiter.
func zkPermits(n, of int) zkQueue {
	return zkQueue{fmt.Sprintf("permits%d", n), func(queue []string, own int) string {
		taken := 0
		for _, name := range queue[:own+1] {
			taken += zkPermitsOf(name)
		}
		if taken <= of {
			return ""
		}
		return zkAll
	}}
}

// zkPermitsOf reads how many permits a node stands for.
func zkPermitsOf(name string) int {
	_, rest, _ := strings.Cut(name, "-permits")
	n, err := strconv.Atoi(rest[:max(0, strings.IndexByte(rest, '-'))])
	if err != nil {
		return 1
	}
	return n
}

// AcquireAs implements ReadWriter by the recipe for shared locks, in the order of arrival.
func (l *zkLock) AcquireAs(ctx context.Context, key string, mode history.Mode) (*Grant, error) {
	how := zkReader
	if mode != history.Shared {
		how = zkWriter
	}
	g, err := poll(ctx, l.delay, func() (*Grant, error) { return l.attempt(ctx, key, how, true) })
	if err == nil {
		g.Mode = mode
	}
	return g, err
}

// AcquirePermits implements Permitter, in the order of arrival.
func (l *zkLock) AcquirePermits(ctx context.Context, key string, n, of int) (*Grant, error) {
	if n < 1 || n > of {
		return nil, fmt.Errorf("%w: %w: %d permits of %d", ErrNotGranted, ErrConfig, n, of)
	}
	g, err := poll(ctx, l.delay, func() (*Grant, error) { return l.attempt(ctx, key, zkPermits(n, of), true) })
	if err == nil {
		g.Permits = n
	}
	return g, err
}

// watchAll watches the queue; nil: our turn has come, or may have.
func (n *zkNode) watchAll() (<-chan zk.Event, error) {
	children, _, changed, err := n.session.conn.ChildrenW(n.root)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(children, func(a, b string) int { return strings.Compare(zkRank(a), zkRank(b)) })
	own := slices.Index(children, n.path[len(n.root)+1:])
	if own < 0 || n.how.before(children, own) == "" {
		return nil, nil
	}
	return changed, nil
}

// Woken implements Waker by the servers' own count of the watches that fired.
func (l *zkLock) Woken(ctx context.Context) (n int64, err error) {
	for _, addr := range l.cfg.Endpoints {
		one, err := zkWoken(ctx, addr)
		if err != nil {
			return 0, fmt.Errorf("locks: zookeeper: mntr of %s: %w", addr, err)
		}
		n += one
	}
	return n, nil
}

func zkWoken(ctx context.Context, addr string) (n int64, err error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if until, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(until)
	}
	if _, err := io.WriteString(conn, "mntr"); err != nil {
		return 0, err
	}
	found := false
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), "\t")
		if !strings.HasPrefix(name, "zk_sum_node_") || !strings.HasSuffix(name, "_watch_count") {
			continue
		}
		found = true
		one, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, err
		}
		n += int64(one)
	}
	if !found {
		return 0, fmt.Errorf("it does not tell how many watches fired; ZooKeeper 3.6 and newer do")
	}
	return n, nil
}

// openHerd opens the zookeeper lock with all waiters at the holder's node.
func openHerd(ctx context.Context, c Config) (Client, error) {
	l, err := OpenZooKeeper(ctx, c)
	if err != nil {
		return nil, err
	}
	l.(*zkLock).order = func(queue []string, own int) string {
		if own == 0 {
			return ""
		}
		return "/" + queue[0]
	}
	return l, nil
}
