package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// Several releases of a part of unknown outcome, and locks whose readers can become the writer beside faults and rows of unknown
// outcomes; each with the near neighbour that must stay as it is.
func init() {
	for property, more := range map[string]map[string]func(*builder){"honest-claims": claimsSummed, "deadlock-freedom": turnsKept} {
		maps.Copy(scenes[property], more)
	}
}

// partsUnknown is a holder of all six permits that gives some back, each time without an answer; meanwhile does something. It renews from 0.5 s on,
// and is told each time how many it has.
func partsUnknown(gives, told []int32, meanwhile func(*builder)) func(*builder) {
	return func(b *builder) {
		b.kind(history.Semaphore)
		b.setup.Permits = 6
		h := b.permits(0, 10*ms, "client-1", 6, 1)
		for i, n := range gives {
			b.gave(100*ms+int64(i)*20*ms, h, n, history.Info)
		}
		meanwhile(b)
		for i, n := range told {
			b.does(500*ms+int64(i)*50*ms, h, history.Extend, history.OK)
			b.ops[len(b.ops)-1].Permits = n
		}
	}
}

// taken lets a client have so many permits for a time.
func taken(from, to int64, node string, n int32) func(*builder) {
	return func(b *builder) {
		b.does(to, b.permits(from, from+10*ms, node, n, int64(b.owners+1)), history.Release, history.OK)
	}
}

// bothOf does two things.
func bothOf(one, other func(*builder)) func(*builder) { return func(b *builder) { one(b); other(b) } }

// threeLess is a holder of three permits that gives some back without an answer, may be told what it has, and gives back more.
func threeLess(first, told, more, then int32) func(*builder) {
	return func(b *builder) {
		b.kind(history.Semaphore)
		b.setup.Permits = 3
		h := b.permits(0, 10*ms, "client-1", 3, 1)
		b.gave(100*ms, h, first, history.Info)
		renews := func(at int64, n int32) {
			b.does(at, h, history.Extend, history.OK)
			b.ops[len(b.ops)-1].Permits = n
		}
		if told > 0 {
			renews(200*ms, told)
		}
		if b.gave(300*ms, h, more, history.OK); then > 0 {
			renews(400*ms, then)
		}
	}
}

var claimsSummed = map[string]func(*builder){
	"violated-parts-sum-between":  partsUnknown([]int32{2, 2}, []int32{5}, nothing),
	"holds-parts-sum":             partsUnknown([]int32{2, 2}, []int32{4}, nothing),
	"violated-parts-sum-apart":    partsUnknown([]int32{1, 2}, []int32{5, 4}, nothing), // that of one had come, and so both have
	"holds-parts-sum-more":        partsUnknown([]int32{1, 2}, []int32{5, 3}, nothing),
	"holds-parts-sum-of-several":  partsUnknown([]int32{1, 2, 3}, []int32{3, 1}, nothing),
	"violated-parts-were-taken":   partsUnknown([]int32{1, 2}, []int32{5}, taken(200*ms, 300*ms, "client-2", 2)),
	"holds-parts-were-taken":      partsUnknown([]int32{1, 2}, []int32{4}, taken(200*ms, 300*ms, "client-2", 2)),
	"violated-parts-taken-beside": partsUnknown([]int32{1, 2}, []int32{4}, bothOf(taken(200*ms, 300*ms, "client-2", 1), taken(250*ms, 350*ms, "client-3", 2))),
	"holds-parts-taken-in-turn":   partsUnknown([]int32{1, 2}, []int32{4}, bothOf(taken(200*ms, 240*ms, "client-2", 1), taken(250*ms, 350*ms, "client-3", 2))),
	"violated-part-told-then":     threeLess(2, 1, 2, 0),
	"holds-part-told-then":        threeLess(2, 3, 2, 1), // the first one has not come, and may not
	"holds-part-maybe-last":       threeLess(2, 0, 1, 2), // so the second one was not the last
	"violated-part-was-last":      threeLess(2, 1, 1, 2),
}

// askingBeside is client-2, which asks for a lock whose readers can become the writer until a time, while client-1 is stopped, which
// has none of it; client-3 holds it in a mode and renews it, if it is said how, and changes its mode.
func askingBeside(asks, holds history.Mode, until int64, turns func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		b.kind(history.ReadWrite)
		b.setup.Promise.Changes, b.setup.Servers = true, []string{"server-1"}
		if holds != "" {
			h := b.as(0, 10*ms, "client-3", holds, 1)
			turns(b, h)
			b.renews(300*ms, until-200*ms, h)
			b.does(until-100*ms, h, history.Release, history.OK)
		}
		b.fault(200*ms, until-200*ms, 1, "pause", "client-1")
		o := b.as(400*ms, until, "client-2", asks, 2)
		b.does(until+100*ms, o, history.Release, history.OK)
		b.final(until + 2*sec)
	}
}

// unknownWrites are requests to be the writer of 3 s each, of unknown outcome, of a lock whose readers can; client-3 is stopped.
func unknownWrites(n int) func(*builder) {
	return func(b *builder) {
		b.kind(history.ReadWrite)
		b.setup.Promise.Changes, b.setup.Servers = true, []string{"server-1"}
		b.fault(4500*ms, int64(n+1)*3*sec, 1, "pause", "client-3")
		for i := range int64(n) {
			b.op(4*sec+i*3*sec, "client-2", history.Invoke, history.Acquire, "k").Mode = exclusive
			b.op(7*sec+i*3*sec-ms, "client-2", history.Info, history.Acquire, "k")
		}
		b.final(int64(n+4) * 3 * sec)
	}
}

var turnsKept = map[string]func(*builder){
	"violated-writer-beside-fault":        askingBeside(exclusive, "", 20*sec, atOnce),
	"holds-writer-beside-fault":           askingBeside(exclusive, "", 4*sec, atOnce),
	"holds-writer-beside-reader-fault":    askingBeside(exclusive, shared, 20*sec, atOnce),
	"violated-reader-beside-fault":        askingBeside(shared, shared, 20*sec, atOnce),
	"holds-reader-beside-upgraded":        askingBeside(shared, shared, 20*sec, turned(100*ms, exclusive, history.OK)),
	"holds-reader-beside-upgrade-unknown": askingBeside(shared, shared, 20*sec, turned(100*ms, exclusive, history.Info)),
	"violated-reader-beside-refused":      askingBeside(shared, shared, 20*sec, turned(100*ms, exclusive, history.Fail)),
	"violated-reader-beside-downgraded":   askingBeside(shared, exclusive, 20*sec, turned(100*ms, shared, history.OK)),
	"holds-reader-beside-downgrade":       askingBeside(shared, exclusive, 20*sec, turned(100*ms, shared, history.Info)),
	"violated-unknown-row-turns":          unknownWrites(8),
	"holds-unknown-row-turns":             unknownWrites(3),
}
