package checker

import "github.com/dlmtest/dlmtest/history"

// again is a key that client-1 is granted, gives back until 21 ms, as told, and asks for
// from 30 ms to an end.
func again(b *builder, given history.Type, to int64, end history.Type) {
	b.kind(history.Alone)
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.does(20*ms, h, history.Release, given)
	if end == history.OK {
		h := b.grantOf(30*ms, to, "client-1", 2)
		b.does(to+ms, h, history.Release, history.OK)
		return
	}
	b.op(30*ms, "client-1", history.Invoke, history.Acquire, "k")
	b.op(to, "client-1", end, history.Acquire, "k")
}

// inTime and tooLate are at the limit of a lease of a second.
const (
	inTime  = 780 * ms
	tooLate = inTime + 1
)

// besides is a wait of a whole lease, and something else.
func besides(does func(*builder)) func(*builder) {
	return func(b *builder) {
		again(b, history.OK, sec+40*ms, history.OK)
		does(b)
	}
}

// pendingBeside is an acquire that was never answered, and what another process of its client asks for at a time.
func pendingBeside(at int64) func(*builder) {
	return func(b *builder) {
		again(b, history.OK, 40*ms, history.OK)
		b.op(50*ms, "client-1", history.Invoke, history.Acquire, "k")
		b.process["client-1"] = 77
		b.op(at, "client-1", history.Invoke, history.Acquire, "other")
		b.op(at+ms, "client-1", history.Fail, history.Acquire, "other")
		b.op(sec, "client-2", history.Note, history.Final, "")
	}
}

func tries(b *builder, from, to int64) { b.refuse(from, to, "client-2", history.Try, 0) }

var frees = map[string]func(*builder){
	"holds":            func(b *builder) { again(b, history.OK, 40*ms, history.OK) },
	"holds-limit":      func(b *builder) { again(b, history.OK, inTime, history.OK) },
	"violated-limit":   func(b *builder) { again(b, history.OK, tooLate, history.OK) },
	"violated":         besides(func(*builder) {}),
	"violated-told":    func(b *builder) { again(b, history.Fail, sec, history.OK) }, // told that it held nothing
	"violated-refused": func(b *builder) { again(b, history.OK, sec, history.Fail) },
	"violated-error":   func(b *builder) { again(b, history.OK, sec, history.Info) },
	"unknown-given-up": func(b *builder) { again(b, history.OK, 500*ms, history.Fail) },
	"unknown-released": func(b *builder) { again(b, history.Info, sec, history.OK) }, // it may hold it still
	"unknown-first":    func(b *builder) { b.kind(history.Alone); b.session1(0, "client-1", 1) },
	"violated-first": func(b *builder) { // nobody ever had it
		b.kind(history.Alone)
		b.grantOf(0, sec, "client-1", 1)
	},
	"unknown-held": besides(func(b *builder) { b.grantOf(-20*ms, -10*ms, "client-2", 3) }),
	"unknown-asked": besides(func(b *builder) { // before it, and not answered
		b.op(-10*ms, "client-2", history.Invoke, history.Acquire, "k")
	}),
	"unknown-open":         besides(func(b *builder) { tries(b, -20*ms, 30*ms) }),
	"violated-before":      besides(func(b *builder) { tries(b, -20*ms, 30*ms-1) }),
	"unknown-beside":       besides(func(b *builder) { tries(b, inTime, 790*ms) }),
	"violated-afterwards":  besides(func(b *builder) { tries(b, tooLate, 790*ms) }),
	"violated-another-key": besides(func(b *builder) { b.setup.Keys = []string{"k", "l"}; b.grant(0, 5*ms, "client-2", "l", 1) }),
	// A fault of another may be one of the lock's, and a lease after it goes by.
	"unknown-pause":      besides(func(b *builder) { b.fault(100*ms, 200*ms, 1, "pause", "server-1") }),
	"violated-bystander": besides(func(b *builder) { b.fault(100*ms, 200*ms, 1, "pause", "client-2") }), // its own alone, though nobody names the servers
	"unknown-aftermath":  besides(func(b *builder) { b.fault(-sec, -970*ms, 1, "pause", "server-1") }),
	"violated-long-ago":  besides(func(b *builder) { b.fault(-sec, -970*ms-1, 1, "pause", "server-1") }),
	"violated-later":     besides(func(b *builder) { b.fault(tooLate, 900*ms, 1, "pause", "client-1") }),
	"unknown-dead": besides(func(b *builder) {
		b.setup.Servers = []string{"server-1"}
		b.fault(-5*sec, -4*sec, 1, "kill", "server-1")
	}),
	"unknown-slow":     besides(func(b *builder) { b.slow(0, 2*sec, 1, "client-1", 32*ms) }),
	"violated-slight":  besides(func(b *builder) { b.slow(0, 2*sec, 1, "client-1", sec/32) }),
	"unknown-slowness": besides(func(b *builder) { b.slow(0, 2*sec, 1, "client-1", 0) }),
	"unknown-stall":    besides(func(b *builder) { b.stall(500*ms, "server-1", 200*ms) }),
	"holds-mute-na":    besides(func(b *builder) { b.setup.Promise.Mute = true }),
	"holds-quorum-na":  besides(func(b *builder) { b.setup.Promise.DriftFactor = 0.01 }),
	"unknown-short":    besides(func(b *builder) { b.setup.Lease = 999 * 1e6 }),
	"unknown-pending": func(b *builder) {
		again(b, history.OK, 40*ms, history.OK)
		b.op(50*ms, "client-1", history.Invoke, history.Acquire, "k")
		b.op(sec, "client-2", history.Note, history.Final, "")
	},
	"unknown-pending-limit": func(b *builder) { // at the very end
		again(b, history.OK, 40*ms, history.OK)
		b.op(50*ms, "client-1", history.Invoke, history.Acquire, "k")
		b.op(800*ms, "client-2", history.Note, history.Final, "")
	},
	"holds-pending": func(b *builder) { // it may be answered yet
		again(b, history.OK, 40*ms, history.OK)
		b.op(50*ms, "client-1", history.Invoke, history.Acquire, "k")
		b.op(700*ms, "client-2", history.Note, history.Final, "")
	},
	"violated-pending": func(b *builder) { // it lived on, and was not answered
		again(b, history.OK, 40*ms, history.OK)
		b.op(50*ms, "client-1", history.Invoke, history.Acquire, "k")
		b.op(801*ms, "client-1", history.Note, history.Stop, "")
	},
	"holds-pending-limit": func(b *builder) {
		again(b, history.OK, 40*ms, history.OK)
		b.op(50*ms, "client-1", history.Invoke, history.Acquire, "k")
		b.op(800*ms, "client-1", history.Note, history.Stop, "")
	},
	"unknown-pending-thread":  pendingBeside(500 * ms), // for how much longer it was not answered nobody knows
	"violated-pending-thread": pendingBeside(801 * ms),
	"unknown-final":           besides(func(b *builder) { b.op(25*ms, "runner", history.Note, history.Final, "") }),
}
