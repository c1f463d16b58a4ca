// Package nemesis breaks things on purpose: it waits for the trigger of each
// fault, has it injected, waits until it has done its work, and heals it.
//
// A fault has three duties. It returns its heal, and the heal runs even after a
// cancel. It is proven from the victim's side, by what the victim itself shows;
// a fault that was not seen makes the run inconclusive. And it reaches nothing
// outside the run's own nodes. README.md in this folder is the contract for those
// who write one.
package nemesis

import (
	"context"
	"fmt"
	"sync"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// Event is one thing that happened on a node, as its agent told it.
type Event struct {
	Node string
	Op   *history.Op
	Asks *agent.Hit // it stands at a checkpoint, or its message on a link: is it to be hit?
	Hit  *agent.Hit
	Over *agent.Over
}

// Feed passes every event of a run to those who wait for one.
type Feed struct {
	mu   sync.Mutex
	subs map[*Subscription]bool
	last int64

	waiting map[string]string // client → the key that it waits for
}

// NewFeed returns a feed that nobody listens to.
func NewFeed() *Feed { return &Feed{subs: map[*Subscription]bool{}, waiting: map[string]string{}} }

// Publish never blocks, and keeps nothing of the operation.
func (f *Feed) Publish(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Op != nil && e.Op.Time > f.last {
		f.last = e.Op.Time
	}
	if e.Op != nil {
		f.waits(e.Op)
	}
	if len(f.subs) == 0 {
		return
	}
	kept := Event{Node: e.Node, Asks: e.Asks, Hit: e.Hit, Over: e.Over}
	if e.Op != nil {
		op := *e.Op
		kept.Op = &op
	}
	for s := range f.subs {
		s.push(kept)
	}
}

// Last is the latest stamp that was seen, raw ns.
func (f *Feed) Last() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// Subscribe returns a subscription to all that is published from now on.
func (f *Feed) Subscribe() *Subscription {
	s := &Subscription{feed: f, more: make(chan struct{}, 1)}
	f.mu.Lock()
	f.subs[s] = true
	f.mu.Unlock()
	return s
}

// Subscription holds the events that its owner has not looked at yet.
type Subscription struct {
	feed   *Feed
	mu     sync.Mutex
	events []Event
	more   chan struct{}
}

func (s *Subscription) push(e Event) {
	s.mu.Lock()
	s.events = append(s.events, e)
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.feed.mu.Lock()
	delete(s.feed.subs, s)
	s.feed.mu.Unlock()
}

// Wait returns the first event from here on that matches. What was looked at is
// not seen again by a later Wait.
func (s *Subscription) Wait(ctx context.Context, what string, match func(Event) bool) (Event, error) {
	for {
		s.mu.Lock()
		for i, e := range s.events {
			if match(e) {
				s.events = s.events[i+1:]
				s.mu.Unlock()
				return e, nil
			}
		}
		s.events = nil
		s.mu.Unlock()
		select {
		case <-s.more:
		case <-ctx.Done():
			return Event{}, fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
		}
	}
}
