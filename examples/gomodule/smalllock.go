// Package smalllock is a lock on one Redis, deliberately simple: SET NX PX, a counter as
// fencing token, and an owner check wherever it is given back or renewed.
package smalllock

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Version of this library.
const Version = "v0.1.0"

// ErrTaken says that somebody else holds the key.
var ErrTaken = errors.New("smalllock: taken")

// ErrLost says that the lock was not, or not any more, this one's.
var ErrLost = errors.New("smalllock: lost")

// pause is between two tries of Lock.
const pause = 20 * time.Millisecond

var (
	take = redis.NewScript(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('INCR', KEYS[2]) end
return 0`)
	free = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`)
	renew = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`)
)

// Locker takes locks, each for a lease.
type Locker struct {
	DB    *redis.Client
	Lease time.Duration
}

// Lock is one that is held.
type Lock struct {
	locker *Locker
	key    string
	owner  string
	token  int64
	sent   time.Time // when the request that took or renewed it was sent
}

// Lock waits for key until ctx ends.
func (l *Locker) Lock(ctx context.Context, key string) (*Lock, error) {
	for {
		held, err := l.TryLock(ctx, key)
		if !errors.Is(err, ErrTaken) {
			return held, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ErrTaken
		}
	}
}

// TryLock takes key or returns ErrTaken.
func (l *Locker) TryLock(ctx context.Context, key string) (*Lock, error) {
	held := &Lock{locker: l, key: key, owner: rand.Text(), sent: time.Now()}
	token, err := take.Eval(ctx, l.DB, []string{"{" + key + "}", "{" + key + "}:token"}, held.owner, l.Lease.Milliseconds()).Int64()
	if err != nil {
		return nil, err
	}
	if token == 0 {
		return nil, ErrTaken
	}
	held.token = token
	return held, nil
}

// Unlock gives the lock back, or returns ErrLost.
func (k *Lock) Unlock(ctx context.Context) error {
	return lost(free.Eval(ctx, k.locker.DB, []string{"{" + k.key + "}"}, k.owner).Int64())
}

// Extend renews the lock for another lease, or returns ErrLost.
func (k *Lock) Extend(ctx context.Context) error {
	sent := time.Now()
	err := lost(renew.Eval(ctx, k.locker.DB, []string{"{" + k.key + "}"}, k.owner, k.locker.Lease.Milliseconds()).Int64())
	if err == nil {
		k.sent = sent
	}
	return err
}

func lost(n int64, err error) error {
	if err == nil && n == 0 {
		return ErrLost
	}
	return err
}

// Token rises from lock to lock: a fencing token.
func (k *Lock) Token() int64 { return k.token }

// Sent is when the last request was sent that took or renewed the lock.
func (k *Lock) Sent() time.Time { return k.sent }

// Until is until when the lock is certainly held.
func (k *Lock) Until() time.Time { return k.sent.Add(k.locker.Lease) }
