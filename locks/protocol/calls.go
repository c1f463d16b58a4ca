package protocol

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// call is one request under way.
type call struct {
	do     Do
	grant  string       // that the request names
	answer chan *Answer // gets the one answer
	// late, if set, is called with an answer that comes after its caller has gone.
	late func(*Answer)
	gone bool
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
	w := &call{do: r.Do, grant: r.Grant, answer: make(chan *Answer, 1), late: late}
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
		select {
		case <-c.failed: // which is why it is over
			return nil, c.broken
		default:
			return nil, errClosed
		}
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
			_ = c.fail(fault(Hangs, "%s was not answered %v after its limit", do, c.limits.Late))
			return
		}
		if _, err := c.Ask(context.Background(), Request{Do: DoPing}, c.limits.Ping); err != nil {
			return // Ask has told
		}
	}
}
