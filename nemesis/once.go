package nemesis

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/dlmtest/dlmtest/agent"
	"github.com/dlmtest/dlmtest/history"
)

// once waits for the trigger of a fault, has it injected, waits for what ends it
// and heals it.
func (s Stage) once(ctx context.Context, f Fault, id int) error {
	sub := s.Feed.Subscribe()
	defer sub.Close()
	strikes, hit, err := s.begin(ctx, f, id, sub)
	// From here on nodes may suffer. Their agents end it at Max in any case.
	defer s.end(strikes, id)
	if err != nil {
		return err
	}
	return s.until(ctx, f, id, strikes, hit, sub)
}

// begin returns when the fault is in force on every victim. What it returns must
// be ended also when it comes with an error.
func (s Stage) begin(ctx context.Context, f Fault, id int, sub *Subscription) ([]strike, *agent.Hit, error) {
	if err := s.known(f.Target); err != nil {
		return nil, nil, err
	}
	if candidates := s.candidates(f.Target); f.On != "" && candidates != nil && local[f.Kind] {
		arm := agent.Arm{Fault: id, Kind: f.Kind, Gate: f.On, Min: f.Min, Max: f.Max, Lie: s.Lie, Params: f.Params}
		hit, victim, err := s.trap(ctx, candidates, arm, sub)
		if err == nil && hit.Error != "" {
			err = fmt.Errorf("%s of %s: %s", f.Kind, victim.Name(), hit.Error)
		}
		if victim == nil {
			return nil, nil, err
		}
		return []strike{{victim, arm}}, hit, err
	}
	var holder Victim
	hit := &agent.Hit{Fault: id, At: s.Feed.Last()}
	if f.On != "" {
		var err error
		hold := agent.Arm{Fault: -id, Kind: agent.Hold, Gate: f.On, Max: f.Max}
		if hit, holder, err = s.trap(ctx, s.Clients, hold, sub); err != nil {
			return nil, nil, err
		}
		defer s.end([]strike{{holder, hold}}, hold.Fault)
	}
	strikes, err := s.strikes(ctx, f, id, holder)
	if err != nil {
		return nil, nil, err
	}
	err = each(strikes, func(x strike) error {
		return x.victim.Command(ctx, agent.Command{Do: agent.Inject, Arm: &x.arm})
	})
	if f.On == "" && s.Armed != nil {
		s.Armed(id) // in force: what is due at once is there before the first client moves
	}
	return strikes, hit, err
}

