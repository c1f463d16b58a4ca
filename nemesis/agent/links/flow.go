package links

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

// Direction is a direction on a link.
type Direction string

// The directions: what the client sends, and what the server sends.
const (
	Request Direction = "request"
	Answer  Direction = "answer"
)

// bell wakes a toxic whose settings have changed.
type bell chan struct{}

func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default: // it is ringing already
	}
}

// flow is one direction of one connection: what its toxics are set to, and what
// its valve holds.
type flow struct {
	conn   *conn
	dir    Direction
	parser wire.Parser // nil: nothing is understood
	broken atomic.Bool // its sink takes no more
	deaf   error       // why its parser understands no more; the valve's alone
	tide   *tide       // what is under way between its source and its sink

	delayBell, rateBell, valveBell bell

	mu      sync.Mutex
	rng     *rand.Rand
	delays  map[*Fault]spread
	rates   map[*Fault]int64
	holds   map[*Fault]*hold
	holes   map[*Fault]bool
	watches []*watch
	queue   []piece // what the valve has and has not passed on
	queued  int     // bytes of it
	read    int64   // bytes of the stream that have come to the valve
	lost    bool    // bytes were swallowed: the stream cannot go on
	ended   bool    // its source has ended
	endedAt time.Time
	cut     bool // it ends at cutAt
	cutAt   int64
}

// piece is a part of the stream at the valve.
type piece struct {
	data []byte
	from int64 // its place in the stream
}

func newFlow(c *conn, d Direction) *flow {
	f := &flow{conn: c, dir: d, tide: &tide{room: c.link.room},
		delayBell: make(bell, 1), rateBell: make(bell, 1), valveBell: make(bell, 1),
		delays: map[*Fault]spread{}, rates: map[*Fault]int64{}, holds: map[*Fault]*hold{}, holes: map[*Fault]bool{}}
	request, answer, _ := wire.New(c.link.protocol) // Open has checked it
	if f.parser = request; d == Answer {
		f.parser = answer
	}
	name := fnv.New64a()
	_, _ = name.Write([]byte(c.link.name + fmt.Sprint(d, c.number)))
	f.rng = rand.New(rand.NewPCG(c.link.seed, name.Sum64()))
	return f
}

// set changes the settings and wakes all toxics.
func (f *flow) set(change func()) {
	f.mu.Lock()
	change()
	f.mu.Unlock()
	f.delayBell.ring()
	f.rateBell.ring()
	f.valveBell.ring()
}

// hold keeps everything from a byte of the stream on.
type hold struct {
	from    int64
	counted bool // what was in the queue when the hold began is in the fault's counts
}

// hold keeps everything from a byte of the stream on, as far as it has not passed
// the valve. What has not, the valve alone knows, so it counts.
func (f *flow) hold(by *Fault, from int64) {
	f.set(func() { f.holds[by] = &hold{from: from} })
}

// severed says whether a fault ends this direction.
func (f *flow) severed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cut
}

// held counts the part of p that hold keeps.
func (f *Fault) held(p piece, from int64) {
	n := min(p.from+int64(len(p.data))-from, int64(len(p.data)))
	if n <= 0 {
		return
	}
	f.counts.bytes.Add(n)
	f.counts.first.CompareAndSwap(0, history.Raw())
}

// wait returns when d has passed (true), when b rings, or when the connection is
// dead (false).
func (f *flow) wait(d time.Duration, b bell) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-b:
	case <-f.conn.dead:
	}
	return false
}

// dead says whether the connection has been killed.
func (f *flow) dead() bool {
	select {
	case <-f.conn.dead:
		return true
	default:
		return false
	}
}
