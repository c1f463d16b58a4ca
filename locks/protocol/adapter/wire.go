package adapter

import (
	"bytes"
	"net"
	"sync"
)

// Wire stamps what a client library sends for a lock library that tells nothing of its
// requests: the library's user gives it the connections, and these keep the newest
// moment at which a request was written that names a key, and their number.
type Wire struct {
	names func(request []byte) (key string)

	mu    sync.Mutex
	at    map[string]int64
	asked map[string]int // how often
}

// NewWire takes what finds the key that a request asks for; "": it asks for none.
func NewWire(names func(request []byte) string) *Wire {
	return &Wire{names: names, at: map[string]int64{}, asked: map[string]int{}}
}

// On passes on a connection that has just been made. One of TCP stays one whose socket
// can be looked at, as go-redis does before it takes it from its pool.
func (w *Wire) On(c net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	if tcp, is := c.(*net.TCPConn); is {
		return stampedTCP{tcp, w}, nil
	}
	return stamped{c, w}, nil
}

// Since is when a key was asked for last, at or after a moment; ok: it was.
func (w *Wire) Since(key string, since int64) (at int64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at = w.at[key]
	return at, at >= since
}

// Asked is how often a key was asked for. A library that repeats what was not answered asks twice, and
// the answer to the second is that of a service that may have done the first.
func (w *Wire) Asked(key string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[key]
}

// note stamps before the write: no request is older than its stamp.
func (w *Wire) note(b []byte) {
	if key := w.names(b); key != "" {
		w.mu.Lock()
		w.at[key] = Monotonic()
		w.asked[key]++
		w.mu.Unlock()
	}
}

type stamped struct {
	net.Conn
	wire *Wire
}

// Write implements io.Writer.
func (s stamped) Write(b []byte) (int, error) { s.wire.note(b); return s.Conn.Write(b) }

type stampedTCP struct {
	*net.TCPConn
	wire *Wire
}

// Write implements io.Writer.
func (s stampedTCP) Write(b []byte) (int, error) { s.wire.note(b); return s.TCPConn.Write(b) }

// Between finds the text between a prefix and the first of some bytes; "": it is not there.
func Between(b []byte, prefix, ends string) string {
	_, rest, ok := bytes.Cut(b, []byte(prefix))
	if !ok {
		return ""
	}
	if i := bytes.IndexAny(rest, ends); i >= 0 {
		rest = rest[:i]
	}
	return string(rest)
}
