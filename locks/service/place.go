package service

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/url"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// place is a client's place in the queue of a lock, as one request sees it.
type place struct {
	key, prefix string
	lease       clientv3.LeaseID
	length      time.Duration
	created     int64     // create revision: the rank, and the token; 0: not known to be there
	kept        time.Time // the lease runs from here at the least
	value       value
	wrote       []string // all that this request may have written there
	told        bool     // an earlier request of the client may have told it that it holds the lock
}

// value is what stands in a place. A request takes a place over from an earlier one of
// its client, whose answer was lost, by writing its own name into it: only the one that
// wrote last may leave the queue again. What was granted when it was taken over none may:
// the client may have been told, so only its release or its lease ends that.
type value struct {
	Request string `json:"request"`
	Granted bool   `json:"granted"`
	Lease   int64  `json:"lease_ms"`
	Since   int64  `json:"since"` // of the grant, ms of the epoch
}

const root = "lockservice/"

func prefixOf(lock string) string { return root + url.PathEscape(lock) + "/" }

func (q request) key() string { return prefixOf(q.lock) + url.PathEscape(q.client) }

func (v value) text() string {
	text, _ := json.Marshal(v) // plain data always marshals
	return string(text)
}

func read(kv *mvccpb.KeyValue) (v value) {
	_ = json.Unmarshal(kv.Value, &v) // what is not ours was never granted
	return v
}

// ours says that what stands in the place is what this request wrote last.
func (p *place) ours() clientv3.Cmp {
	return clientv3.Compare(clientv3.Value(p.key), "=", p.value.text())
}

// enter takes a place at the end of the queue, or the one that the client has already.
func (s *Server) enter(ctx context.Context, q request) (*place, error) {
	fresh, err := s.newLease(ctx, q.lease)
	if err != nil {
		return nil, unchanged(err) // a lease without a key locks nothing
	}
	p := &place{key: q.key(), prefix: prefixOf(q.lock), length: q.lease}
	for {
		p.lease, p.kept = fresh.id, fresh.from
		p.value = value{Request: rand.Text(), Lease: q.lease.Milliseconds()}
		old, err := s.put(ctx, p)
		if err != nil || old == nil {
			return p, err
		}
		taken, err := s.takeOver(ctx, p, old)
		if err != nil || taken {
			s.revoke(fresh.id) // no key has it
			return p, err
		}
	}
}

// put writes the place if the client has none; else it returns what stands there.
func (s *Server) put(ctx context.Context, p *place) (old *mvccpb.KeyValue, err error) {
	p.wrote = append(p.wrote, p.value.text())
	err = s.ask(ctx, func(ctx context.Context) error {
		r, err := s.db.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(p.key), "=", 0)).
			Then(clientv3.OpPut(p.key, p.value.text(), clientv3.WithLease(p.lease))).
			Else(clientv3.OpGet(p.key)).Commit()
		if err != nil {
			return err
		}
		if r.Succeeded {
			p.created, old = r.Header.Revision, nil
			return nil
		}
		kv := r.Responses[0].GetResponseRange().Kvs[0]
		if old = kv; read(kv).Request == p.value.Request { // an earlier try of ours put it
			p.created, old = kv.CreateRevision, nil
		}
		return nil
	})
	return old, err
}

// takeOver makes an earlier place of the client this request's own: the answer that it
// got, if any, was lost. It is not taken when it has changed or ended meanwhile.
func (s *Server) takeOver(ctx context.Context, p *place, old *mvccpb.KeyValue) (taken bool, err error) {
	was := read(old)
	p.value.Granted, p.value.Since, p.told = was.Granted, was.Since, was.Granted
	p.wrote = append(p.wrote, p.value.text())
	l, taken, err := s.move(ctx, old, p.value)
	p.lease, p.kept = l.id, l.from
	switch {
	case err == nil && taken:
		p.created = old.CreateRevision
	case err == nil:
		p.told = false
	}
	return taken, err
}

// move writes a new value into a place, under a new lease, unless the place has changed
// since it was read. The lease is made after that reading: so it ends after every one
// before it, and none that was promised to somebody meanwhile is cut short. A KeepAlive
// would not do: the member that leads answers it alone, and one that was stopped and has
// a successor by now may say that it did. A lease that is made, and its key, go through
// the whole cluster.
func (s *Server) move(ctx context.Context, old *mvccpb.KeyValue, v value) (l lease, moved bool, err error) {
	if l, err = s.newLease(ctx, time.Duration(v.Lease)*time.Millisecond); err != nil {
		return l, false, unchanged(err)
	}
	key := string(old.Key)
	err = s.ask(ctx, func(ctx context.Context) error {
		r, err := s.db.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", old.ModRevision)).
			Then(clientv3.OpPut(key, v.text(), clientv3.WithLease(l.id))).
			Else(clientv3.OpGet(key)).Commit()
		if err != nil {
			return err
		}
		if moved = r.Succeeded; !moved {
			found := r.Responses[0].GetResponseRange().Kvs
			moved = len(found) > 0 && read(found[0]).Request == v.Request // by an earlier try of ours
		}
		return nil
	})
	switch {
	case err == nil && moved:
		s.revoke(clientv3.LeaseID(old.Lease)) // it has no key any more
	case err == nil:
		s.revoke(l.id)
	}
	return l, moved, err
}

// leave gives a place up, unless it is no longer this request's to give up. Its lease
// is not revoked before the place is gone: a later request of the client may have both.
func (s *Server) leave(p *place) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.config.Limit)
	defer cancel()
	if p.told {
		return nil
	}
	for _, text := range p.wrote {
		err := s.ask(ctx, func(ctx context.Context) error {
			r, err := s.db.Txn(ctx).If(clientv3.Compare(clientv3.Value(p.key), "=", text)).Then(clientv3.OpDelete(p.key)).Commit()
			if err == nil && r.Succeeded {
				s.revoke(p.lease)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
