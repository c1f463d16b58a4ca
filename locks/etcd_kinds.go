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
type etcdKind string

// The words stand in the names of keys. Who is alone waits for all before it.
const (
	etcdAlone  etcdKind = ""
	etcdWriter etcdKind = "write/"
	etcdReader etcdKind = "read/"
)

// place is the key of p and the prefix of those that it waits for: a reader for the
// writers before it, everybody else for all.
func (k etcdKind) place(p *etcdPlace) (key, prefix string) {
	key = fmt.Sprintf("%s%s%x", p.prefix, k, p.lease)
	if k == etcdReader {
		return key, p.prefix + string(etcdWriter)
	}
	return key, p.prefix
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
