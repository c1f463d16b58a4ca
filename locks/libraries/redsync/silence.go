//go:build !older

package redsync

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// silence counts the requests that no server answered.
type silence struct{ atomic.Int64 }

// DialHook implements redis.Hook.
func (*silence) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook. An error that a server tells is an answer.
func (s *silence) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if told := redis.Error(nil); err != nil && !errors.As(err, &told) {
			s.Add(1)
		}
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (*silence) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next // redsync has no pipelines
}
