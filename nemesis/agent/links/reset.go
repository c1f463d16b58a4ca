package links

// KindReset is asked for by each new connection.
const KindReset Kind = "reset"

// Reset breaks every connection of the link at once, with a TCP reset to the
// client, and until the heal every new one as soon as it is made.
func (l *Link) Reset() (*Fault, error) {
	f := newFault(l, KindReset, When{})
	f.grip = func(c *conn) {
		f.counts.conns.Add(1)
		c.kill(true)
	}
	f.loose = func(*conn) {}
	return l.inject(f)
}
