package links

import (
	"fmt"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// spread is a delay that varies evenly within ±jitter.
type spread struct{ delay, jitter time.Duration }

// Latency adds rtt to each round trip, half of it in either direction, and varies
// it evenly within ±jitter (at most rtt) by the seed of the links. Order is kept: a
// piece never overtakes another. Several latencies add up.
func (l *Link) Latency(rtt, jitter time.Duration) (*Fault, error) {
	if rtt <= 0 || jitter < 0 || jitter > rtt {
		return nil, fmt.Errorf("link %s: latency %v ±%v: the first must be above 0, the second from 0 to the first", l.name, rtt, jitter)
	}
	f := newFault(l, "latency", When{})
	f.grip = func(c *conn) {
		for _, flow := range c.flows() {
			flow.set(func() { flow.delays[f] = spread{rtt / 2, jitter / 2} })
		}
	}
	f.loose = func(c *conn) {
		for _, flow := range c.flows() {
			flow.set(func() { delete(flow.delays, f) })
		}
	}
	return l.inject(f)
}

// delayToxic delays each piece by the time since it was read.
type delayToxic struct{ *flow }

// Pipe implements toxics.Toxic.
func (d *delayToxic) Pipe(stub *toxics.ToxicStub) {
	defer stub.Close()
	defer d.awaitEnd() // runs first
	for c := range stub.Input {
		if delay := d.draw(); delay > 0 {
			due := c.Timestamp.Add(delay)
			for !d.wait(time.Until(due), d.delayBell) && d.delayed() && !d.dead() {
			}
			d.note(time.Since(c.Timestamp))
		}
		if !d.dead() {
			d.send(stub, c)
		}
	}
}

// awaitEnd delays the end of the stream like its data: a packet says it, too.
func (d *delayToxic) awaitEnd() {
	delay := d.draw()
	if delay <= 0 {
		return
	}
	d.mu.Lock()
	due := d.endedAt.Add(delay)
	d.mu.Unlock()
	for !d.wait(time.Until(due), d.delayBell) && d.delayed() && !d.dead() {
	}
}

// draw is the delay of one piece.
func (d *delayToxic) draw() (sum time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var jitter time.Duration
	for _, s := range d.delays {
		sum, jitter = sum+s.delay, jitter+s.jitter
	}
	if jitter > 0 { // one draw a piece, so that a seed repeats it
		sum += time.Duration(d.rng.Int64N(int64(2*jitter)+1)) - jitter
	}
	return sum
}

// delayed says whether any latency is still in force: after a heal the rest goes
// at once.
func (d *delayToxic) delayed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.delays) > 0
}

// note counts a piece that was delayed.
func (d *delayToxic) note(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for f := range d.delays {
		f.counts.pieces.Add(1)
		f.counts.delay.Add(int64(by))
	}
}
