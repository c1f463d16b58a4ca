package protocol

import "context"

// Close asks the adapter to end: close, then the end of its stdin, then SIGKILL for it
// and for all that it has started. It returns the adapter's fault, if it has one.
func (c *Conn) Close() error {
	c.mu.Lock()
	again := c.closing
	c.closing = true
	c.mu.Unlock()
	if again {
		<-c.p.ended
		return nil
	}
	if c.Fault() != nil {
		return c.abandon()
	}
	_, asked := c.Ask(context.Background(), Request{Do: DoClose}, c.limits.Close)
	f := c.p.end(c.limits.End)
	<-c.over
	switch said := c.Fault(); {
	case asked != nil:
		return asked
	case f != nil:
		return c.fail(f)
	case said != nil: // after its answer
		return said
	}
	return nil
}

// Drop ends the adapter's stdin with no word before, as a client that dies does. A fault:
// it did not end with it.
func (c *Conn) Drop() error {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	f := c.p.end(c.limits.End)
	<-c.over
	if f != nil {
		return c.fail(f)
	}
	return nil
}

// abandon ends an adapter that is not asked any more.
func (c *Conn) abandon() error {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	_ = c.p.stdin.Close()
	c.p.kill()
	<-c.p.ended
	users.give(c.p.user)
	_ = c.p.stdout.Close()
	<-c.over
	return nil
}
