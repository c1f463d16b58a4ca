package resource

import (
	"context"
	"errors"
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// Doer is a Resource in which things happen that stay done: a card is charged, a job
// is started, a block is appended. The well-known uses need one.
type Doer interface {
	// Do makes an effect happen with the fence and without, in one atomic step. A world that
	// refuses is no error: Accepted says what happened where, and Previous the
	// Value of the effect that was there before. A second delivery of one Value
	// is a repeat, as with Write.
	Do(ctx context.Context, req EffectRequest) (Copies, error)
}

// EffectRequest asks for one effect.
type EffectRequest struct {
	Key   string
	Owner string // the grant on which the client acts
	Token int64  // of that grant; 0: the lock gives none
	Value string // unique in the run, not empty
	// What is done in the world without a fence and in the one with it; "": nothing.
	Unfenced, Fenced string
	// Once makes what is done an idempotency key: who does the same a second time is
	// told that it is done, and it does not happen again. It holds with the fence and without.
	Once bool
	// Fence has the fenced world check the token, as a storage can. A card, a mail or
	// a job cannot: they take what comes, whatever the token.
	Fence bool
}

// Check refuses a request that no resource takes; its error matches ErrNoEffect.
func (r EffectRequest) Check() error {
	if r.Value == "" {
		return fmt.Errorf("resource: effect on %q without a value: %w", r.Key, ErrNoEffect)
	}
	return check(r.Key, r.Token)
}

// ErrNoDoer says that a resource can only be read and written.
var ErrNoDoer = errors.New("the resource makes no effects")

// happening is an effect that was decided.
type happening struct {
	req    EffectRequest
	copies Copies
}

// Do implements Doer.
func (s *Store) Do(ctx context.Context, req EffectRequest) (Copies, error) {
	if err := errors.Join(ended(ctx), req.Check()); err != nil {
		return Copies{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.record(req.Key)
	if earlier, ok := r.happened[req.Value]; ok {
		if earlier.req != req {
			return Copies{}, Reused(req.Value)
		}
		return earlier.copies, nil
	}
	copies := r.do(s.rules, req)
	r.happened[req.Value] = happening{req, copies}
	s.log(history.Op{F: history.Happened, Key: req.Key, Owner: req.Owner, Token: req.Token, Value: req.Value}, copies)
	return copies, nil
}

// do decides both.
func (r *record) do(rules Rules, req EffectRequest) Copies {
	fenced := !req.Fence || rules.accepts(fence{highest: r.fence.highest}, req.Token) // several effects of one grant are no repeats
	c := Copies{
		Unfenced: r.world(req, "unfenced", req.Unfenced, true),
		Fenced:   r.world(req, "fenced", req.Fenced, fenced),
	}
	if req.Fence && c.Fenced.Accepted {
		r.fence.highest = max(r.fence.highest, req.Token)
	}
	c.Fenced.Token = r.fence.highest
	return c
}

// world decides one of them.
func (r *record) world(req EffectRequest, name, what string, allowed bool) history.Copy {
	c := history.Copy{Value: what, Accepted: what != "" && allowed}
	if !req.Once || !c.Accepted {
		return c
	}
	key := name + " " + what
	if c.Previous = r.once[key]; c.Previous != "" {
		c.Accepted = false
		return c
	}
	r.once[key] = req.Value
	return c
}
