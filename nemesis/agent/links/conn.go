package links

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// conn is one connection of a client: two flows, or none when it is swallowed.
type conn struct {
	link           *Link
	number         int          // of the link's connections, from 1
	client, server *net.TCPConn // server is nil in a black hole
	request        *flow        // client to server
	answer         *flow
	dead           chan struct{} // closed by kill
	once           sync.Once
	halves         atomic.Int32 // directions that still run
}

func newConn(l *Link, number int, client, server *net.TCPConn) *conn {
	c := &conn{link: l, number: number, client: client, server: server, dead: make(chan struct{})}
	c.request, c.answer = newFlow(c, Request), newFlow(c, Answer)
	return c
}

// newHole is a connection that no server knows of.
func newHole(l *Link, client *net.TCPConn) *conn {
	return &conn{link: l, client: client, dead: make(chan struct{})}
}

// flows are the directions of the connection.
func (c *conn) flows() []*flow {
	if c.server == nil {
		return nil
	}
	return []*flow{c.request, c.answer}
}

// other is the direction opposite to f.
func (c *conn) other(f *flow) *flow {
	if f == c.request {
		return c.answer
	}
	return c.request
}

func (c *conn) start() {
	if c.server == nil {
		c.link.running.Go(func() {
			_, _ = io.Copy(io.Discard, c.client)
			<-c.dead // a client that hangs up does not end the hole: the heal does
			c.link.forget(c)
		})
		return
	}
	c.halves.Store(2)
	c.pipe(c.request, c.client, c.server)
	c.pipe(c.answer, c.server, c.client)
}

// backlog is how many pieces wait before the delay, so that each piece bears the
// time at which it came and not that at which the one before it left.
const backlog = 1024

// pipe runs one direction: source → delay → throttle → valve → sink. Everything
// ends by the end of its input, so that nothing is left running.
func (c *conn) pipe(f *flow, source, sink *net.TCPConn) {
	run := c.link.running.Go
	first := make(chan *stream.StreamChunk, backlog)
	in := (<-chan *stream.StreamChunk)(first)
	for _, t := range []toxics.Toxic{&delayToxic{f}, &throttleToxic{f}, &valveToxic{f}} {
		out := make(chan *stream.StreamChunk)
		stub := toxics.NewToxicStub(in, out)
		run(func() { t.Pipe(stub) })
		in = out
	}
	run(func() {
		w := stream.NewChanWriter(first)
		_, _ = io.Copy(w, metered{f, source}) // an error ends the stream as its end does
		f.tide.ended()
		f.mu.Lock()
		f.endedAt = time.Now()
		f.mu.Unlock()
		_ = w.Close()
	})
	run(func() {
		for chunk := range in {
			f.tide.add(-len(chunk.Data))
			if _, err := sink.Write(chunk.Data); err != nil {
				f.broken.Store(true) // read on: a held request must still arrive when its client is gone
				if c.halves.Load() == 1 {
					c.kill(false) // the other direction is over, and this one has nobody to go to
				}
			}
		}
		f.tide.ended()
		c.ended(f, sink)
	})
}

// ended closes what one direction has come to the end of.
func (c *conn) ended(f *flow, sink *net.TCPConn) {
	if sink == c.server || !f.severed() { // a client whose connection is cut sees a reset, not an end
		_ = sink.CloseWrite()
	}
	last := c.halves.Add(-1) == 0
	if last || f.severed() || c.other(f).broken.Load() {
		c.kill(f.severed())
	}
	if last {
		c.link.forget(c)
	}
}

// kill ends the connection at once. With reset the client sees a reset; else, and
// always at the server, what has been written still arrives, then an end.
func (c *conn) kill(reset bool) {
	c.once.Do(func() {
		close(c.dead)
		if reset {
			_ = c.client.SetLinger(0)
		}
		_ = c.client.Close()
		if c.server != nil {
			_ = c.server.Close()
		}
	})
}

// abort closes with a reset.
func abort(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}

// hungUp says whether the peer has closed its end, even with bytes still unread.
func hungUp(c *net.TCPConn) bool {
	gone := true
	raw, err := c.SyscallConn()
	if err != nil {
		return gone
	}
	_ = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		gone = err != nil || info.State != tcpEstablished
	})
	return gone
}

// tcpEstablished is TCP_ESTABLISHED of the kernel's net/tcp_states.h.
const tcpEstablished = 1
