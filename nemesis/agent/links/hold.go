package links

import "fmt"

// HoldRequest keeps what the client sends from arriving, until the heal delivers
// it: a write then arrives after its lease has ended, with no pause of the client
// (Kleppmann's delayed packet). Answers still come. At once it holds everything on
// every connection; with a When, everything from that message on, on the
// connection of that message alone, as TCP would.
func (l *Link) HoldRequest(when When) (*Fault, error) { return l.hold("hold-request", Request, when) }

// HoldAnswer keeps what the server sends from arriving, until the heal delivers it:
// the server did what it was asked, and the client does not know. With a When of
// the direction Request it is the answer to that message, and everything behind
// it: the hold is in force before the message can reach the server.
func (l *Link) HoldAnswer(when When) (*Fault, error) { return l.hold("hold-answer", Answer, when) }

func (l *Link) hold(kind Kind, dir Direction, when When) (*Fault, error) {
	if err := when.check(l.protocol); err != nil {
		return nil, fmt.Errorf("link %s: %s: %w", l.name, kind, err)
	}
	f := newFault(l, kind, when)
	release := func(c *conn) {
		for _, flow := range c.flows() {
			flow.set(func() { delete(flow.holds, f) })
		}
	}
	if when.Now() {
		f.grip = func(c *conn) {
			for _, flow := range c.flows() {
				if flow.dir == dir {
					flow.hold(f, 0) // of what has not passed yet, all
				}
			}
		}
		f.loose = release
		return l.inject(f)
	}
	f.await(func(where *flow, e event) {
		if where.dir == dir {
			where.hold(f, e.at(when))
		} else {
			where.conn.other(where).hold(f, 0)
		}
	}, release)
	return l.inject(f)
}

// at is where in the stream an event strikes.
func (e event) at(when When) int64 {
	if when.After {
		return e.to
	}
	return e.from
}
