package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// once waits for the trigger of a fault, has it injected, waits for what ends it
// and heals it.
func (s Stage) once(ctx context.Context, f Fault, id int) error {
	if f.Refused != "" {
		return unless(errors.New(f.Refused))
	}
	if f.Random && s.Patience > 0 {
		s.Limit = s.Patience
	}
	sub := s.Feed.Subscribe()
	defer sub.Close()
	defer s.suffer.leave(id, f, names(s.Clients))
	strikes, hit, err := s.begin(ctx, f, id, sub)
	// From here on nodes may suffer. Their agents end it at Max in any case.
	defer func() {
		if ctx.Err() != nil { // interrupted: its least length is of no use any more
			s.tellAll(strikes, agent.Cancel, id)
		}
		s.end(strikes, id)
	}()
	if err != nil {
		return err
	}
	s.reached.reach(f.Name, WhenBegun)
	if err := s.until(ctx, f, id, strikes, hit, sub); err != nil || !f.Params.Back || s.Lie {
		return err
	}
	return each(strikes, func(x strike) error {
		if !slices.Contains(s.Clients, x.victim) {
			return nil
		}
		return s.Back(ctx, x.victim)
	})
}

// begin returns when the fault is in force on every victim. What it returns must
// be ended also when it comes with an error.
func (s Stage) begin(ctx context.Context, f Fault, id int, sub *Subscription) ([]strike, *agent.Hit, error) {
	if err := s.known(f.Target); err != nil {
		return nil, nil, err
	}
	f, err := s.aim(ctx, f)
	if err != nil {
		return nil, nil, unless(err)
	}
	if candidates := s.candidates(f); (f.On != "" || f.waits()) && candidates != nil && history.FaultOf(f.Kind).Local {
		arm := agent.Arm{Fault: id, Kind: f.Kind, Checkpoint: f.On, Min: f.Min, Max: f.Max, Limit: s.Limit, Lie: s.Lie, Optional: f.Random, Params: f.Params}
		hit, victim, err := s.trap(ctx, candidates, arm, sub)
		if err != nil {
			return nil, nil, unless(err)
		}
		if hit.Refused {
			return nil, nil, unless(fmt.Errorf("%s of %s: %s", f.Kind, victim.Name(), hit.Error))
		}
		if hit.Error != "" {
			err = fmt.Errorf("%s of %s: %s", f.Kind, victim.Name(), hit.Error)
		}
		return []strike{{victim, arm}}, hit, errors.Join(err, s.suffer.admit(id, f.Kind, []string{victim.Name()}, false))
	}
	var holder Victim
	hit := &agent.Hit{Fault: id, At: s.Feed.Last()}
	if f.On != "" {
		hold := agent.Arm{Fault: -id, Kind: agent.Hold, Checkpoint: f.On, Max: f.Max}
		if hit, holder, err = s.trap(ctx, s.Clients, hold, sub); err != nil {
			return nil, nil, unless(err)
		}
		defer s.end([]strike{{holder, hold}}, hold.Fault)
	}
	s.at = hit
	strikes, err := s.strikes(ctx, f, id, holder)
	if err == nil {
		err = s.suffer.admit(id, f.Kind, victims(strikes), f.Random)
	}
	if err != nil {
		return nil, nil, unless(err)
	}
	err = each(strikes, func(x strike) error {
		return x.victim.Command(ctx, agent.Command{Do: agent.Inject, Arm: &x.arm})
	})
	if errors.Is(err, agent.ErrRefused) {
		err = unless(err)
	}
	if f.On == "" && s.Armed != nil {
		s.Armed(id) // in force: what is due at once is there before the first client moves
	}
	return strikes, hit, err
}

// healLimit bounds a command that heals; the agents heal by themselves at Max.
const healLimit = 20 * time.Second

// end heals fault id on all victims, also after a cancel.
func (s Stage) end(strikes []strike, id int) { s.tellAll(strikes, agent.Heal, id) }

func (s Stage) tellAll(strikes []strike, do agent.Do, id int) {
	ctx, cancel := context.WithTimeout(context.Background(), healLimit)
	defer cancel()
	_ = each(strikes, func(x strike) error { // a dead node cannot be healed; its Exit tells of it
		return x.victim.Command(ctx, agent.Command{Do: do, Fault: id})
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
			return over.see(e) || seen(e, hit) && !f.own(e, hit, strikes)
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
// recorded as a checkpoint, and no fault: any client may be slow there.
func (s Stage) untilOtherHasRead(ctx context.Context, f Fault, id int, strikes []strike, hit *agent.Hit) error {
	var others []Victim
	for _, c := range s.Clients {
		if c.Name() != strikes[0].victim.Name() {
			others = append(others, c)
		}
	}
	sub := s.Feed.Subscribe()
	defer sub.Close()
	hold := agent.Arm{Fault: -id, Kind: agent.Hold, Checkpoint: "before-write", Max: f.Min / 2}
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
