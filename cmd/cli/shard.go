package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/runner/matrix"
)

// shardOf reads --shard and --timings. f.seed is never 0 here; given says that it was.
func (f *runFlags) shardOf(variable func(string) (string, bool)) (matrix.Shard, map[string]time.Duration, error) {
	switch {
	case f.shard == "" && f.timings == "":
		return matrix.Shard{}, nil, nil
	case f.shard == "":
		return matrix.Shard{}, nil, usageError{errors.New("--timings goes with --shard: it balances the shards")}
	case !f.seeded:
		return matrix.Shard{}, nil, usageError{errors.New("--shard needs --seed, the same for each shard: else each would draw its own")}
	}
	var s matrix.Shard
	var err error
	if f.shard == "auto" {
		s, err = matrix.ShardOf(variable)
	} else {
		s, err = matrix.ParseShard(f.shard)
	}
	if err != nil {
		return s, nil, usageError{fmt.Errorf("--shard %s: %w", f.shard, err)}
	}
	if f.timings == "" {
		return s, nil, nil
	}
	x, err := matrix.Open(f.timings)
	if err != nil {
		return s, nil, usageError{fmt.Errorf("--timings %s: %w; want the folder of a matrix", f.timings, err)}
	}
	return s, matrix.Timings(x), nil
}
