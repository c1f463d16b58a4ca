package service

import (
	"context"
	"errors"
	"math"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// errGone says that the client's own place has left the queue.
var errGone = errors.New("the place in the queue is gone")

// acquire grants a lock, at once or within the time that q may wait. Whoever gives up
// leaves the queue, and only when that is certain the refusal is.
func (s *Server) acquire(ctx context.Context, q request) (grant, error) {
	if err := q.check(); err != nil {
		return grant{}, err
	}
	if s.life.Err() != nil {
		return grant{}, problemf(unavailable, "this node of the service is going down; ask another")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	p, err := s.enter(ctx, q)
	if err == nil {
		err = s.queue(ctx, q, p)
	}
	if err == nil && (ctx.Err() != nil || time.Since(p.kept) >= p.length) {
		// Nobody waits for the answer, or it would tell of a lease that is over: this node stood still.
		err = errors.New("the answer came too late")
	}
	if err == nil {
		return grant{path: p.key, token: p.created, lease: p.length, until: p.kept.Add(p.length)}, nil
	}
	return grant{}, s.refuse(p, err)
}

// refuse leaves the queue and says what became of the request.
func (s *Server) refuse(p *place, why error) error {
	if p == nil {
		return why
	}
	sure := p.created > 0 && !p.told
	if err := s.leave(p); err != nil {
		return open(err)
	}
	switch {
	case errors.Is(why, errGone) && sure:
		return problemf(held, "the client left the queue, or its lease ended there")
	case s.life.Err() != nil && sure:
		return problemf(unavailable, "this node of the service is going down; ask another")
	case sure:
		return unchanged(why)
	}
	return asProblem(why)
}

// queue waits until the place is first and writes the grant.
func (s *Server) queue(ctx context.Context, q request, p *place) error {
	before, seen, err := s.grant(ctx, p)
	if err != nil || before == "" {
		return err
	}
	if q.block == 0 {
		return problemf(held, "another client holds %q", q.lock)
	}
	select {
	case s.waiting <- struct{}{}:
		defer func() { <-s.waiting }()
	default:
		return problemf(busy, "%d requests wait at this node already; ask again, or another node", cap(s.waiting))
	}
	wait, cancel := context.WithTimeout(ctx, q.block)
	defer cancel()
	for before != "" {
		s.awaitDelete(wait, before, p.key, seen+1, p.length/4)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case wait.Err() != nil:
			return problemf(held, "another client held %q for the whole wait of %v", q.lock, q.block)
		}
		if p.kept, err = s.keepAlive(ctx, p.lease); errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return errGone
		}
		if err == nil {
			before, seen, err = s.grant(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// grant writes the grant into the place if nobody stands before it, in one step with
// the look; else it returns who does, and at which revision that was.
func (s *Server) grant(ctx context.Context, p *place) (before string, seen int64, err error) {
	granted := p.value
	if !granted.Granted {
		granted.Granted, granted.Since = true, time.Now().UnixMilli()
	}
	p.wrote = append(p.wrote, granted.text())
	older := append(clientv3.WithLastCreate(), clientv3.WithMaxCreateRev(p.created-1))
	first := clientv3.Compare(clientv3.CreateRevision(p.prefix).WithPrefix(), ">", p.created-1)
	err = s.ask(ctx, func(ctx context.Context) error {
		r, err := s.db.Txn(ctx).If(p.ours(), first).
			Then(clientv3.OpPut(p.key, granted.text(), clientv3.WithLease(p.lease))).
			Else(clientv3.OpGet(p.key), clientv3.OpGet(p.prefix, older...)).Commit()
		if err != nil {
			return err
		}
		before, seen = "", r.Header.Revision
		if r.Succeeded {
			return nil
		}
		own, others := r.Responses[0].GetResponseRange().Kvs, r.Responses[1].GetResponseRange().Kvs
		return p.standing(own, others, granted, &before)
	})
	if err == nil && before == "" {
		p.value = granted
	}
	return before, seen, err
}

// standing reads a look: where p stands, if it does.
func (p *place) standing(own, others []*mvccpb.KeyValue, granted value, before *string) error {
	switch {
	case len(own) == 0 || own[0].CreateRevision != p.created:
		return errGone
	case string(own[0].Value) == granted.text(): // an earlier try of ours wrote it
		return nil
	case read(own[0]).Request != p.value.Request:
		return problemf(held, "a later request of the same client has taken its place")
	case len(others) > 0:
		*before = string(others[0].Key)
	}
	return nil
}

// awaitDelete returns when one of two keys is gone, the one before or our own, or after
// a while: a member that was cut off tells nothing. Only a look shows what has happened.
func (s *Server) awaitDelete(ctx context.Context, before, own string, from int64, atMost time.Duration) {
	ctx, cancel := context.WithTimeout(clientv3.WithRequireLeader(ctx), atMost)
	defer cancel()
	ended := make(chan bool, 2)
	for _, key := range []string{before, own} {
		go func() { ended <- s.deleted(ctx, key, from) }()
	}
	if !<-ended && ctx.Err() == nil { // the watch broke
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// deleted waits for the end of a key; false: the watch ended before.
func (s *Server) deleted(ctx context.Context, key string, from int64) bool {
	for w := range s.db.Watch(ctx, key, clientv3.WithRev(from), clientv3.WithFilterPut()) {
		if w.Err() != nil {
			return false
		}
		if len(w.Events) > 0 {
			return true
		}
	}
	return false
}

// forever is what etcd answers for a lease while a new leader has not started it afresh.
const forever = int64(math.MaxInt64 / time.Second)
