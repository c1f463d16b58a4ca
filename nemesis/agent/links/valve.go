package links

import (
	"math"
	"slices"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// valveToxic is the last toxic of a flow. It looks at what passes, and holds,
// swallows or ends the stream. It never blocks: it goes on reading while it holds,
// so that a hold is not seen as a slow server until heldMax is reached.
type valveToxic struct{ *flow }

// heldMax is how much a valve holds before its source must wait, passMax how much
// when it only waits for a slow sink. Nothing is ever dropped for want of room.
const (
	heldMax = 64 << 20
	passMax = 1 << 20
)

// Pipe implements toxics.Toxic.
func (v *valveToxic) Pipe(stub *toxics.ToxicStub) {
	in := stub.Input
	defer drain(stub.Input) // after the Close: what feeds the valve must come to its end
	defer stub.Close()
	for {
		next, over := v.next()
		if over {
			return
		}
		source, out := in, stub.Output
		if v.full() {
			source = nil
		}
		if next == nil {
			out = nil
		}
		select {
		case chunk := <-source:
			if chunk == nil {
				in = nil
				v.set(func() { v.ended = true })
			} else {
				v.take(chunk.Data)
			}
		case out <- next:
			v.passed(len(next.Data))
		case <-v.valveBell:
		case <-v.conn.dead:
			return
		}
	}
}

// next is what may pass now; over says that nothing ever will.
func (v *valveToxic) next() (next *stream.StreamChunk, over bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.holes) > 0 {
		return nil, false
	}
	limit := int64(math.MaxInt64)
	for by, h := range v.holds {
		limit = min(limit, h.from)
		if !h.counted {
			h.counted = true
			for _, p := range v.queue {
				by.held(p, h.from)
			}
		}
	}
	if v.cut {
		limit = min(limit, v.cutAt)
	}
	if len(v.queue) == 0 {
		// The end of a stream is held, and swallowed, like its bytes.
		quiet := v.ended && len(v.holds) == 0 && !v.lost
		return nil, quiet || v.atCut(v.read)
	}
	head := v.queue[0]
	if limit <= head.from {
		return nil, v.atCut(head.from)
	}
	n := min(limit-head.from, int64(len(head.data)))
	return &stream.StreamChunk{Data: head.data[:n]}, false
}

// atCut says whether all has passed that a cut lets pass.
func (v *valveToxic) atCut(at int64) bool { return v.cut && v.cutAt <= at }

func (v *valveToxic) full() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.queued > heldMax || v.queued > passMax && len(v.holds) == 0
}

// passed takes n bytes off the queue.
func (v *valveToxic) passed(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	head := &v.queue[0]
	head.data, head.from, v.queued = head.data[n:], head.from+int64(n), v.queued-n
	if len(head.data) == 0 {
		v.queue = v.queue[1:]
	}
}

// take looks at a chunk and queues it. What it triggers is in force before any of
// the chunk can pass.
func (v *valveToxic) take(data []byte) {
	v.look(data)
	v.mu.Lock()
	defer v.mu.Unlock()
	p := piece{slices.Clip(data), v.read} // what follows it in its array is a later piece
	v.read += int64(len(data))
	if len(v.holes) > 0 || v.lost {
		v.lost = true
		v.tide.add(-len(data))
		for by := range v.holes {
			by.counts.bytes.Add(int64(len(data)))
		}
		return
	}
	for by, h := range v.holds {
		if h.counted {
			by.held(p, h.from)
		} // else the next look at the queue counts it
	}
	v.queued += len(data)
	if last := len(v.queue) - 1; last >= 0 && len(v.queue[last].data)+len(data) <= pieceSize {
		v.queue[last].data = append(v.queue[last].data, data...) // what its sink was given of it stays as it is
		return
	}
	v.queue = append(v.queue, p)
}

// pieceSize is up to what size small pieces are put together while they wait: each takes a hundred bytes beside its own.
const pieceSize = 4096

// look runs the parser and the watches over a chunk.
func (v *valveToxic) look(data []byte) {
	v.mu.Lock()
	base, watches := v.read, v.watches
	v.mu.Unlock()
	seen := sight{base: base, data: data}
	seen.err = v.deaf
	if v.parser != nil && v.deaf == nil {
		if seen.messages, seen.err = v.parser.Feed(data); seen.err == nil {
			seen.err = v.tide.keeps(v.parser.Kept())
		}
	}
	if seen.err != nil && v.deaf == nil {
		v.parser = nil
		_ = v.tide.keeps(0) // nothing is always had
		v.deaf = seen.err
		v.conn.link.unparsed(v.flow, base, seen.err)
	}
	v.conn.link.came(v.dir, seen.messages)
	for _, w := range watches {
		for _, hit := range w.scan(seen) {
			w.fault.trigger(v.flow, hit)
		}
	}
}

// drain reads in to its end.
func drain(in <-chan *stream.StreamChunk) {
	for range in {
	}
}
