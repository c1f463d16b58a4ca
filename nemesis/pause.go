package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/agent"
)

// pause stops one node. A client is stopped by its own agent at the gate, within
// microseconds; a server while some client is held at the gate.
func pause(ctx context.Context, s Stage, f Fault, id int) error {
	targets, err := s.targets(f)
	if err != nil {
		return err
	}
	sub := s.Feed.Subscribe()
	defer sub.Close()
	if f.On == "" || !s.isClient(targets[0]) {
		return pauseNow(ctx, s, f, id, targets[0], sub)
	}
	arm := agent.Arm{Fault: id, Gate: f.On, Action: agent.PauseChild, Min: f.Min, Max: f.Max}
	hit, victim, err := s.trap(ctx, targets, arm, sub)
	if err != nil {
		return err
	}
	// From here on the victim is stopped. Its agent ends that at Max in any case.
	defer s.end(victim, id)
	if hit.Error != "" {
		return fmt.Errorf("pause of %s: %s", victim.Name(), hit.Error)
	}
	return s.until(ctx, f, id, victim, hit, sub)
}

// trap arms all targets, waits for the first that is hit, and disarms the rest.
func (s Stage) trap(ctx context.Context, targets []Victim, arm agent.Arm, sub *Subscription) (*agent.Hit, Victim, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Limit, fmt.Errorf("no client reached the gate %q within %v", arm.Gate, s.Limit))
	defer cancel()
	hitNode := ""
	defer func() { s.disarm(targets, hitNode, arm.Fault) }()
	if err := each(targets, func(v Victim) error {
		return v.Command(ctx, agent.Command{Do: agent.ArmGate, Arm: &arm})
	}); err != nil {
		return nil, nil, err
	}
	e, err := sub.Wait(ctx, "the gate "+arm.Gate, func(e Event) bool { return e.Hit != nil && e.Hit.Fault == arm.Fault })
	if err != nil {
		return nil, nil, err
	}
	hitNode = e.Node
	for _, v := range targets {
		if v.Name() == e.Node {
			return e.Hit, v, nil
		}
	}
	return nil, nil, fmt.Errorf("fault %d was hit on %s, which it does not target", arm.Fault, e.Node)
}

// disarm makes all targets but the one that was hit forget fault id, and ends what
// a second one may have begun before it was told.
func (s Stage) disarm(targets []Victim, hit string, id int) {
	ctx, cancel := context.WithTimeout(context.Background(), healLimit)
	defer cancel()
	_ = each(targets, func(v Victim) error { // a node that has died has nothing armed
		if v.Name() == hit {
			return nil
		}
		return errors.Join(v.Command(ctx, agent.Command{Do: agent.Disarm, Fault: id}),
			v.Command(ctx, agent.Command{Do: agent.Resume, Fault: id}))
	})
}

// healLimit bounds a command that heals; the agents heal by themselves at Max.
const healLimit = 5 * time.Second

// end heals fault id on v, also after a cancel, and waits until it is over.
func (s Stage) end(v Victim, id int) {
	ctx, cancel := context.WithTimeout(context.Background(), healLimit)
	defer cancel()
	_ = v.Command(ctx, agent.Command{Do: agent.Resume, Fault: id}) // a dead node cannot be healed; Exit tells of it
}

// until waits for what ends the fault. Its limits are kept by the agent.
func (s Stage) until(ctx context.Context, f Fault, id int, victim Victim, hit *agent.Hit, sub *Subscription) error {
	over := overOn(victim, id)
	switch f.Until {
	case UntilWriteAccepted:
		e, err := sub.Wait(ctx, "a write of another client", func(e Event) bool {
			return over(e) || othersWrite(e, hit)
		})
		if err != nil || over(e) {
			return err // over: no other wrote before Max
		}
	case UntilOtherHasRead:
		return s.untilOtherHasRead(ctx, f, id, victim, hit)
	}
	s.end(victim, id)
	_, err := sub.Wait(ctx, "the end of the pause", over)
	return err
}

// overOn matches the end of fault id on v; another node's is no end.
func overOn(v Victim, id int) func(Event) bool {
	return func(e Event) bool { return e.Over != nil && e.Over.Fault == id && e.Node == v.Name() }
}

// othersWrite: the resource accepted a write on another grant than the victim's.
func othersWrite(e Event, hit *agent.Hit) bool {
	return e.Op != nil && e.Op.F == "apply" && e.Op.Key == hit.Key && e.Op.Owner != hit.Owner &&
		e.Op.Time > hit.At && e.Op.Unfenced != nil && e.Op.Unfenced.Accepted
}

// untilOtherHasRead holds another client between its read and its write, wakes
// the victim, lets it write, and then lets the other go on. The hold is short,
// recorded as a gate, and no fault: any client may be slow there.
func (s Stage) untilOtherHasRead(ctx context.Context, f Fault, id int, victim Victim, hit *agent.Hit) error {
	var others []Victim
	for _, c := range s.Clients {
		if c.Name() != victim.Name() {
			others = append(others, c)
		}
	}
	sub := s.Feed.Subscribe()
	defer sub.Close()
	hold := agent.Arm{Fault: -id, Gate: "before-write", Action: agent.Hold, Max: f.Min / 2}
	limited := s
	limited.Limit = f.Max
	_, other, err := limited.trap(ctx, others, hold, sub)
	if err != nil {
		return err
	}
	defer s.end(other, hold.Fault)
	s.end(victim, id)
	ctx, cancel := context.WithTimeoutCause(ctx, f.Max, fmt.Errorf("the woken client did not write within %v", f.Max))
	defer cancel()
	_, err = sub.Wait(ctx, "the write of the woken client", func(e Event) bool {
		wrote := e.Op != nil && e.Op.F == "apply" && e.Op.Owner == hit.Owner
		gaveUp := e.Op != nil && e.Op.F == "abstain" && e.Op.Owner == hit.Owner
		return wrote || gaveUp || overOn(other, hold.Fault)(e)
	})
	return err
}

// pauseNow stops a node for Max. With a trigger it begins while a client is held
// at the gate, so that what the client does next meets a node that stands still.
func pauseNow(ctx context.Context, s Stage, f Fault, id int, victim Victim, sub *Subscription) error {
	if err := s.stop(ctx, f, id, victim, sub); err != nil {
		return err
	}
	defer s.end(victim, id)
	_, err := sub.Wait(ctx, "the end of the pause", overOn(victim, id))
	return err
}

// stop returns when the victim stands still and the client goes on.
func (s Stage) stop(ctx context.Context, f Fault, id int, victim Victim, sub *Subscription) error {
	if f.On != "" {
		hold := agent.Arm{Fault: -id, Gate: f.On, Action: agent.Hold, Max: f.Max}
		_, client, err := s.trap(ctx, s.Clients, hold, sub)
		if err != nil {
			return err
		}
		defer s.end(client, hold.Fault)
	}
	arm := agent.Arm{Fault: id, Action: agent.PauseChild, Min: f.Min, Max: f.Max}
	return victim.Command(ctx, agent.Command{Do: agent.Pause, Arm: &arm})
}

// each calls f for all victims at once and returns their errors joined.
func each(victims []Victim, f func(Victim) error) error {
	errs := make(chan error, len(victims))
	for _, v := range victims {
		go func() { errs <- f(v) }()
	}
	var first error
	for range victims {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}
