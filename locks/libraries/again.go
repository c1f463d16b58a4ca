package libraries

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/locks"
)

// again asks until it is granted, an answer is missing or ctx ends: how a library is
// used that can only try. Between two tries nothing is under way, so a limit that is
// reached there is a plain no.
func again(ctx context.Context, delay time.Duration, try func() (*locks.Grant, error)) (*locks.Grant, error) {
	for {
		g, err := try()
		if err == nil || !errors.Is(err, locks.ErrNotGranted) {
			return g, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w (%w)", err, ctx.Err())
		case <-time.After(delay):
		}
	}
}
