package resource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/rpc"
	"sync"
)

// Client is a Resource at a server started by Serve. It may be used by several
// goroutines, but they share a connection: when the context of one call ends,
// the connection is given up and the others' outcomes are left open.
type Client struct {
	Key string // of the server's Rules; set before the first call

	addr string

	mu     sync.Mutex
	link   *link // nil: none open
	closed bool
}

// link is one connection. Only conn is ever closed, never the rpc.Client: so
// rpc.ErrShutdown has one meaning, that the link was known to be broken before
// this call and nothing of it was sent.
type link struct {
	conn net.Conn
	rpc  *rpc.Client
}

// Dial returns a client of the server at addr, host:port. It connects with the
// first call, and again with the next call after a connection broke; its error
// says only that addr is no address.
func Dial(addr string) (*Client, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, fmt.Errorf("resource: dial: %w", err)
	}
	return &Client{addr: addr}, nil
}

// Read implements Resource.
func (c *Client) Read(ctx context.Context, req ReadRequest) (Copies, error) {
	if err := req.Check(); err != nil {
		return Copies{}, err
	}
	return c.call(ctx, "Read", req)
}

// Write implements Resource.
func (c *Client) Write(ctx context.Context, req WriteRequest) (Copies, error) {
	if err := req.Check(); err != nil {
		return Copies{}, err
	}
	return c.call(ctx, "Write", req)
}

// Do implements Doer.
func (c *Client) Do(ctx context.Context, req EffectRequest) (Copies, error) {
	if err := req.Check(); err != nil {
		return Copies{}, err
	}
	return c.call(ctx, "Do", req)
}

// Close implements Resource.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.link == nil {
		return nil
	}
	err := c.link.conn.Close()
	c.link = nil
	return err
}

// call sends one request once.
func (c *Client) call(ctx context.Context, method string, req any) (Copies, error) {
	var answer Answer
	for {
		l, err := c.connect(ctx)
		if err != nil {
			return Copies{}, fmt.Errorf("resource: %s at %s: %w: %w", method, c.addr, ErrNoEffect, err)
		}
		// Nothing else ends a call that hangs: net/rpc knows no deadlines.
		stop := context.AfterFunc(ctx, func() { l.conn.Close() })
		err = l.rpc.Call(serviceName+"."+method, req, &answer)
		cut := !stop()
		if err != nil || cut {
			c.drop(l)
		}
		if err == nil {
			return answer.result()
		}
		if errors.Is(err, rpc.ErrShutdown) {
			continue // nothing was sent: see link; this is no second try
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return Copies{}, fmt.Errorf("resource: %s at %s: outcome unknown: %w", method, c.addr, err)
	}
}

// connect returns the open link or opens one. Its errors come before anything
// was sent. It dials outside the mutex, so a server that does not answer stalls
// no call past its own context.
func (c *Client) connect(ctx context.Context) (*link, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l, err := c.current(nil); l != nil || err != nil {
		return l, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", c.addr)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, c.Key); err != nil {
		conn.Close()
		return nil, err
	}
	return c.current(conn)
}

// current returns the open link. Where there is none it makes one of conn; a
// conn that is not needed, or comes after Close, is closed.
func (c *Client) current(conn net.Conn) (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn != nil && (c.closed || c.link != nil) {
		conn.Close()
	}
	if c.closed {
		return nil, net.ErrClosed
	}
	if conn != nil && c.link == nil {
		c.link = &link{conn: conn, rpc: rpc.NewClient(conn)}
	}
	return c.link, nil
}

// drop forgets a broken link, unless another call has replaced it already.
func (c *Client) drop(l *link) {
	l.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == l {
		c.link = nil
	}
}
