package links

import "fmt"

// CutOn breaks the connection on which an event happens. What the same direction
// carried before the event (with When.After, the event's message too) still
// arrives; nothing more comes the other way. The client sees a reset, the server
// an end. Heal only disarms it: nothing mends a broken connection, and a new one
// works at once.
func (l *Link) CutOn(when When) (*Fault, error) {
	if err := when.check(l.protocol); err != nil {
		return nil, fmt.Errorf("link %s: cut: %w", l.name, err)
	}
	if when.Now() {
		return nil, fmt.Errorf("link %s: cut: on what event? Reset cuts at once", l.name)
	}
	f := newFault(l, "cut-link", when)
	f.await(func(where *flow, e event) {
		f.counts.conns.Add(1)
		// Never released: the answer to the last message must not get through
		// before that message has gone out and the connection breaks.
		other := where.conn.other(where)
		other.hold(f, 0)
		where.set(func() {
			where.cut, where.cutAt = true, e.at(when)
		})
	}, func(*conn) {})
	return l.inject(f)
}
