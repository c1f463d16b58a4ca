package protocol

import (
	"context"
	"fmt"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// AcquireAs implements locks.ReadWriter. An adapter that does not offer shared is not
// asked for it.
func (s *Session) AcquireAs(ctx context.Context, key string, mode history.Mode) (*locks.Grant, error) {
	if !s.Offers(OfferShared) {
		return nil, s.lacks(OfferShared)
	}
	g, err := s.Take(ctx, Ask{Key: key, Mode: Mode(mode)})
	if err == nil {
		g.Mode = mode
	}
	return g, err
}

// AcquirePermits implements locks.Permitter. An adapter that does not offer permits is
// not asked for them.
func (s *Session) AcquirePermits(ctx context.Context, key string, n, of int) (*locks.Grant, error) {
	switch {
	case !s.Offers(OfferPermits):
		return nil, s.lacks(OfferPermits)
	case n < 1 || n > of:
		return nil, fmt.Errorf("%w: %w: %d permits of %d", locks.ErrNotGranted, locks.ErrConfig, n, of)
	}
	g, err := s.Take(ctx, Ask{Key: key, Want: n, Permits: of})
	if err == nil {
		g.Permits = n
	}
	return g, err
}

func (s *Session) lacks(offer string) error { return lacks(s.Hello().Name, offer) }

func lacks(name, offer string) error {
	return fmt.Errorf("%w: %w: the hello of %s does not offer %s", locks.ErrNotGranted, locks.ErrConfig, name, offer)
}
