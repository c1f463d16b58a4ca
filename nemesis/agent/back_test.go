package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// A client that is to come back is started again, and what both lives have recorded is counted together. What is armed on its node
// waits for the next life at its checkpoints, and not for the one that died there.
func TestKilledClientComesBack(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: worker()})
	kill := &Arm{Fault: 1, Checkpoint: "before-write", Kind: "kill", Max: 50 * time.Millisecond, Params: Params{Back: true}}
	r.do(Command{Do: ArmCheckpoint, Arm: kill})
	r.do(Command{Do: ArmCheckpoint, Arm: &Arm{Fault: 2, Checkpoint: "before-write", Kind: "pause", Max: 50 * time.Millisecond}})
	if hit := r.until(func(m Message) bool { return m.Hit != nil }).Hit; hit.Fault != 1 {
		t.Fatalf("%+v", hit)
	}
	r.fault(1, history.Observed)
	if heal := r.fault(1, history.Heal); !heal.Fault.Back {
		t.Errorf("%+v", heal.Fault)
	}
	if hit := r.until(func(m Message) bool { return m.Hit != nil }).Hit; hit.Fault != 2 || hit.Owner != "o1" { // it counts from its start
		t.Errorf("%+v", hit)
	}
	r.fault(2, history.Heal)
	for _, m := range r.seen {
		if m.Exit != nil {
			t.Error("a planned end was reported as an exit")
		}
	}
}

// The records of the life before are not lost with it.
func TestBothLivesAreCounted(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: &Child{Argv: []string{"sh", "-c", oneOp + "sleep 60"}, Speaks: true}})
	r.until(func(m Message) bool { return m.Op != nil })
	r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "kill", Max: 50 * time.Millisecond, Params: Params{Back: true}}})
	r.fault(1, history.Heal)
	r.until(func(m Message) bool { return strings.Contains(string(m.Op), "read-seen") })
	const notes = 3 // begin, observed, heal
	r.do(Command{Do: Kill})
	if end := r.do(Command{Do: End}).End; end == nil || end.Open || end.Ops != 2+notes {
		t.Errorf("%+v", end)
	}
}
