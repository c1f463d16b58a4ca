package libraries

import (
	"bytes"
	"net"
	"sync"

	"github.com/dlmtest/dlmtest/history"
)

// wire stamps what a client library sends for a lock library that tells nothing of its
// requests: the library's user gives it the connections, and these keep the newest
// moment at which a request was written that names a key.
type wire struct {
	// names finds the key that a request asks for; "": it asks for none.
	names func(request []byte) (key string)

	mu sync.Mutex
	at map[string]history.Stamp
}

func newWire(names func([]byte) string) *wire {
	return &wire{names: names, at: map[string]history.Stamp{}}
}

// on passes on a connection that has just been made.
func (w *wire) on(c net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	return stamped{c, w}, nil
}

// last is when a key was asked for last, and not before since.
func (w *wire) last(key string, since history.Stamp) history.Stamp {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at := w.at[key]; at.Raw > since.Raw {
		return at
	}
	return since
}

type stamped struct {
	net.Conn
	wire *wire
}

// Write stamps before it writes: no request is older than its stamp.
func (s stamped) Write(b []byte) (int, error) {
	if key := s.wire.names(b); key != "" {
		at := history.Now()
		s.wire.mu.Lock()
		s.wire.at[key] = at
		s.wire.mu.Unlock()
	}
	return s.Conn.Write(b)
}

// between finds the text between a prefix and the first of some bytes; "": it is not there.
func between(b []byte, prefix, ends string) string {
	_, rest, ok := bytes.Cut(b, []byte(prefix))
	if !ok {
		return ""
	}
	if i := bytes.IndexAny(rest, ends); i >= 0 {
		rest = rest[:i]
	}
	return string(rest)
}
