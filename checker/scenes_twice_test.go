package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of what a service answers while connections of the holder are reset, so that a library may have asked twice; and
// of whom a fault of another client may have kept waiting.
func init() {
	maps.Copy(scenes["false-loss"], refusedAtReset)
	maps.Copy(scenes["deadlock-freedom"], waitsBesideHit)
}

// refusedReset is a hold whose holder is told at 0.43 s, well within its lease, that it has none, as its connections are reset.
func refusedReset(f history.F) func(*builder) {
	return func(b *builder) {
		turns(b)
		b.setup.Servers = []string{"server-1"}
		h := b.grantOf(4*sec, 4010*ms, "client-1", 8)
		b.fault(4425*ms, 4435*ms, 1, "reset", "client-1")
		b.does(4430*ms, h, f, history.Fail)
	}
}

var refusedAtReset = map[string]func(*builder){
	"violated-renewal-at-reset": refusedReset(history.Extend), // who asks again to renew is renewed again
	"holds-release-at-reset":    refusedReset(history.Release),
}

var waitsBesideHit = map[string]func(*builder){
	"violated-key-beside-hit-votes": func(b *builder) { // who was refused before the fault has no votes out by it
		b.setup.Promise.DriftFactor = 0.01
		keyBesideHit(b, "client-3")
	},
	"violated-reader-beside-downgraded-mute": func(b *builder) { // who was hit never asked
		askingBeside(shared, exclusive, 20*sec, turned(100*ms, shared, history.OK))(b)
		b.setup.Promise.Mute = true
	},
}
