package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// Deaths of holders that had given back a part, or had changed their mode.

func init() { maps.Copy(scenes["recovery"], deathsOfTurned) }

// deadPart is the holder of two permits that gives one back and dies, after which somebody waits for some until a time.
func deadPart(b *builder, n int32, until int64) {
	b.kind(history.Semaphore)
	b.setup.Servers, b.setup.Promise.Bound = []string{"server-1"}, 5e8
	b.gives(40*ms, b.permits(0, 10*ms, "client-1", 2, 1), 1)
	b.fault(100*ms, 150*ms, 1, "kill", "client-1")
	h := b.permits(20*ms, until, "client-2", n, 2)
	b.does(until+100*ms, h, history.Release, history.OK)
}

// deadTurned is a holder that changes its mode and dies, after which another waits until a time.
func deadTurned(b *builder, from, to, other history.Mode, answer history.Type, until int64) {
	b.kind(history.ReadWrite)
	b.setup.Servers, b.setup.Promise.Bound = []string{"server-1"}, 5e8
	b.turn(40*ms, b.as(0, 10*ms, "client-1", from, 1), to, answer)
	b.fault(100*ms, 150*ms, 1, "kill", "client-1")
	h := b.as(20*ms, until, "client-2", other, 2)
	b.does(until+100*ms, h, history.Release, history.OK)
}

var deathsOfTurned = map[string]func(*builder){
	"violated-part":              func(b *builder) { deadPart(b, 2, 5*sec) },
	"holds-part":                 func(b *builder) { deadPart(b, 2, 1300*ms) },
	"violated-part-early":        func(b *builder) { deadPart(b, 2, 600*ms) },
	"holds-part-beside-na":       func(b *builder) { deadPart(b, 1, 600*ms) }, // there is room for it
	"violated-downgraded":        func(b *builder) { deadTurned(b, exclusive, shared, exclusive, history.OK, 5*sec) },
	"holds-downgraded":           func(b *builder) { deadTurned(b, exclusive, shared, exclusive, history.OK, 1300*ms) },
	"violated-downgraded-early":  func(b *builder) { deadTurned(b, exclusive, shared, exclusive, history.OK, 600*ms) },
	"holds-downgraded-beside-na": func(b *builder) { deadTurned(b, exclusive, shared, shared, history.OK, 600*ms) },
	"violated-upgraded-early":    func(b *builder) { deadTurned(b, shared, exclusive, shared, history.OK, 600*ms) },
	"holds-upgraded-unknown-na":  func(b *builder) { deadTurned(b, shared, exclusive, shared, history.Info, 600*ms) },
	"holds-upgraded-refused-na":  func(b *builder) { deadTurned(b, shared, exclusive, shared, history.Fail, 600*ms) },
}
