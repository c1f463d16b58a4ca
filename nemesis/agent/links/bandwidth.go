package links

import (
	"fmt"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Bandwidth lets at most rate bytes a second pass in either direction of each
// connection. Of several the lowest rate counts.
func (l *Link) Bandwidth(rate int64) (*Fault, error) {
	if rate <= 0 {
		return nil, fmt.Errorf("link %s: bandwidth: %d bytes a second is no rate; use Blackhole or HoldRequest for none", l.name, rate)
	}
	f := newFault(l, "bandwidth", When{})
	f.grip = func(c *conn) {
		for _, flow := range c.flows() {
			flow.set(func() { flow.rates[f] = rate })
		}
	}
	f.loose = func(c *conn) {
		for _, flow := range c.flows() {
			flow.set(func() { delete(flow.rates, f) })
		}
	}
	return l.inject(f)
}

// throttleToxic lets pieces pass at a rate, in parts of at most a twentieth of a second.
type throttleToxic struct{ *flow }

// Pipe implements toxics.Toxic.
func (t *throttleToxic) Pipe(stub *toxics.ToxicStub) {
	defer stub.Close()
	var last time.Time // when the last part had left
	for c := range stub.Input {
		for data := c.Data; len(data) > 0 && !t.dead(); {
			rate := t.rate()
			if rate == 0 {
				t.send(stub, &stream.StreamChunk{Data: data})
				break
			}
			n := min(max(rate/20, 1), int64(len(data)))
			if now := time.Now(); last.Before(now) {
				last = now
			}
			last = last.Add(time.Duration(n) * time.Second / time.Duration(rate))
			for !t.wait(time.Until(last), t.rateBell) && t.rate() == rate && !t.dead() {
			}
			t.count(n)
			t.send(stub, &stream.StreamChunk{Data: data[:n]})
			data = data[n:]
		}
	}
}

// rate is the lowest in force; 0: none.
func (t *throttleToxic) rate() (least int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.rates {
		if least == 0 || r < least {
			least = r
		}
	}
	return least
}

func (t *throttleToxic) count(n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for f := range t.rates {
		f.counts.bytes.Add(n)
	}
}

// send passes a chunk on. What follows reads its input to the end, also when the
// connection is dead, so this ends.
func (f *flow) send(stub *toxics.ToxicStub, c *stream.StreamChunk) { stub.Output <- c }
