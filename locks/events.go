package locks

import (
	"sync"

	"github.com/dlmtest/dlmtest/history"
)

// events is a queue without bound between a driver, which must never block, and
// a slow reader: in order, nothing dropped.
type events struct {
	mu      sync.Mutex
	queue   []Event
	closed  bool
	wake    chan struct{}
	end     chan struct{}
	out     chan Event
	drained chan struct{}
}

func newEvents() *events {
	e := &events{
		wake: make(chan struct{}, 1), end: make(chan struct{}),
		out: make(chan Event, 64), drained: make(chan struct{}),
	}
	go e.forward()
	return e
}

// Events implements Notifier.
func (e *events) Events() <-chan Event { return e.out }

// tell stamps the event now: when the client learnt of it.
func (e *events) tell(kind EventKind, owner, why string) {
	e.mu.Lock()
	if !e.closed {
		e.queue = append(e.queue, Event{Kind: kind, Owner: owner, At: history.Now(), Why: why})
	}
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default: // it is awake already
	}
}

func (e *events) next() (Event, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.queue) == 0 {
		return Event{}, false
	}
	ev := e.queue[0]
	e.queue = e.queue[1:]
	return ev, true
}

func (e *events) forward() {
	defer close(e.drained)
	defer close(e.out)
	for {
		ev, ok := e.next()
		if !ok {
			select {
			case <-e.wake:
				continue
			case <-e.end:
				e.flush()
				return
			}
		}
		select {
		case e.out <- ev:
		case <-e.end:
			select {
			case e.out <- ev:
			default:
			}
			e.flush()
			return
		}
	}
}

// flush leaves in the channel what fits: after Close nobody may be reading, and
// Close must not hang for that.
func (e *events) flush() {
	for ev, ok := e.next(); ok; ev, ok = e.next() {
		select {
		case e.out <- ev:
		default:
			return
		}
	}
}

// close ends the queue and closes its channel; more than once is harmless.
func (e *events) close() {
	e.mu.Lock()
	first := !e.closed
	e.closed = true
	e.mu.Unlock()
	if first {
		close(e.end)
	}
	<-e.drained
}
