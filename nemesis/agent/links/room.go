package links

import (
	"io"
	"sync/atomic"
	"time"
)

// Bounds of what a client can make its agent hold: the links run in the node's first
// process, and a client may be code that nobody trusts.
const (
	roomMax  = 256 << 20 // bytes under way on all links of a client
	connsMax = 1000      // connections of one link at a time; further ones are reset
)

// room counts the bytes that are under way on all links of a client.
type room struct {
	max   int64
	conns int // of one link at a time
	held  atomic.Int64
}

// tide is the share of one flow in its room.
type tide struct {
	room   *room
	held   atomic.Int64
	halves atomic.Int32 // of its source and its sink, those that have ended
}

func (t *tide) add(n int) { t.held.Add(int64(n)); t.room.held.Add(int64(n)) }

// ended is called by the source and by the sink; the second gives back what was kept or
// swallowed on the way.
func (t *tide) ended() {
	if t.halves.Add(1) == 2 {
		t.room.held.Add(-t.held.Load())
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
