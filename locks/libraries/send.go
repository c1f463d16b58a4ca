package libraries

import (
	"context"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// sends are the moments at which one call of a library sent its requests. It goes
// with the call's context, so that calls side by side keep apart; a client library
// of the service, which is the user's to choose and to hook, adds to it. No lease
// that a request has started began before its own.
type sends struct {
	mu  sync.Mutex
	all []history.Stamp
}

type sendsKey struct{}

// watch returns a context whose requests are stamped, beginning with the call itself.
func watch(ctx context.Context) (context.Context, *sends) {
	s := &sends{all: []history.Stamp{history.Now()}}
	return context.WithValue(ctx, sendsKey{}, s), s
}

// sending stamps a request that is about to be sent for the call of ctx.
func sending(ctx context.Context) {
	if s, ok := ctx.Value(sendsKey{}).(*sends); ok {
		s.mu.Lock()
		s.all = append(s.all, history.Now())
		s.mu.Unlock()
	}
}

// last is the newest stamp: of the request that won, where a call asks one server
// again and again and returns at the first yes.
func (s *sends) last() history.Stamp {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[len(s.all)-1]
}

// since is the stamp of the first request at or after a moment of the client's own MONOTONIC, else
// the newest one.
func (s *sends) since(mono int64) history.Stamp {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.all[1:] { // the first is the call's own
		if at.Mono >= mono {
			return at
		}
	}
	return s.all[len(s.all)-1]
}

// mono is a moment of this program as its own MONOTONIC.
func mono(t time.Time) int64 { return history.Mono() + int64(time.Until(t)) }
