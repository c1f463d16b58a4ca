package protocol

import (
	"errors"
	"io"
	"time"
)

// read passes on what the adapter prints until it ends.
func (c *Conn) read() {
	defer close(c.over)
	in := NewReader(c.p.stdout)
	var allowed allowance
	for {
		a, e, err := in.Next()
		if err == nil && !allowed.take(in.size, e != nil, time.Now()) {
			err = fault(Floods, "it has told more than %d bytes at once and %d a second, in events and long answers",
				allowedAtOnce, allowedASecond)
		}
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
			c.tell(*e)
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
		_, twice = c.grants[a.OK.Grant]
		c.grants[a.OK.Grant] = true // here, where events are read too: they may follow at once
	}
	if known && a.OK != nil && w.do == DoHello {
		c.hello = *a.OK // for the same reason
	}
	if known && a.OK != nil && w.do == DoRelease {
		c.grants[w.grant] = false
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

// tell passes on an event. Before hello nobody knows what is offered, nor who listens.
func (c *Conn) tell(e Event) {
	if c.Hello().Name == "" {
		_ = c.fail(fault(Mistaken, "it told %s before it had answered hello", e.Event))
		return
	}
	c.event(c, e)
}

// Granted says whether the adapter has granted this, and whether it has not released it
// since, as far as it has been read.
func (c *Conn) Granted(grant string) (granted, held bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	held, granted = c.grants[grant]
	return granted, held
}
