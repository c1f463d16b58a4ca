package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// Deaths of holders that had given back a part, or had changed their mode, and leases that are longer than that of the run.

func init() {
	maps.Copy(scenes["recovery"], deathsOfTurned)
	maps.Copy(scenes["deadlock-freedom"], keptLonger)
}

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

// keepsLonger is a holder whose lease is that long, of a lock whose leases last a second, and whose hold ends in a way; another
// waits until a time.
func keepsLonger(b *builder, lease, next int64, end func(*held)) {
	b.setup.Servers, b.setup.Promise.Bound = []string{"server-1"}, 5e8
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.longer("client-1", lease)
	end(h)
	g := b.grantOf(50*ms, next, "client-2", 2)
	b.does(next+100*ms, g, history.Release, history.OK)
	b.final(next + 5*sec)
}

// finalLonger is a holder that is asked to end and does not give back, and the final acquire of its key.
func finalLonger(b *builder, lease, next int64) {
	b.setup.Servers, b.setup.Promise.Bound = []string{"server-1"}, 5e8
	b.grantOf(0, 10*ms, "client-1", 1)
	b.longer("client-1", lease)
	b.op(500*ms, "client-1", history.Note, history.Stop, "")
	b.op(600*ms, "runner", history.Note, history.Final, "")
	b.does(next+ms, b.grantOf(610*ms, next, "final", 2), history.Release, history.OK)
}

var keptLonger = map[string]func(*builder){
	"holds-longer-dead":     func(b *builder) { keepsLonger(b, 9*sec, 9100*ms, b.dies) },
	"violated-shorter-dead": func(b *builder) { keepsLonger(b, sec, 9100*ms, b.dies) },
	"violated-longer-dead":  func(b *builder) { keepsLonger(b, 9*sec, 18*sec, b.dies) },
	"holds-longer-release-unknown": func(b *builder) {
		keepsLonger(b, 9*sec, 9100*ms, func(h *held) { b.does(100*ms, h, history.Release, history.Info) })
	},
	"violated-longer-released": func(b *builder) {
		keepsLonger(b, 9*sec, 9100*ms, func(h *held) { b.does(100*ms, h, history.Release, history.OK) })
	},
	"holds-longer-permits": func(b *builder) {
		keepsLonger(b, 9*sec, 9100*ms, b.dies)
		manyOf(b)
	},
	"violated-longer-permits": func(b *builder) {
		keepsLonger(b, 9*sec, 18*sec, b.dies)
		manyOf(b)
	},
	"holds-longer-final":     func(b *builder) { finalLonger(b, 9*sec, 9100*ms) },
	"violated-shorter-final": func(b *builder) { finalLonger(b, sec, 9100*ms) },
	"violated-longer-final":  func(b *builder) { finalLonger(b, 9*sec, 18*sec) },
}

func (b *builder) dies(h *held) { b.fault(100*ms, 150*ms, 1, "kill", h.node) }

// manyOf makes it a semaphore of two permits, of which each takes both.
func manyOf(b *builder) {
	b.kind(history.Semaphore)
	for i := range b.ops {
		if b.ops[i].F == history.Acquire {
			b.ops[i].Permits = 2
		}
	}
}
