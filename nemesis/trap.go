package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// trap arms all clients, at a checkpoint or on a message, has the first that comes there
// hit, and disarms the rest. Of several none is hit before it has asked: what is armed
// at the others cannot be called off before they come there too.
func (s Stage) trap(ctx context.Context, clients []Victim, arm agent.Arm, sub *Subscription) (*agent.Hit, Victim, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Limit, fmt.Errorf("no client reached %s within %v", trigger(arm), s.Limit))
	defer cancel()
	granted, hitNode := false, ""
	defer func() { s.disarm(clients, hitNode, arm.Fault) }()
	arm.Asks = len(clients) > 1
	do := agent.ArmCheckpoint
	if arm.Checkpoint == "" {
		do = agent.Inject // it waits for its message
	}
	var armed atomic.Int32
	err := each(clients, func(v Victim) error {
		err := v.Command(ctx, agent.Command{Do: do, Arm: &arm})
		if err == nil {
			armed.Add(1)
		}
		return err
	})
	if armed.Load() == 0 {
		return nil, nil, err // one that an earlier fault has killed cannot be armed, and need not be
	}
	if s.Armed != nil {
		s.Armed(arm.Fault)
	}
	for {
		e, err := sub.Wait(ctx, trigger(arm), func(e Event) bool { return e.about(arm.Fault) })
		if err != nil {
			return nil, nil, err
		}
		i := slices.IndexFunc(clients, func(v Victim) bool { return v.Name() == e.Node })
		if i < 0 {
			return nil, nil, fmt.Errorf("fault %d was hit on %s, which it does not target", arm.Fault, e.Node)
		}
		if e.Hit != nil {
			hitNode = e.Node
			return e.Hit, clients[i], nil
		}
		// One that cannot be struck has died at its checkpoint: the next that asks is the one.
		granted = granted || clients[i].Command(ctx, agent.Command{Do: agent.Strike, Fault: arm.Fault}) == nil
	}
}

// about: somebody asks whether fault is to hit it, or was hit by it.
func (e Event) about(fault int) bool {
	return e.Asks != nil && e.Asks.Fault == fault || e.Hit != nil && e.Hit.Fault == fault
}

// disarm makes all clients but the one that was hit forget fault id, and ends what
// a second one may have begun before it was told.
func (s Stage) disarm(clients []Victim, hit string, id int) {
	ctx, cancel := context.WithTimeout(context.Background(), healLimit)
	defer cancel()
	_ = each(clients, func(v Victim) error { // a node that has died has nothing armed
		if v.Name() == hit {
			return nil
		}
		return errors.Join(v.Command(ctx, agent.Command{Do: agent.Disarm, Fault: id}),
			v.Command(ctx, agent.Command{Do: agent.Cancel, Fault: id}))
	})
}
