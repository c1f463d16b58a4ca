package scenarios

import (
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/nemesis"
)

// minStrobe is the shortest time between two flips of a clock: a program must see both sides.
const minStrobe = 5 * time.Millisecond

// strobe checks a clock that jumps to and fro.
func (v *validator) strobe(path string, c Clock) {
	path += ".clock"
	switch {
	case c.Strobe.IsZero() || c.Every.IsZero():
		v.problem(path, "a strobe needs both: how far, and how often, such as clock: {strobe: 200ms, every: 50ms}")
	case !c.Step.IsZero() || !c.Slew.IsZero() || c.Drift != 0 || c.SlewRate != 0:
		v.problem(path, "a strobe is a clock fault of its own; take step, slew and drift out")
	case c.Every.Leases == 0 && c.Every.Fixed < minStrobe:
		v.problem(path+".every", "%s is too short; want at least %s", c.Every, minStrobe)
	}
}

// onHolder are the checkpoints that a holder passes.
var onHolder = []string{"acquired", "before-write", "writing", "renewing", "releasing"}

// aim refuses a target that its fault cannot hit.
func (v *validator) aim(path string, f Fault) {
	const member = "a-quorum-member-of-the-holder"
	if (f.Target == member || f.From == member) && !slices.Contains(onHolder, f.On) {
		v.problem(path+".on", "the target %q needs a trigger that a holder passes, such as acquired", member)
	}
	clients := []string{"holder", "a-client", "a-waiter", "clients", "all", "resource"}
	if nemesis.OnDisk(f.Fault) && slices.Contains(clients, f.Target) {
		v.problem(path+".target", "%s hits the data folder of a server; %q has none", f.Fault, f.Target)
	}
	servers := []string{"a-server", "servers", "leader", "a-follower", "minority", "majority", "reached", member}
	if f.Back && (f.Fault != "kill" || slices.Contains(servers, f.Target)) {
		v.problem(path+".back", "it has a client start again that a kill has ended; a server is started again in any case")
	}
	if f.Fault == "kill" && f.Target == "resource" {
		v.problem(path+".target", "what was written to the resource is the evidence; it cannot be killed")
	}
}
