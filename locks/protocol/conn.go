package protocol

import (
	"context"
	"errors"
	"sync"
)

// Conn is a running adapter that has said hello: it carries requests and answers.
type Conn struct {
	p      *process
	limits Limits
	event  func(*Conn, Event) // called in order; must not block

	mu      sync.Mutex
	hello   Result
	last    int64
	waiting map[int64]*call
	grants  map[string]bool // by the names of all grants so far: not released yet
	closing bool
	broken  *Fault
	failed  chan struct{} // closed when broken is set
	over    chan struct{} // closed when nothing more is read
}

// Dial starts an adapter and says hello. event is told what it tells of its session, in
// the order of its lines, from the answer to hello on.
func Dial(ctx context.Context, cmd Command, event func(*Conn, Event)) (*Conn, error) {
	c, err := Start(cmd, event)
	if err != nil {
		return nil, err
	}
	if err := c.greet(ctx); err != nil {
		return nil, errors.Join(err, c.abandon())
	}
	return c, nil
}

// Start starts an adapter and asks nothing yet.
func Start(cmd Command, event func(*Conn, Event)) (*Conn, error) {
	cmd.Limits = cmd.Limits.orDefaults()
	p, err := start(cmd)
	if err != nil {
		return nil, err
	}
	c := &Conn{p: p, limits: cmd.Limits, event: event, waiting: map[int64]*call{}, grants: map[string]bool{},
		failed: make(chan struct{}), over: make(chan struct{})}
	go c.read()
	return c, nil
}

// Hello is what the adapter said of itself.
func (c *Conn) Hello() Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hello
}

func (c *Conn) greet(ctx context.Context) error {
	versions := []int{}
	for v := 1; v <= Version; v++ {
		versions = append(versions, v)
	}
	r, err := c.Ask(ctx, Request{Do: DoHello, Versions: versions}, c.limits.Start)
	var refused *Refusal
	if errors.As(err, &refused) {
		return c.fail(fault(NoVersion, "it refused hello, which named the versions %v: %v", versions, refused))
	}
	if err != nil {
		return err
	}
	if err := checkHello(r, versions); err != nil {
		return c.fail(err)
	}
	return nil
}

// fail records the first fault, and ends the adapter: nothing that it says from now on counts.
func (c *Conn) fail(f *Fault) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil {
		f.Last = c.p.words.last()
		c.broken = f
		close(c.failed)
		go c.p.kill()
	}
	return c.broken
}

// Failed is closed when the adapter has broken the protocol; Fault then says how.
func (c *Conn) Failed() <-chan struct{} { return c.failed }

// Fault is what the adapter did against the protocol; nil: nothing.
func (c *Conn) Fault() *Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

// Offers says whether hello named it.
func (c *Conn) Offers(name string) bool { return offers(c.Hello(), name) }
