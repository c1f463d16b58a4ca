package links

import (
	"math"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// gateToxic is the last toxic of a flow. It looks at what passes, and holds,
// swallows or ends the stream. It never blocks: it goes on reading while it holds,
// so that a hold is not seen as a slow server until heldMax is reached.
type gateToxic struct{ *flow }

// heldMax is how much a gate holds before its source must wait, passMax how much
// when it only waits for a slow sink. Nothing is ever dropped for want of room.
const (
	heldMax = 64 << 20
	passMax = 1 << 20
)

// Pipe implements toxics.Toxic.
func (g *gateToxic) Pipe(stub *toxics.ToxicStub) {
	in := stub.Input
	defer drain(stub.Input) // after the Close: what feeds the gate must come to its end
	defer stub.Close()
	for {
		next, over := g.next()
		if over {
			return
		}
		source, out := in, stub.Output
		if g.full() {
			source = nil
		}
		if next == nil {
			out = nil
		}
		select {
		case chunk := <-source:
			if chunk == nil {
				in = nil
				g.set(func() { g.ended = true })
			} else {
				g.take(chunk.Data)
			}
		case out <- next:
			g.passed(len(next.Data))
		case <-g.gateBell:
		case <-g.conn.dead:
			return
		}
	}
}

// next is what may pass now; over says that nothing ever will.
func (g *gateToxic) next() (next *stream.StreamChunk, over bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.holes) > 0 {
		return nil, false
	}
	limit := int64(math.MaxInt64)
	for by, h := range g.holds {
		limit = min(limit, h.from)
		if !h.counted {
			h.counted = true
			for _, p := range g.queue {
				by.held(p, h.from)
			}
		}
	}
	if g.cut {
		limit = min(limit, g.cutAt)
	}
	if len(g.queue) == 0 {
		// The end of a stream is held, and swallowed, like its bytes.
		quiet := g.ended && len(g.holds) == 0 && !g.lost
		return nil, quiet || g.atCut(g.read)
	}
	head := g.queue[0]
	if limit <= head.from {
		return nil, g.atCut(head.from)
	}
	n := min(limit-head.from, int64(len(head.data)))
	return &stream.StreamChunk{Data: head.data[:n]}, false
}

// atCut says whether all has passed that a cut lets pass.
func (g *gateToxic) atCut(at int64) bool { return g.cut && g.cutAt <= at }

func (g *gateToxic) full() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.queued > heldMax || g.queued > passMax && len(g.holds) == 0
}

// passed takes n bytes off the queue.
func (g *gateToxic) passed(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	head := &g.queue[0]
	head.data, head.from, g.queued = head.data[n:], head.from+int64(n), g.queued-n
	if len(head.data) == 0 {
		g.queue = g.queue[1:]
	}
}

// take looks at a chunk and queues it. What it triggers is in force before any of
// the chunk can pass.
func (g *gateToxic) take(data []byte) {
	g.look(data)
	g.mu.Lock()
	defer g.mu.Unlock()
	p := piece{data, g.read}
	g.read += int64(len(data))
	if len(g.holes) > 0 || g.lost {
		g.lost = true
		g.tide.add(-len(data))
		for by := range g.holes {
			by.counts.bytes.Add(int64(len(data)))
		}
		return
	}
	for by, h := range g.holds {
		if h.counted {
			by.held(p, h.from)
		} // else the next look at the queue counts it
	}
	g.queue, g.queued = append(g.queue, p), g.queued+len(data)
}

// look runs the parser and the watches over a chunk.
func (g *gateToxic) look(data []byte) {
	g.mu.Lock()
	base, watches := g.read, g.watches
	g.mu.Unlock()
	seen := sight{base: base, data: data}
	if g.parser != nil {
		seen.messages, seen.err = g.parser.Feed(data)
	}
	if seen.err != nil && g.deaf == nil {
		g.deaf = seen.err
		g.conn.link.unparsed(g.flow, base, seen.err)
	}
	g.conn.link.came(g.dir, seen.messages)
	for _, w := range watches {
		for _, hit := range w.scan(seen) {
			w.fault.trigger(g.flow, hit)
		}
	}
}

// drain reads in to its end.
func drain(in <-chan *stream.StreamChunk) {
	for range in {
	}
}
