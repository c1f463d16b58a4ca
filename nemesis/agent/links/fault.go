package links

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// Kind names a fault of a link, as scenarios do.
type Kind string

// Fault is a fault that is in force on a link, or waits there for its event.
type Fault struct {
	kind Kind
	link *Link
	when When

	// What it does to a connection, and how to undo that. link.mu is held.
	grip, loose func(*conn)
	// strike is what its event does; f.mu is held, so that no heal comes between.
	strike func(*flow, event)

	hit     chan Hit
	counts  counts
	trouble atomic.Pointer[string] // no lock: who asks may be waited for by who holds mu

	mu     sync.Mutex
	since  int64
	until  int64 // 0: not healed
	turn   *Turn
	struck *Hit
}

// counts is what a fault has done, from many connections at once.
type counts struct {
	bytes, pieces, conns atomic.Int64
	delay                atomic.Int64 // ns, the sum over pieces
	first                atomic.Int64 // raw ns of the first byte held
}

// Hit is the event that triggered a fault.
type Hit struct {
	At         int64  `json:"at"` // raw MONOTONIC, ns: before any byte of the event could go on
	Message    string `json:"message"`
	Connection string `json:"connection"` // the client's address
}

// Proof is what a fault has been seen to do.
type Proof struct {
	Kind        Kind          `json:"kind"`
	Since       int64         `json:"since"`           // raw MONOTONIC, ns
	Until       int64         `json:"until,omitempty"` // 0: still in force
	Hit         *Hit          `json:"hit,omitempty"`
	Bytes       int64         `json:"bytes,omitempty"`       // held, swallowed, or slowed down
	Pieces      int64         `json:"pieces,omitempty"`      // delayed
	Delay       time.Duration `json:"delay,omitempty"`       // mean of one direction
	Held        time.Duration `json:"held,omitempty"`        // of the first byte
	Connections int64         `json:"connections,omitempty"` // closed or swallowed
	Trouble     string        `json:"trouble,omitempty"`     // why the event could not be seen
}

func newFault(l *Link, kind Kind, when When) *Fault {
	turn := when.Turn
	if turn == nil {
		turn = NewTurn(when.Skip)
	}
	return &Fault{kind: kind, link: l, when: when, turn: turn, since: history.Raw(), hit: make(chan Hit, 1)}
}

// Hit receives the event that the fault waits for, once.
func (f *Fault) Hit() <-chan Hit { return f.hit }

// Heal ends the fault: what it holds is delivered, in order. A fault that still
// waits for its event is disarmed. It may be called again.
func (f *Fault) Heal() error {
	f.mu.Lock()
	healed := f.until != 0
	if !healed {
		f.until = history.Raw()
	}
	f.mu.Unlock()
	if !healed {
		f.link.lift(f)
	}
	return nil
}

// trigger lets an event strike, unless the fault has been struck or healed.
func (f *Fault) trigger(where *flow, e event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.struck != nil || f.until != 0 || !f.turn.take() {
		return
	}
	f.struck = &Hit{At: history.Raw(), Message: e.name, Connection: where.conn.client.RemoteAddr().String()}
	f.strike(where, e)
	f.hit <- *f.struck
}

// deaf notes that the protocol of a connection is not understood.
func (f *Fault) deaf(err error) {
	text := err.Error()
	f.trouble.Store(&text)
}

// Trouble is why a message may have passed unseen; empty: no protocol was not understood.
func (f *Fault) Trouble() string {
	if text := f.trouble.Load(); text != nil {
		return *text
	}
	return ""
}

// await makes a fault wait for its event on every connection.
func (f *Fault) await(strike func(*flow, event), loose func(*conn)) {
	f.strike = strike
	f.grip = func(c *conn) {
		for _, flow := range c.flows() {
			if flow.dir == f.when.Direction || flow.dir == Request && f.when.Direction == "" {
				w := &watch{fault: f, when: f.when}
				flow.set(func() { flow.watches = append(flow.watches[:len(flow.watches):len(flow.watches)], w) })
			}
		}
	}
	f.loose = func(c *conn) {
		for _, flow := range c.flows() {
			flow.set(func() { flow.unwatch(f) })
		}
		loose(c)
	}
}

// unwatch forgets the watches of a fault; the valve may be reading the old list.
func (f *flow) unwatch(by *Fault) {
	var left []*watch
	for _, w := range f.watches {
		if w.fault != by {
			left = append(left, w)
		}
	}
	f.watches = left
}

// Proof returns what has been seen so far, or was seen until the heal.
func (f *Fault) Proof() Proof {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := Proof{Kind: f.kind, Since: f.since, Until: f.until, Hit: f.struck, Bytes: f.counts.bytes.Load(),
		Pieces: f.counts.pieces.Load(), Connections: f.counts.conns.Load()}
	p.Trouble = f.Trouble()
	if p.Pieces > 0 {
		p.Delay = time.Duration(f.counts.delay.Load() / p.Pieces)
	}
	if first := f.counts.first.Load(); first != 0 {
		end := f.until
		if end == 0 {
			end = history.Raw()
		}
		p.Held = time.Duration(end - first)
	}
	return p
}

// Seen says whether the fault was observed to do anything to the victim.
func (p Proof) Seen() bool { return p.Bytes > 0 || p.Pieces > 0 || p.Connections > 0 }

// String is the proof in words.
func (p Proof) String() string {
	s := fmt.Sprintf("%s: %d bytes", p.Kind, p.Bytes)
	if p.Pieces > 0 {
		s = fmt.Sprintf("%s: %d pieces delayed by %.1f ms each way", p.Kind, p.Pieces, float64(p.Delay.Microseconds())/1000)
	}
	if p.Connections > 0 {
		s += fmt.Sprintf(", %d connections", p.Connections)
	}
	if p.Held > 0 {
		s += fmt.Sprintf(", the first held for %.3f s", p.Held.Seconds())
	}
	if p.Hit != nil {
		s += fmt.Sprintf(", at %q on %s", p.Hit.Message, p.Hit.Connection)
	}
	if p.Trouble != "" {
		s += ", " + p.Trouble
	}
	return s
}
