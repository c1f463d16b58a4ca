package resource

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/rpc"
	"sync"

	"github.com/dlmtest/dlmtest/history"
)

// Serve runs a Store on a TCP address until ctx ends; see NewStore for emit.
// When it returns, every connection is closed and emit is called no more. It
// returns nil when it was stopped by ctx.
//
// The protocol is net/rpc: two typed calls need no code generator, no schema
// and no dependency, and a connection that breaks is reported as such.
func Serve(ctx context.Context, addr string, rules Rules, emit func(history.Op)) error {
	store, err := NewStore(rules, emit)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("resource: serve: %w", err)
	}
	return ServeListener(ctx, listener, store)
}

// ServeListener is Serve on a listener that is open already; it closes it.
func ServeListener(ctx context.Context, listener net.Listener, store *Store) error {
	server := rpc.NewServer()
	if err := server.RegisterName(serviceName, &service{store}); err != nil {
		listener.Close()
		return fmt.Errorf("resource: serve: %w", err)
	}
	conns := &connections{open: map[net.Conn]bool{}}
	stop := context.AfterFunc(ctx, func() { listener.Close(); conns.closeAll() })
	defer stop()
	var serving sync.WaitGroup
	defer serving.Wait()
	defer conns.closeAll()
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return nil
		}
		if err != nil {
			listener.Close()
			return fmt.Errorf("resource: accept: %w", err)
		}
		serving.Go(func() {
			if conns.add(conn) {
				if knows(conn, store.rules.Key) {
					server.ServeConn(conn) // returns after the calls under way, and closes conn
				}
				conn.Close()
				conns.remove(conn)
			}
		})
	}
}

// knows reads the key, with which each connection begins. Who has none is no client of ours:
// a lock under test that writes to the resource would forge the verdict about itself.
func knows(conn net.Conn, key string) bool {
	said := make([]byte, len(key))
	_, err := io.ReadFull(conn, said)
	return err == nil && subtle.ConstantTimeCompare(said, []byte(key)) == 1
}

// connections are the open connections of a server, to close them all at its end.
type connections struct {
	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
}

func (c *connections) add(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		conn.Close()
		return false
	}
	c.open[conn] = true
	return true
}

func (c *connections) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
}

func (c *connections) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.open {
		conn.Close()
	}
}

const serviceName = "Resource"

// service is what net/rpc sees of a Store.
type service struct{ store *Store }

// Answer is the reply of both calls, exported for net/rpc only. Refused travels
// as data, since net/rpc flattens errors to text and ErrNoEffect would be lost.
type Answer struct {
	Copies  Copies
	Refused string
}

// Read serves Resource.Read.
func (s *service) Read(req ReadRequest, answer *Answer) error {
	copies, err := s.store.Read(context.Background(), req)
	return answer.set(copies, err)
}

// Write serves Resource.Write.
func (s *service) Write(req WriteRequest, answer *Answer) error {
	copies, err := s.store.Write(context.Background(), req)
	return answer.set(copies, err)
}

// Do serves Doer.Do.
func (s *service) Do(req EffectRequest, answer *Answer) error {
	copies, err := s.store.Do(context.Background(), req)
	return answer.set(copies, err)
}

func (a *Answer) set(copies Copies, err error) error {
	if errors.Is(err, ErrNoEffect) {
		a.Refused = err.Error()
		return nil
	}
	a.Copies = copies
	return err
}

// result is the answer as the caller of Client sees it.
func (a *Answer) result() (Copies, error) {
	if a.Refused != "" {
		return Copies{}, refusal(a.Refused)
	}
	return a.Copies, nil
}

// refusal is a server's ErrNoEffect, told in its words.
type refusal string

func (r refusal) Error() string        { return string(r) }
func (r refusal) Is(target error) bool { return target == ErrNoEffect }
