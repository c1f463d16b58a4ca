package service

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// find reads, at one revision, the client's place and the first of the queue.
func (s *Server) find(ctx context.Context, q request) (own, first *mvccpb.KeyValue, err error) {
	err = s.ask(ctx, func(ctx context.Context) error {
		r, err := s.db.Txn(ctx).Then(clientv3.OpGet(q.key()),
			clientv3.OpGet(prefixOf(q.lock), clientv3.WithFirstCreate()...)).Commit()
		if err != nil {
			return err
		}
		own, first = one(r.Responses[0].GetResponseRange().Kvs), one(r.Responses[1].GetResponseRange().Kvs)
		return nil
	})
	return own, first, err
}

func one(kvs []*mvccpb.KeyValue) *mvccpb.KeyValue {
	if len(kvs) == 0 {
		return nil
	}
	return kvs[0]
}

// held finds the grant that a renewal is about, or says why there is none.
func (s *Server) held(ctx context.Context, q request) (*mvccpb.KeyValue, error) {
	own, first, err := s.find(ctx, q)
	switch {
	case err != nil:
		return nil, unchanged(err)
	case first == nil:
		return nil, problemf(unknown, "nobody holds %q", q.lock)
	case own == nil || own.CreateRevision != first.CreateRevision || !read(own).Granted:
		return nil, problemf(notHolder, "%q does not hold %q", q.client, q.lock)
	case own.CreateRevision != q.token:
		return nil, problemf(notHolder, "the grant with token %d is over; %q holds %q with a later one", q.token, q.client, q.lock)
	}
	return own, nil
}

// renew puts a grant under a new lease.
func (s *Server) renew(ctx context.Context, q request) (grant, error) {
	if err := q.named(); err != nil {
		return grant{}, err
	}
	if q.token <= 0 {
		return grant{}, problemf(malformed, "the fencing token of the grant is missing")
	}
	for {
		own, err := s.held(ctx, q)
		if err != nil {
			return grant{}, err
		}
		v := read(own)
		if q.lease == 0 {
			q.lease = time.Duration(v.Lease) * time.Millisecond
		}
		if err := q.check(); err != nil {
			return grant{}, err
		}
		v.Request, v.Lease = rand.Text(), q.lease.Milliseconds()
		l, moved, err := s.move(ctx, own, v)
		if err != nil {
			return grant{}, err
		}
		if moved {
			return grant{path: q.key(), token: q.token, lease: q.lease, until: l.from.Add(q.lease)}, nil
		}
		// It changed meanwhile: another request of the client renewed it, or it is over.
	}
}

// release gives back what the client has on a lock: the grant of the token, or with no
// token whatever there is, a place in the queue too.
func (s *Server) release(ctx context.Context, q request) error {
	if err := q.named(); err != nil {
		return err
	}
	own, first, err := s.find(ctx, q)
	switch {
	case err != nil:
		return unchanged(err)
	case first == nil:
		return problemf(unknown, "nobody holds %q", q.lock)
	case own == nil:
		return problemf(notHolder, "%q does not hold %q", q.client, q.lock)
	case q.token != 0 && own.CreateRevision != q.token:
		return problemf(notHolder, "the grant with token %d is over; %q holds %q with a later one", q.token, q.client, q.lock)
	}
	// That it is gone when asked again is as good: the client had it when it asked first.
	err = s.ask(ctx, func(ctx context.Context) error {
		_, err := s.db.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(q.key()), "=", own.CreateRevision)).
			Then(clientv3.OpDelete(q.key())).Commit()
		return err
	})
	if err != nil {
		return open(err)
	}
	s.revoke(clientv3.LeaseID(own.Lease))
	return nil
}

// info is who holds a lock.
type info struct {
	client       string
	token        int64
	since, until time.Time // by this node's clock
	left         time.Duration
}

// info reads who holds a lock, and how long the lease still lasts.
func (s *Server) info(ctx context.Context, lock string) (info, error) {
	_, first, err := s.find(ctx, request{lock: lock})
	if err != nil {
		return info{}, unchanged(err)
	}
	if first == nil || !read(first).Granted {
		return info{}, problemf(unknown, "nobody holds %q", lock)
	}
	name, err := url.PathUnescape(strings.TrimPrefix(string(first.Key), prefixOf(lock)))
	if err != nil {
		return info{}, problemf(unknown, "%q is not a key of this service", first.Key)
	}
	i := info{client: name, token: first.CreateRevision, since: time.UnixMilli(read(first).Since)}
	err = s.ask(ctx, func(ctx context.Context) error {
		r, err := s.db.TimeToLive(ctx, clientv3.LeaseID(first.Lease))
		if err == nil && r.TTL > 0 && r.TTL < forever {
			i.left = time.Duration(r.TTL) * time.Second
		}
		return err
	})
	if err != nil {
		return info{}, unchanged(err)
	}
	i.until = time.Now().Add(i.left)
	return i, nil
}
