package links

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

// Link is the way from one client to one server. Its faults work on all of its
// connections, those that are made later included.
type Link struct {
	name, upstream string
	protocol       wire.Protocol
	seed           uint64
	tell           func(Unparsed)
	room           *room
	listener       net.Listener
	ctx            context.Context
	stop           context.CancelFunc
	running        sync.WaitGroup

	// Locks are taken in this order: a link's, a fault's, then a flow's or a turn's.
	mu     sync.Mutex
	faults []*Fault
	conns  map[*conn]bool
	stats  Stats
	closed bool
	told   map[Direction]bool // that it was not understood
	passed map[Passed]int     // messages that came, by name
}

// Stats counts what has happened on a link.
type Stats struct {
	Open     int `json:"open"`     // connections now
	Accepted int `json:"accepted"` // connections ever
	Refused  int `json:"refused"`  // of those, reset because the server could not be reached or there were too many
}

// dialLimit bounds the wait for a server that does not answer. A client that gives
// up earlier is noticed when it ends.
const dialLimit = 60 * time.Second

// slowDial is far above the time that a server takes which can be reached.
const slowDial = 100 * time.Millisecond

func listen(name, upstream string, r *room, o Options) (*Link, error) {
	at := o.Listen[name]
	if at == "" {
		at = "127.0.0.1:0"
	}
	config := net.ListenConfig{KeepAlive: -1} // the link must add no traffic of its own
	listener, err := config.Listen(context.Background(), "tcp", at)
	if err != nil {
		return nil, err
	}
	l := &Link{name: name, upstream: upstream, protocol: o.Protocol[name], seed: o.Seed, tell: o.Unparsed, room: r,
		listener: listener, conns: map[*conn]bool{}, told: map[Direction]bool{}, passed: map[Passed]int{}}
	l.ctx, l.stop = context.WithCancel(context.Background())
	l.running.Go(l.accept)
	return l, nil
}

// Addr is where the client connects, host:port.
func (l *Link) Addr() string { return l.listener.Addr().String() }

// Stats returns the counts so far.
func (l *Link) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Open = len(l.conns)
	return s
}

func (l *Link) accept() {
	for {
		client, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, say: it may pass
			time.Sleep(10 * time.Millisecond)
			continue
		}
		l.running.Go(func() { l.connect(client.(*net.TCPConn)) })
	}
}

// connect joins a client to the server, as far as the faults in force allow.
func (l *Link) connect(client *net.TCPConn) {
	l.mu.Lock()
	l.stats.Accepted++
	number := l.stats.Accepted
	reset, hole := l.welcome()
	crowded := !l.room.enter()
	if crowded {
		l.stats.Refused++
	}
	l.mu.Unlock()
	admitted := false
	switch {
	case crowded:
		abort(client)
		return
	case reset != nil:
		reset.counts.conns.Add(1)
		abort(client)
	case hole != nil:
		admitted = l.admit(newHole(l, client))
	default:
		admitted = l.dial(client, number)
	}
	if !admitted {
		l.room.leave()
	}
}

// welcome says which fault a new connection runs into. l.mu is held.
func (l *Link) welcome() (reset, hole *Fault) {
	for _, f := range l.faults {
		switch f.kind {
		case KindReset:
			reset = f
		case KindBlackhole:
			hole = f
		}
	}
	return reset, hole
}

func (l *Link) dial(client *net.TCPConn, number int) (admitted bool) {
	begin := time.Now()
	d := net.Dialer{Timeout: dialLimit, KeepAlive: -1}
	server, err := d.DialContext(l.ctx, "tcp", l.upstream)
	if err != nil {
		l.mu.Lock()
		l.stats.Refused++
		l.mu.Unlock()
		abort(client) // the nearest thing to a refusal that is left
		return false
	}
	// The request of a client that gave up must not reach a server that it never
	// reached. One that only closes its sending end, quickly, has not given up.
	if time.Since(begin) > slowDial && hungUp(client) {
		_ = client.Close()
		_ = server.Close()
		return false
	}
	return l.admit(newConn(l, number, client, server.(*net.TCPConn)))
}

// admit puts a connection under the faults in force and starts it; forget drops it.
func (l *Link) admit(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || c.server == nil && !c.swallowed() { // the black hole was healed meanwhile
		c.kill(true)
		return false
	}
	l.conns[c] = true
	for _, f := range l.faults {
		f.grip(c)
	}
	c.start()
	return true
}

// unparsed tells that a direction is not understood, once: many connections would say the same.
func (l *Link) unparsed(f *flow, from int64, err error) {
	l.mu.Lock()
	first := !l.told[f.dir]
	l.told[f.dir] = true
	l.mu.Unlock()
	if first && l.tell != nil {
		l.tell(Unparsed{Link: l.name, Direction: f.dir, Connection: f.conn.client.RemoteAddr().String(), From: from, Err: err})
	}
}

// forget drops a connection that has ended.
func (l *Link) forget(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
	l.room.leave()
}

// inject puts a fault in force on all connections.
func (l *Link) inject(f *Fault) (*Fault, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, fmt.Errorf("link %s: %s: the link is closed", l.name, f.kind)
	}
	l.faults = append(l.faults, f)
	for c := range l.conns {
		f.grip(c)
	}
	return f, nil
}

// lift takes a fault off all connections.
func (l *Link) lift(f *Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = slices.DeleteFunc(l.faults, func(g *Fault) bool { return g == f })
	for c := range l.conns {
		f.loose(c)
	}
}

func (l *Link) close() error {
	l.mu.Lock()
	l.closed = true
	for c := range l.conns {
		c.kill(true)
	}
	l.mu.Unlock()
	l.stop()
	err := l.listener.Close()
	l.running.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil // closed before
	}
	return err
}
