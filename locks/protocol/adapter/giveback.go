package adapter

import (
	"context"
	"sync"
	"time"
)

// giveBackLimit is how long the locks that are held at close may take to give back.
const giveBackLimit = 2 * time.Second

// GiveBack releases grants within two seconds: many a library leaves those to its leases.
func GiveBack[V any](session Session, held map[*Grant]V) {
	ctx, cancel := context.WithTimeout(context.Background(), giveBackLimit)
	defer cancel()
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

// giveBack gives back what is held still.
func (s *server) giveBack(session Session) {
	s.mu.Lock()
	held := s.held
	s.session, s.held = nil, map[*Grant]bool{}
	s.mu.Unlock()
	GiveBack(session, held)
}
