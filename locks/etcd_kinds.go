package locks

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/dlmtest/dlmtest/history"
)

// etcdKind is where a key stands in its queue, and for what it waits there.
type etcdKind struct {
	word   string // in the name of our key
	before string // in the names of those that we wait for; "": all
	of     int    // permits that the queue shares; 0: who is before us is in the way
}

// A reader waits for the writers before it, everybody else for all.
var (
	etcdAlone  = etcdKind{}
	etcdWriter = etcdKind{word: "write/"}
	etcdReader = etcdKind{word: "read/", before: "write/"}
)

// take gives p its key, and says for what it waits.
func (k etcdKind) take(p *etcdPlace) {
	p.key = fmt.Sprintf("%s%s%x", p.prefix, k.word, p.lease)
	p.prefix += k.before
	p.of = k.of
}

// AcquireAs implements ReadWriter, in the order of arrival.
func (l *etcdLock) AcquireAs(ctx context.Context, key string, mode history.Mode) (*Grant, error) {
	how := etcdReader
	if mode != history.Shared {
		how = etcdWriter
	}
	g, err := poll(ctx, l.delay, func() (*Grant, error) { return l.attempt(ctx, key, how, l.wait) })
	if err == nil {
		g.Mode = mode
	}
	return g, err
}

// etcdEvents is the metric of the events that a member has sent to watchers.
const etcdEvents = "etcd_debugging_mvcc_events_total "

// Woken implements Waker by the members' own count of the events that they have sent.
func (l *etcdLock) Woken(ctx context.Context) (n int64, err error) {
	for _, addr := range l.cfg.Endpoints {
		one, err := etcdWoken(ctx, addr)
		if err != nil {
			return 0, fmt.Errorf("locks: etcd: metrics of %s: %w", addr, err)
		}
		n += one
	}
	return n, nil
}

func etcdWoken(ctx context.Context, addr string) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), etcdEvents); ok {
			n, err := strconv.ParseFloat(value, 64)
			return int64(n), err
		}
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("there is no %s", strings.TrimSpace(etcdEvents))
}
