package links

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// Bounds of what a client can make its agent hold, on all of its links together: they run in the node's first
// process, and a client may be code that nobody trusts.
const (
	roomMax  = 256 << 20 // bytes under way
	connsMax = 1000      // connections at a time, of some 100 kB each; further ones are reset
	keptMax  = 64 << 20  // bytes that parsers keep; one that would keep more understands no more
)

// room counts what all links of a client hold.
type room struct {
	max   int64
	conns atomic.Int64 // the most that may be taken
	kept  atomic.Int64 // the most that may be known
	held  atomic.Int64 // bytes under way
	taken atomic.Int64 // connections, those too that are not made yet
	known atomic.Int64 // bytes that parsers keep
}

func newRoom(most int64) *room {
	r := &room{max: most}
	r.conns.Store(connsMax)
	r.kept.Store(keptMax)
	return r
}

// enter takes the place of a connection, if there is one; leave gives it back.
func (r *room) enter() bool {
	if r.taken.Add(1) > r.conns.Load() {
		r.leave()
		return false
	}
	return true
}

func (r *room) leave() { r.taken.Add(-1) }

// tide is the share of one flow in its room.
type tide struct {
	room   *room
	held   atomic.Int64
	known  atomic.Int64
	halves atomic.Int32 // of its source and its sink, those that have ended
}

func (t *tide) add(n int) { t.held.Add(int64(n)); t.room.held.Add(int64(n)) }

// keeps counts what a parser keeps; the error says that there is no room for it.
func (t *tide) keeps(n int) error {
	more := int64(n) - t.known.Swap(int64(n))
	if all := t.room.known.Add(more); all > t.room.kept.Load() && more > 0 {
		t.keeps(0)
		return fmt.Errorf("what is not complete yet, on all links together, has more than %d bytes", t.room.kept.Load())
	}
	return nil
}

// ended is called by the source and by the sink; the second gives back what was kept or
// swallowed on the way.
func (t *tide) ended() {
	if t.halves.Add(1) == 2 {
		t.room.held.Add(-t.held.Load())
		t.keeps(0)
	}
}

// metered reads a flow's source as long as there is room. A flow with nothing under way
// may always read, so that one connection's hold stops no other.
type metered struct {
	*flow
	source io.Reader
}

func (m metered) Read(p []byte) (int, error) {
	for m.tide.held.Load() > 0 && m.tide.room.held.Load() > m.tide.room.max {
		select {
		case <-m.conn.dead:
			return 0, io.EOF
		case <-time.After(10 * time.Millisecond): // seldom: a client that pours into a hold
		}
	}
	n, err := m.source.Read(p)
	m.tide.add(n)
	return n, err
}
