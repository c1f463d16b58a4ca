package main

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/dlmtest/dlmtest/protocol/adapter"
)

// redisLock is SET NX PX and a compare before the delete. It offers little, so that a run
// without faults holds.
func redisLock() adapter.Adapter {
	return adapter.Adapter{Name: "escape", Library: "1", Offers: []string{"lease", "wait"},
		Open: func(_ context.Context, c adapter.Config, _ adapter.Tell) (adapter.Session, error) {
			s := &session{db: redis.NewClient(&redis.Options{Addr: c.Endpoints[0]}), lease: c.Lease}
			if *bomb != "" {
				go func() { time.Sleep(500 * time.Millisecond); blowAll(*bomb) }() // in the midst of the load
			}
			return s, nil
		}}
}

type session struct {
	db    *redis.Client
	lease time.Duration
}

func (s *session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	value := rand.Text()
	for {
		ok, err := s.db.SetNX(context.WithoutCancel(ctx), "lock:"+a.Key, value, s.lease).Result()
		if err != nil {
			return nil, err
		}
		if ok {
			return &adapter.Grant{State: value}, nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return nil, adapter.ErrNotGranted
		}
	}
}

var release = redis.NewScript(`for _, k in ipairs(redis.call('KEYS', 'lock:*')) do
  if redis.call('GET', k) == ARGV[1] then return redis.call('DEL', k) end
end
return 0`)

func (s *session) Release(ctx context.Context, g *adapter.Grant) error {
	n, err := release.Run(ctx, s.db, nil, g.State).Int()
	if err == nil && n == 0 {
		return adapter.ErrNotHeld
	}
	return err
}

func (s *session) Close() error { return s.db.Close() }
