package protocol

import (
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// eventsMax is how many events may wait for their reader.
const eventsMax = 10_000

// queue hands events on in order. Its channel has room for all that are allowed, so
// nobody ever waits and nothing is dropped.
type queue struct {
	mu     sync.Mutex
	out    chan locks.Event
	closed bool
}

func newQueue() *queue { return &queue{out: make(chan locks.Event, eventsMax)} }

// put says whether there was room.
func (q *queue) put(e locks.Event) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return true
	}
	select {
	case q.out <- e:
		return true
	default:
		return false
	}
}

func (q *queue) close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.closed = true
		close(q.out)
	}
	return nil
}

// Events implements locks.Notifier, where events are offered.
func (s *Session) Events() <-chan locks.Event { return s.events.out }

// agoMax is how long ago an event may have been at most.
const agoMax = time.Minute

// told takes an event of the adapter, maybe before Open has c. It counts from when the library told it, if the
// adapter says so, else from now.
func (s *Session) told(c *Conn, e Event) {
	granted, _ := c.Granted(e.Grant)
	switch {
	case !c.Offers(OfferEvents):
		_ = c.fail(fault(Overclaims, "it told %s, and hello does not offer events", e.Event))
		return
	case e.Grant != "" && !granted:
		_ = c.fail(fault(Mistaken, "it told %s of the grant %q, which it has not granted; answer acquire first", e.Event, clip(e.Grant)))
		return
	}
	now := history.Now()
	if e.At > now.Mono {
		_ = c.fail(fault(Mistaken, "at_ns is %v from now; it is by CLOCK_MONOTONIC, in ns", time.Duration(e.At-now.Mono)))
		return
	}
	ev := locks.Event{Kind: locks.EventKind(e.Event), At: now, Why: e.Why}
	if e.At != 0 {
		ev.At = ago(now, min(now.Mono-e.At, int64(agoMax)))
	}
	if e.Grant != "" {
		ev.Owner = s.owner(e.Grant)
	}
	if ev.Kind == locks.Lost {
		s.lost(ev.Owner)
	}
	if !s.events.put(ev) {
		_ = c.fail(fault(Floods, "%d events wait to be read", eventsMax))
	}
}
