package links

// KindBlackhole is asked for by each new connection.
const KindBlackhole Kind = "blackhole"

// Blackhole accepts connections and bytes and delivers none, in either direction:
// a half-open link, on which the client believes in a server that knows nothing
// of it. The end of a stream waits for the heal. New connections are not made to the
// server at all. The heal resets every connection that has lost bytes, as a
// restarted server would, and those that never had a server; the others go on.
func (l *Link) Blackhole() (*Fault, error) {
	f := newFault(l, KindBlackhole, When{})
	f.grip = func(c *conn) {
		f.counts.conns.Add(1)
		for _, flow := range c.flows() {
			flow.set(func() { flow.holes[f] = true })
		}
	}
	f.loose = func(c *conn) {
		doomed := c.server == nil
		for _, flow := range c.flows() {
			flow.set(func() {
				delete(flow.holes, f)
				doomed = doomed || flow.lost
			})
		}
		if doomed && !c.swallowed() {
			c.kill(true)
		}
	}
	return l.inject(f)
}

// swallowed says whether another black hole still has the connection. c.link.mu is held.
func (c *conn) swallowed() bool {
	for _, f := range c.link.faults {
		if f.kind == KindBlackhole {
			return true
		}
	}
	return false
}
