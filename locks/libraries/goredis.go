package libraries

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// goRedis is the user's own client, with the defaults of go-redis: three retries, 3 s
// for an answer. Its hook says when a request of the lock library is sent.
func goRedis(addr string) (*redis.Client, *stamping) {
	c, hook := redis.NewClient(&redis.Options{Addr: addr}), &stamping{}
	c.AddHook(hook)
	return c, hook
}

// stamping is a hook of go-redis that stamps each request before it is sent, and not
// again where go-redis repeats it.
type stamping struct {
	wrote atomic.Int64 // when anything was last written to the server, a repeated request too: Stamp.Raw
}

// DialHook implements redis.Hook.
func (s *stamping) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := next(ctx, network, addr)
		if tcp, ok := c.(*net.TCPConn); ok {
			return noting{tcp, &s.wrote}, err
		}
		return c, err
	}
}

// noting is a connection that notes when it is written to. It stays one whose socket
// go-redis can look at before it takes it from its pool.
type noting struct {
	*net.TCPConn
	wrote *atomic.Int64
}

// Write notes before it writes.
func (n noting) Write(b []byte) (int, error) {
	n.wrote.Store(history.Now().Raw)
	return n.TCPConn.Write(b)
}

// ProcessHook implements redis.Hook.
func (*stamping) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		sending(ctx)
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (*stamping) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		sending(ctx)
		return next(ctx, cmds)
	}
}

// redisEye reads at the server who holds a key, on a connection of its own.
type redisEye struct{ eye *redis.Client }

func openEye(addr string, limit time.Duration) redisEye {
	return redisEye{redis.NewClient(&redis.Options{Addr: addr, DialTimeout: limit, ReadTimeout: limit, MaxRetries: -1})}
}

// Holder implements locks.Inspector: the value of the key, which names its owner.
func (e redisEye) Holder(ctx context.Context, key string) (locks.Holder, error) {
	owner, err := e.eye.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return locks.Holder{}, nil
	}
	if err != nil {
		return locks.Holder{}, err
	}
	left, err := e.eye.PTTL(ctx, key).Result()
	return locks.Holder{Owner: owner, Left: max(0, left)}, err
}

// wholeMillis refuses a lease that PX would round.
func wholeMillis(lease time.Duration) error {
	if lease < time.Millisecond || lease%time.Millisecond != 0 {
		return fmt.Errorf("%w: leases are whole milliseconds here; ask for at least 1ms, not %v", locks.ErrConfig, lease)
	}
	return nil
}

// neverSent says that an error happened while connecting, and that nothing was sent since
// a call began. The error alone does not: go-redis asks again where an answer broke off,
// and its last word is then that the server, which may have done it, cannot be dialled.
func (s *stamping) neverSent(err error, called history.Stamp) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" && s.wrote.Load() < called.Raw
}
