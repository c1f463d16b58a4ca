package checker

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// The definition of room beside holders, asked of every millisecond.

// roomy draws clients that wait for permits, or as readers and writers, hold them and give them back, and one fault.
func roomy(t *rapid.T) (history.Setup, []history.Op) {
	number := func(name string, least, most int64) int64 { return rapid.Int64Range(least, most).Draw(t, name) }
	b := newBuilder().kind([]history.Kind{history.Semaphore, history.ReadWrite}[number("kind", 0, 1)])
	b.setup.Lease, b.setup.Permits, b.setup.Servers = 100e6, 3, []string{"s1", "s2", "s3"}
	b.setup.Promise.Session = true
	asks := func(op *history.Op, n int64) {
		if b.setup.Kind == history.Semaphore {
			op.Permits = int32(n)
		} else {
			op.Mode = []history.Mode{shared, shared, exclusive}[n-1]
		}
	}
	for _, node := range b.setup.Clients {
		at := number("starts", 0, 60) * ms
		for range number("steps", 1, 4) {
			n, until := number("asks for", 1, 3), at+number("waits", 1, 150)*ms
			asks(b.op(at, node, history.Invoke, history.Acquire, "k"), n)
			switch number("outcome", 0, 3) {
			case 0:
				asks(b.op(until, node, history.Fail, history.Acquire, "k"), n)
			default:
				b.owners++
				h := &held{node: node, key: "k", owner: node + "/" + string(rune('a'+b.owners)), token: int64(b.owners)}
				ok := b.op(until, node, history.OK, history.Acquire, "k")
				b.claim(ok, h, until-ms)
				asks(ok, n)
				until += number("holds", 2, 200) * ms
				b.does(until, h, history.Release, history.OK)
			}
			at = until + number("then", 2, 60)*ms
		}
		if number("is left waiting", 0, 3) == 0 {
			asks(b.op(at, node, history.Invoke, history.Acquire, "k"), number("asks for", 1, 3))
		}
	}
	from := number("fault", 0, 300) * ms
	kind := []string{"pause", "kill", "reset", "latency"}[number("kind", 0, 3)]
	b.fault(from, from+number("lasts", 10, 300)*ms, 1, kind, []string{"s1", "client-1"}[number("at", 0, 1)])
	b.ops[len(b.ops)-2].Time = b.ops[len(b.ops)-3].Time // it is seen at once
	return b.done()
}

// placed is until when a wait that began may have a place in the queue.
func (b brute) placed(w trace.Wait) int64 {
	if w.Done >= 0 {
		return w.To
	}
	for _, op := range b.r.Ops {
		if op.F == history.Fault && op.Fault.Kind == "kill" && op.Fault.Phase == history.Begin && op.Fault.Target == b.r.Ops[w.Invoke].Node && op.Time >= w.From {
			return op.Time + 100*ms // what it asked for last may be granted for a lease
		}
	}
	return trace.Forever
}

// untold says that the fault kept the answer to a request back, so that what it asked for may be taken.
func (b brute) untold(w trace.Wait, in *incident) bool {
	if w.Done >= 0 && b.r.Ops[w.Done].Type == history.Fail || w.From >= min(in.to, b.r.End) || w.To <= in.from {
		return false
	}
	return slices.ContainsFunc(b.r.Faults, func(f *trace.Fault) bool {
		return f.Target == b.r.Ops[w.Invoke].Node && f.Kind != "latency" && f.From < w.To && w.From < f.To
	})
}

// roomAt says whether, at t, each of those who wait could be let in.
func (b brute) roomAt(k *keyLog, in *incident, t int64) bool {
	taken, alone := int64(0), false
	takes := func(invoke int) {
		op := &b.r.Ops[invoke]
		taken, alone = taken+int64(op.Permits), alone || op.Mode == exclusive
	}
	for _, g := range k.Grants {
		to := g.End
		for i := range b.r.Ops {
			if op := &b.r.Ops[i]; op.F == history.Release && op.Type == history.OK && op.Owner == g.Owner {
				to = max(to, op.Time)
			}
		}
		if g.OK <= t && t < to {
			takes(g.Invoke)
		}
	}
	most := int64(1) // nobody can ask for less
	for _, w := range k.Waits {
		if w.From > t || t >= b.placed(w) {
			continue
		}
		op := &b.r.Ops[w.Invoke]
		if most = max(most, int64(op.Permits)); b.untold(w, in) {
			takes(w.Invoke)
		}
		alone = alone || op.Mode == exclusive // it may be the first of the queue
	}
	if b.r.Setup.Kind == history.Semaphore {
		return taken+most <= 3
	}
	return !alone
}

// fullIn is what is left of the times of holds as those are taken out by whose begin there has been room for a quarter of a lease, or from the
// begin of the history on.
func (b brute) fullIn(k *keyLog, in *incident, held []trace.Span) (full []trace.Span) {
	since := b.r.Begin
	for t := b.r.Begin; t < b.r.End; t += ms {
		if !b.roomAt(k, in, t) {
			since = t + ms + 25*ms
		}
		for _, h := range held {
			if h.From <= t && t < h.To && t < since {
				full = append(full, trace.Span{From: t, To: t + ms})
			}
		}
	}
	return trace.Union(full)
}

func TestDroughtBesideHoldersAgrees(t *testing.T) {
	seen := map[bool]int{}
	for range 4 {
		checkAnew(t, func(t *rapid.T) {
			r := newRun(roomy(t))
			for _, k := range r.keys {
				for _, in := range r.incidents() {
					plainFrom, plainTo := brute{r}.drought(k, in)
					in.room = true
					from, to := brute{r}.drought(k, in)
					if d := r.drought(k, in); d.from != from || d.to != to {
						for _, op := range r.Ops {
							t.Logf("%3d %4d %s %d %s %s %d %s %v", op.Index, (op.Time-origin)/ms, op.Node, op.Process, op.Type, op.F, op.Permits, op.Mode, op.Fault)
						}
						t.Fatalf("in [%d, %d]: [%d, %d], want [%d, %d]", in.from/ms, in.to/ms, d.from/ms, d.to/ms, from/ms, to/ms)
					}
					seen[to-from > plainTo-plainFrom]++
				}
			}
		})
	}
	if seen[true] < 20 || seen[false] < 20 {
		t.Errorf("one-sided: %v", seen)
	}
	t.Logf("%v", seen)
}
