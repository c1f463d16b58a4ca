package protocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Conn is a running adapter that has said hello: it carries requests and answers.
type Conn struct {
	p      *process
	limits Limits
	hello  Result
	event  func(Event) // called in order; must not block

	mu      sync.Mutex
	last    int64
	waiting map[int64]*call
	grants  map[string]bool // names of all grants so far
	closing bool
	broken  *Fault
	failed  chan struct{} // closed when broken is set
	over    chan struct{} // closed when nothing more is read
}

// call is one request under way.
type call struct {
	do     Do
	answer chan *Answer // gets the one answer
	// late, if set, is called with an answer that comes after its caller has gone.
	late func(*Answer)
	gone bool
}

// Dial starts an adapter and says hello. event is told what it tells of its session.
func Dial(ctx context.Context, cmd Command, event func(Event)) (*Conn, error) {
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
func Start(cmd Command, event func(Event)) (*Conn, error) {
	cmd.Limits = cmd.Limits.orDefaults()
	p, err := start(cmd)
	if err != nil {
		return nil, err
	}
	c := &Conn{p: p, limits: cmd.Limits, event: event, waiting: map[int64]*call{}, grants: map[string]bool{}, failed: make(chan struct{}), over: make(chan struct{})}
	go c.read()
	return c, nil
}

// Hello is what the adapter said of itself.
func (c *Conn) Hello() Result { return c.hello }

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
	c.hello = *r
	return nil
}

// Refusal is an answer of an adapter that is an error.
type Refusal struct {
	Do      Do
	Code    Code
	Message string
}

// Error implements error.
func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s (%s)", r.Do, r.Message, r.Code) }

// ErrLate says that an answer did not come in time: the outcome is unknown.
var ErrLate = errors.New("no answer in time")

var errClosed = errors.New("the session was closed meanwhile")

// Ask sends r and waits for its answer, until ctx ends or limit has passed; limit 0: ctx
// alone decides. The error is a *Fault, a *Refusal, or one that matches ErrLate.
func (c *Conn) Ask(ctx context.Context, r Request, limit time.Duration) (*Result, error) {
	return c.ask(ctx, r, limit, nil)
}

func (c *Conn) ask(ctx context.Context, r Request, limit time.Duration, late func(*Answer)) (*Result, error) {
	w := &call{do: r.Do, answer: make(chan *Answer, 1), late: late}
	id, err := c.enter(w)
	if err != nil {
		return nil, err
	}
	r.ID = id
	if err := c.p.send(r); err != nil {
		return nil, c.unsent(err)
	}
	timeout, stop := after(limit)
	defer stop()
	select {
	case a := <-w.answer:
		return a.result(r.Do)
	case <-c.failed:
		return nil, c.broken
	case <-c.over:
		return nil, errClosed
	case <-timeout:
		return nil, c.fail(fault(Hangs, "it did not answer %s within %v", r.Do, limit))
	case <-ctx.Done():
	}
	c.leave(id, w)
	select {
	case a := <-w.answer: // it came at the last moment
		return a.result(r.Do)
	default:
		return nil, fmt.Errorf("%s: %w: %w", r.Do, ErrLate, ctx.Err())
	}
}

func (a *Answer) result(do Do) (*Result, error) {
	if a.Error != nil {
		return nil, &Refusal{do, a.Error.Code, a.Error.Message}
	}
	return a.OK, nil
}

// after is a limit that counts while this process runs.
func after(limit time.Duration) (<-chan struct{}, func()) {
	if limit == 0 {
		return nil, func() {}
	}
	done, passed := make(chan struct{}), make(chan struct{})
	go func() {
		if !within(limit, done) {
			close(passed)
		}
	}()
	return passed, sync.OnceFunc(func() { close(done) })
}

// enter takes the next id.
func (c *Conn) enter(w *call) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return 0, c.broken
	}
	c.last++
	c.waiting[c.last] = w
	return c.last, nil
}

// unsent explains why a request could not be written: mostly because the adapter has
// died, which its reader will notice too, and say better.
func (c *Conn) unsent(err error) error {
	var f *Fault
	if errors.As(err, &f) {
		return c.fail(f)
	}
	if within(time.Second, c.failed) {
		return c.broken
	}
	return c.fail(fault(Died, "a request could not be written: %v", err))
}

// leave gives up a call; its answer is still owed, and so is its adapter's life.
func (c *Conn) leave(id int64, w *call) {
	c.mu.Lock()
	w.gone = true
	c.mu.Unlock()
	go c.owed(id, w.do)
}

// owed looks after a request whose caller has gone. An adapter that answers a ping lives,
// and it is its library that waits; one that does not is hung.
func (c *Conn) owed(id int64, do Do) {
	for !within(c.limits.Late, c.over) {
		c.mu.Lock()
		_, open := c.waiting[id]
		stop := !open || c.closing || c.broken != nil
		c.mu.Unlock()
		if stop {
			return
		}
		if !c.Offers(OfferConcurrent) {
			c.fail(fault(Hangs, "%s was not answered %v after its limit", do, c.limits.Late))
			return
		}
		if _, err := c.Ask(context.Background(), Request{Do: DoPing}, c.limits.Ping); err != nil {
			return // Ask has told
		}
	}
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
func (c *Conn) Offers(name string) bool { return offers(c.hello, name) }

// read passes on what the adapter prints until it ends.
func (c *Conn) read() {
	defer close(c.over)
	in := NewReader(c.p.stdout)
	for {
		a, e, err := in.Next()
		var f *Fault
		switch {
		case errors.As(err, &f):
			_ = c.fail(f)
			_, _ = io.Copy(io.Discard, c.p.stdout) // it must not block before it is killed
			return
		case err != nil:
			c.ended()
			return
		case e != nil:
			c.event(*e)
		default:
			c.take(a)
		}
	}
}

// ended is called at the end of the adapter's stdout.
func (c *Conn) ended() {
	ended := within(c.limits.End, c.p.ended)
	c.mu.Lock()
	closing := c.closing
	c.mu.Unlock()
	switch {
	case closing:
	case ended:
		_ = c.fail(fault(Died, "it has ended unasked: %s", c.p.how()))
	default:
		_ = c.fail(fault(Died, "it has closed its stdout"))
	}
}

// take gives an answer to who waits for it.
func (c *Conn) take(a *Answer) {
	c.mu.Lock()
	w, known := c.waiting[a.ID]
	delete(c.waiting, a.ID)
	asked := a.ID <= c.last
	gone := known && w.gone
	twice := false
	if known && a.OK != nil && (w.do == DoAcquire || w.do == DoTry) {
		twice = c.grants[a.OK.Grant]
		c.grants[a.OK.Grant] = true // here, where events are read too: they may follow at once
	}
	if known && !gone && !twice {
		w.answer <- a // has room for the one
	}
	c.mu.Unlock()
	switch {
	case !known && asked:
		_ = c.fail(fault(Twice, "it answered request %d a second time", a.ID))
	case !known:
		_ = c.fail(fault(Unasked, "it answered request %d, and only %d were asked", a.ID, c.last))
	case twice:
		_ = c.fail(fault(Mistaken, "the grant %q was named before; each acquire needs a name of its own", clip(a.OK.Grant)))
	case gone && w.late != nil:
		go w.late(a)
	}
}

// granted says whether the adapter has granted this.
func (c *Conn) granted(grant string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.grants[grant]
}
