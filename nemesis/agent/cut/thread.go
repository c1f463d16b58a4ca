package cut

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Thread is a TCP connection to the agent of a peer that stays open through a cut, as those of
// servers do: it shows when connections make progress again. TCP backs off while a cut lasts, so
// that is later than a ping, which is a packet of its own.
type Thread struct{ conn net.Conn }

// threadLimit is how long the peer's agent may take to accept one: an injection waits for it.
const threadLimit = 100 * time.Millisecond

// Tie opens a thread to the agent at addr, host:port.
func Tie(addr string) (*Thread, error) {
	conn, err := net.DialTimeout("tcp", addr, threadLimit)
	if err != nil {
		return nil, fmt.Errorf("thread to %s: %w", addr, err)
	}
	return &Thread{conn}, nil
}

// Pull sends what must come back, at the begin of the cut: who has something to send then has
// backed off for as long as it lasts.
func (t *Thread) Pull() error {
	_, err := t.conn.Write(magic)
	return err
}

// Await returns when what was sent has come back; an error: not by then.
func (t *Thread) Await(deadline time.Time) error {
	if err := t.conn.SetReadDeadline(deadline); err != nil {
		return err
	}
	_, err := io.ReadFull(t.conn, make([]byte, len(magic)))
	return err
}

// Close ends it.
func (t *Thread) Close() { _ = t.conn.Close() }

// threads are the connections that an Echo has accepted.
type threads struct {
	mu    sync.Mutex
	conns map[net.Conn]bool // nil: closed
}

// echo serves threads until the listener is closed.
func (t *threads) echo(l net.Listener) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(pingEvery) // out of descriptors, say
			continue
		}
		if !t.add(conn) {
			_ = conn.Close()
			return
		}
		go func() {
			_, _ = io.CopyN(conn, conn, int64(len(magic))) // what comes from others than us ends there
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
			t.mu.Lock()
			defer t.mu.Unlock()
			delete(t.conns, conn)
		}()
	}
}

func (t *threads) add(conn net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conns != nil {
		t.conns[conn] = true
	}
	return t.conns != nil
}

func (t *threads) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for conn := range t.conns {
		_ = conn.Close()
	}
	t.conns = nil
}
