package hunt

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/story"
)

// A client that is stopped while it waits, and is granted a lock that it cannot have, is another bug than a holder that
// outlives its lease; else the one would be dismissed with the other.
func TestWhomAFaultStruck(t *testing.T) {
	setup := history.Setup{Servers: []string{"etcd-1"}, Clients: []string{"client-1", "client-2"}}
	fault := func(target string) history.Op {
		return history.Op{F: history.Fault, Fault: &history.FaultNote{Kind: "pause", Target: target}}
	}
	ops := []history.Op{fault("client-1"), {F: history.Acquire, Node: "client-1"}, fault("client-1"), fault("client-2"), fault("etcd-1"), {F: history.Write, Node: "client-1"}}
	steps := []story.Step{{Kind: story.StepFault, Op: 0}, {Kind: story.StepGrant, Node: "client-1", Op: 1}, {Kind: story.StepFault, Op: 2},
		{Kind: story.StepZombie, Node: "client-1", Op: 5}}
	for at, want := range map[int]string{0: " of the waiter", 2: " of the holder", 3: "", 4: " of a server"} {
		if got := role(setup, ops, steps, at); got != want {
			t.Errorf("the fault of %d is %q, want %q", at, got, want)
		}
	}
}
