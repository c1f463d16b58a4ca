package adapter

import (
	"context"
	"sync"
	"time"
)

// giveBackLimit is how long the locks that are held at close may take to give back.
const giveBackLimit = 2 * time.Second

// giveBack releases what is held still: many a library leaves that to its leases.
func (s *server) giveBack(session Session) {
	ctx, cancel := context.WithTimeout(context.Background(), giveBackLimit)
	defer cancel()
	s.mu.Lock()
	held := s.held
	s.session, s.held = nil, map[*Grant]bool{}
	s.mu.Unlock()
	var all sync.WaitGroup
	for g := range held {
		all.Add(1)
		go func(g *Grant) { defer all.Done(); _ = session.Release(ctx, g) }(g) // at worst it ends with its lease
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done(): // a library that knows no limit
	}
}
