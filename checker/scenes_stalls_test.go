package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// What no stall excuses: that what was held is not, by the word of the service, and a wait that goes on for long between stalls.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"false-loss": refusedBesideStalls, "deadlock-freedom": stuckBesideStalls, "availability": dryBesideStalls,
	} {
		maps.Copy(scenes[property], more)
	}
}

// refusedStalled is a request of a holder that is answered "not held" at 0.4 s, within its lease, and a stall that ends at a time.
func refusedStalled(f history.F, node string, end int64) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1"}
		b.does(400*ms, b.grantOf(0, 10*ms, "client-1", 1), f, history.Fail)
		b.stall(end, node, 290*ms)
	}
}

var refusedBesideStalls = map[string]func(*builder){
	"violated-refused-stalled":        refusedStalled(history.Release, "client-1", 300*ms),
	"violated-refused-server-stalled": refusedStalled(history.Release, "server-1", 300*ms),
	"violated-renewal-stalled":        refusedStalled(history.Extend, "client-1", 410*ms),
	"unknown-refused-asking":          refusedStalled(history.Release, "client-1", 401*ms), // a library may ask twice
	"unknown-refused-asking-server":   refusedStalled(history.Release, "server-1", 401*ms),
	"unknown-told-stalled": func(b *builder) { // by its client, which may have stood still
		b.setup.Servers = []string{"server-1"}
		b.note(400*ms, b.grantOf(0, 10*ms, "client-1", 1), history.Lost)
		b.stall(300*ms, "client-1", 290*ms)
	},
}

// stuckStalled is a free key that is not granted for 20 s, at the end or before it, while a node stalls now and then.
func stuckStalled(atEnd bool, every int64) func(*builder) {
	return func(b *builder) {
		turns(b)
		if atEnd {
			b.op(4*sec, "runner", history.Note, history.Final, "")
			b.grantOf(4010*ms, 24*sec, "final", 1<<40)
		} else {
			b.refused(4*sec, 24*sec)
			b.final(30 * sec)
		}
		for at := 4500 * ms; at < 24*sec; at += every {
			b.stall(at, "server", 200*ms)
		}
	}
}

var stuckBesideStalls = map[string]func(*builder){
	"violated-stalled-once":   stuckStalled(false, 60*sec),
	"violated-stalled-apart":  stuckStalled(false, 8*sec),
	"unknown-stalled-often":   stuckStalled(false, 4*sec),
	"unknown-stalled-lingers": stuckStalled(false, 5500*ms), // what a stall has left behind may last for a lease
	"violated-stalled-others": func(b *builder) {
		stuckStalled(false, 60*sec)(b)
		for at := 5 * sec; at < 24*sec; at += 3 * sec {
			b.stall(at, "client-2", 200*ms)
		}
	},
	"violated-stalled-at-end":  stuckStalled(true, 60*sec),
	"unknown-stalled-till-end": stuckStalled(true, 4*sec),
}

// dryStalled is a server of three that is away for 10 s, in which nobody is granted the key, while another stalls now and then.
func dryStalled(every int64) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1", "server-2", "server-3"}
		b.session1(0, "client-1", 1)
		b.fault(sec, 11*sec, 1, "pause", "server-1")
		b.does(12100*ms, b.grantOf(1100*ms, 12*sec, "client-2", 2), history.Release, history.OK)
		for at := 1500 * ms; at < 11*sec; at += every {
			b.stall(at, "server-2", 200*ms)
		}
	}
}

var dryBesideStalls = map[string]func(*builder){
	"violated-stalled-once": dryStalled(60 * sec),
	"unknown-stalled-often": dryStalled(1500 * ms),
}
