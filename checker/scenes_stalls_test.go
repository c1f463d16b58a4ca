package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// What no stall excuses: that what was held is not, by the word of the service.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"false-loss": refusedBesideStalls,
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
