package locks

import (
	"context"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
)

// etcdPermits lets in whose permits, with those of all before it, are at most of. Any of
// those before may go first, so it watches them all: a release wakes every waiter.
func etcdPermits(n, of int) etcdKind { return etcdKind{word: fmt.Sprintf("permits-%d/", n), of: of} }

// etcdTaken adds up the permits of keys.
func etcdTaken(keys []*mvccpb.KeyValue) (taken int) {
	for _, k := range keys {
		n := 1
		_, word, _ := strings.Cut(string(k.Key), "/permits-")
		_, _ = fmt.Sscan(strings.Split(word, "/")[0], &n) // who says nothing wants one
		taken += n
	}
	return taken
}

// AcquirePermits implements Permitter, in the order of arrival. All who hold were let in
// by a look at one revision that counted everybody before them, so the last of them
// counted all the others: together they have no more than of.
func (l *etcdLock) AcquirePermits(ctx context.Context, key string, n, of int) (*Grant, error) {
	if n < 1 || n > of {
		return nil, fmt.Errorf("%w: %w: %d permits of %d", ErrNotGranted, ErrConfig, n, of)
	}
	g, err := poll(ctx, l.delay, func() (*Grant, error) { return l.attempt(ctx, key, etcdPermits(n, of), l.wait) })
	if err == nil {
		g.Permits = n
	}
	return g, err
}