// trap arms all clients, waits for the first that is hit, and disarms the rest.
func (s Stage) trap(ctx context.Context, clients []Victim, arm agent.Arm, sub *Subscription) (*agent.Hit, Victim, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Limit, fmt.Errorf("no client reached the gate %q within %v", arm.Gate, s.Limit))
	defer cancel()
	hitNode := ""
	defer func() { s.disarm(clients, hitNode, arm.Fault) }()
	var armed atomic.Int32
	err := each(clients, func(v Victim) error {
		err := v.Command(ctx, agent.Command{Do: agent.ArmGate, Arm: &arm})
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
	e, err := sub.Wait(ctx, "the gate "+arm.Gate, func(e Event) bool { return e.Hit != nil && e.Hit.Fault == arm.Fault })
	if err != nil {
		return nil, nil, err
	}
	hitNode = e.Node
	for _, v := range clients {
		if v.Name() == e.Node {
			return e.Hit, v, nil
		}
	}
	return nil, nil, fmt.Errorf("fault %d was hit on %s, which it does not target", arm.Fault, e.Node)
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

// healLimit bounds a command that heals; the agents heal by themselves at Max.
const healLimit = 20 * time.Second

// end heals fault id on all victims, also after a cancel.
func (s Stage) end(strikes []strike, id int) {
	ctx, cancel := context.WithTimeout(context.Background(), healLimit)
	defer cancel()
	_ = each(strikes, func(x strike) error { // a dead node cannot be healed; its Exit tells of it
		return x.victim.Command(ctx, agent.Command{Do: agent.Heal, Fault: id})
	})
}

// until waits for what ends the fault, ends it, and waits until it is over on
// every victim. Its limits are kept by the agents.
func (s Stage) until(ctx context.Context, f Fault, id int, strikes []strike, hit *agent.Hit, sub *Subscription) error {
	over := newOvers(strikes, id)
	switch f.Until {
	case UntilWriteAccepted, UntilGranted:
		seen := othersWrite
		if f.Until == UntilGranted {
			seen = othersGrant
		}
		if _, err := sub.Wait(ctx, "another client", func(e Event) bool {
			return over.see(e) || seen(e, hit)
		}); err != nil {
			return err
		}
		s.end(strikes, id)
	case UntilOtherHasRead:
		return s.untilOtherHasRead(ctx, f, id, strikes, hit)
	}
	if over.left == 0 {
		return nil
	}
	_, err := sub.Wait(ctx, "the end of the "+f.Kind, over.see)
	return err
}

// overs counts the victims on which a fault is not over yet.
type overs struct {
	id   int
	open map[string]bool
	left int
}

func newOvers(strikes []strike, id int) *overs {
	o := &overs{id: id, open: map[string]bool{}, left: len(strikes)}
	for _, x := range strikes {
		o.open[x.victim.Name()] = true
	}
	return o
}

// see takes note of an event and says whether all is over. Another node's end,
// or another fault's, is no end.
func (o *overs) see(e Event) bool {
	if e.Over != nil && e.Over.Fault == o.id && o.open[e.Node] {
		o.open[e.Node] = false
		o.left--
	}
	return o.left == 0
}

// othersWrite: the resource accepted a write on another grant than the victim's.
func othersWrite(e Event, hit *agent.Hit) bool {
	return wrote(e) && concerns(e, hit)
}

// othersGrant: another client was granted the victim's key.
func othersGrant(e Event, hit *agent.Hit) bool {
	return e.Op != nil && e.Op.F == history.Acquire && e.Op.Type == history.OK && concerns(e, hit)
}

// concerns: another grant than the victim's, on its key, after it was hit. A fault
// without a trigger has no grant and no key: any will do.
func concerns(e Event, hit *agent.Hit) bool {
	return (e.Op.Key == hit.Key || hit.Key == "") && e.Op.Owner != hit.Owner && e.Op.Time > hit.At
}

// wrote: the resource's own log says so as it happens, or the writer was told; a
// database tells its log only at the end.
func wrote(e Event) bool {
	return e.Op != nil && (e.Op.F == history.Apply || e.Op.F == history.Write && e.Op.Type == history.OK) &&
		e.Op.Unfenced != nil && e.Op.Unfenced.Accepted
}

// untilOtherHasRead holds another client between its read and its write, wakes
// the victim, lets it write, and then lets the other go on. The hold is short,
// recorded as a gate, and no fault: any client may be slow there.
func (s Stage) untilOtherHasRead(ctx context.Context, f Fault, id int, strikes []strike, hit *agent.Hit) error {
	var others []Victim
	for _, c := range s.Clients {
		if c.Name() != strikes[0].victim.Name() {
			others = append(others, c)
		}
	}
	sub := s.Feed.Subscribe()
	defer sub.Close()
	hold := agent.Arm{Fault: -id, Kind: agent.Hold, Gate: "before-write", Max: f.Min / 2}
	limited := s
	limited.Limit = f.Max
	_, other, err := limited.trap(ctx, others, hold, sub)
	if err != nil {
		return ctx.Err() // nobody else could read before Max: the scenario's expectations say whether that matters
	}
	held := []strike{{other, hold}}
	defer s.end(held, hold.Fault)
	s.end(strikes, id)
	released := newOvers(held, hold.Fault) // its agent lets it go in any case
	_, err = sub.Wait(ctx, "the write of the woken client", func(e Event) bool {
		gaveUp := e.Op != nil && e.Op.F == history.Abstain
		return (wrote(e) || gaveUp) && e.Op.Owner == hit.Owner || released.see(e)
	})
	return err
}

// each calls f for all items at once and returns the first error.
func each[T any](items []T, f func(T) error) error {
	errs := make(chan error, len(items))
	for _, x := range items {
		go func() { errs <- f(x) }()
	}
	var first error
	for range items {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}
