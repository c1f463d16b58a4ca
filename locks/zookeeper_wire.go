package locks

import (
	"encoding/binary"
	"net"
	"sync/atomic"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// zkWire is a connection to ZooKeeper that looks at its handshake, as the library
// keeps to itself what the server granted: bytes 8 to 12 of the first answer are
// the negotiated session timeout in milliseconds.
type zkWire struct {
	net.Conn
	session *zkSession
	limit   time.Duration // for the handshake
	sent    history.Stamp // when the handshake was sent
	head    [12]byte
	n       int // bytes of head that were read
	greeted atomic.Bool
}

// Write stamps the handshake, the first thing sent.
func (w *zkWire) Write(b []byte) (int, error) {
	if w.sent.Mono == 0 {
		w.sent = history.Now()
	}
	return w.Conn.Write(b)
}

// Read tells the session of a finished handshake. The leader itself opened or
// renewed the session for it, so the session lives from its send moment on.
func (w *zkWire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if w.n < len(w.head) && n > 0 {
		w.n += copy(w.head[w.n:], b[:n])
		if w.n == len(w.head) {
			w.greeted.Store(true)
			w.session.greeted(w.sent, time.Duration(binary.BigEndian.Uint32(w.head[8:]))*time.Millisecond)
		}
	}
	return n, err
}

// SetReadDeadline shortens the library's wait for the handshake, ten times its
// read timeout: behind a stopped server, which still accepts, the session would
// be over before the next server was tried.
func (w *zkWire) SetReadDeadline(t time.Time) error {
	if soon := time.Now().Add(w.limit); !w.greeted.Load() && t.After(soon) {
		t = soon
	}
	return w.Conn.SetReadDeadline(t)
}
