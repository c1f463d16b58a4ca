//go:build older

package redsync

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// silence counts the requests that no server answered.
type silence struct{ atomic.Int64 }

// BeforeProcess implements redis.Hook.
func (*silence) BeforeProcess(ctx context.Context, _ redis.Cmder) (context.Context, error) {
	return ctx, nil
}

// AfterProcess implements redis.Hook. An error that a server tells is an answer.
func (s *silence) AfterProcess(_ context.Context, cmd redis.Cmder) error {
	if told := redis.Error(nil); cmd.Err() != nil && !errors.As(cmd.Err(), &told) {
		s.Add(1)
	}
	return nil
}

// BeforeProcessPipeline implements redis.Hook; redsync has no pipelines.
func (*silence) BeforeProcessPipeline(ctx context.Context, _ []redis.Cmder) (context.Context, error) {
	return ctx, nil
}

// AfterProcessPipeline implements redis.Hook.
func (*silence) AfterProcessPipeline(context.Context, []redis.Cmder) error { return nil }
