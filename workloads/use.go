package workloads

import (
	"context"
	"fmt"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/workloads/resource"
)

// The well-known uses of a lock. All but Versioned are loops around a lock.
const (
	Inventory  Mode = "inventory"           // sell one of what is left
	Versioned  Mode = "inventory-versioned" // the same with a version column and no lock
	Payment    Mode = "payment"             // charge the next order, then mark it as paid
	PaymentKey Mode = "payment-key"         // the same with an idempotency key
	Cron       Mode = "cron"                // run the next slot that is due, then mark it as run
	CronKey    Mode = "cron-key"            // the same, each slot claimed by its number
	File       Mode = "file"                // write a version of a file, block by block
	TwoKeys    Mode = "two-keys"            // take two locks, half of the clients in the opposite order
	Cache      Mode = "cache"               // rebuild an entry that has grown old
)

// rounds is one round of the loop of each use.
var rounds = map[Mode]func(*client, context.Context){
	Inventory:  func(c *client, ctx context.Context) { c.locked(ctx, c.key(), c.sell) },
	Versioned:  (*client).sellVersioned,
	Payment:    func(c *client, ctx context.Context) { c.locked(ctx, c.key(), c.pay) },
	PaymentKey: func(c *client, ctx context.Context) { c.locked(ctx, c.key(), c.pay) },
	Cron:       func(c *client, ctx context.Context) { c.locked(ctx, c.key(), c.runSlot) },
	CronKey:    func(c *client, ctx context.Context) { c.locked(ctx, c.key(), c.runSlot) },
	File:       func(c *client, ctx context.Context) { c.locked(ctx, c.key(), c.writeFile) },
	TwoKeys:    (*client).transfer,
	Cache:      (*client).lookup,
}

// once says whether a mode's effects carry an idempotency key.
func (m Mode) once() bool { return m == PaymentKey || m == CronKey }

// key is one of the keys at random.
func (c *client) key() string { return c.spec.Keys[c.random.IntN(len(c.spec.Keys))] }

// section is a critical section under way: what was seen, and what stands there now.
type section struct {
	*client
	grant *locks.Grant
	seen  resource.Copies
	now   history.Pair
	given bool // a number stood there in both copies
}

// enter passes the first checkpoint and reads; nil: it could not.
func (c *client) enter(ctx context.Context, g *locks.Grant) *section {
	c.link.checkpoint(AtAcquired, g.Key, g.Owner)
	read, cancel := context.WithTimeout(ctx, c.callLimit())
	defer cancel()
	seen, err := c.main.read(read, g)
	if err != nil {
		return nil // recorded
	}
	u, ok := history.PairOf(seen.Unfenced.Value)
	f, ok2 := history.PairOf(seen.Fenced.Value)
	return &section{client: c, grant: g, seen: seen, now: history.Pair{Unfenced: u.Unfenced, Fenced: f.Fenced}, given: ok && ok2}
}

// mayWrite passes the checkpoints before what cannot be taken back, and asks the client's
// own check; false: it abstains.
func (s *section) mayWrite() bool {
	s.link.checkpoint(AtBeforeWrite, s.grant.Key, s.grant.Owner)
	if why := s.doubt(s.grant); why != "" {
		s.note(history.Op{F: history.Abstain, Process: s.main.id, Key: s.grant.Key, Owner: s.grant.Owner, Error: why})
		return false
	}
	s.link.checkpoint(AtWriting, s.grant.Key, s.grant.Owner)
	return true
}

// put writes both numbers.
func (s *section) put(ctx context.Context, p history.Pair) error {
	s.writes++
	ctx, cancel := context.WithTimeout(ctx, s.callLimit())
	defer cancel()
	return s.main.write(ctx, s.grant, history.Numbered(valueOf(s.author(), s.writes), p), s.seen)
}

// do makes an effect, by word and the number of each world; a world whose number did
// not change does nothing.
func (s *section) do(ctx context.Context, word string, next history.Pair, fence bool, tail string) error {
	s.writes++
	req := resource.EffectRequest{Key: s.grant.Key, Owner: s.grant.Owner, Token: s.grant.Token, Once: s.spec.Mode.once(), Fence: fence,
		Value: fmt.Sprintf("%s/e%d", s.author(), s.writes)}
	if next.Unfenced != s.now.Unfenced {
		req.Unfenced = fmt.Sprintf("%s %d%s", word, next.Unfenced, tail)
	}
	if next.Fenced != s.now.Fenced {
		req.Fenced = fmt.Sprintf("%s %d%s", word, next.Fenced, tail)
	}
	ctx, cancel := context.WithTimeout(ctx, s.callLimit())
	defer cancel()
	return s.main.effect(ctx, req)
}

// effect records one effect.
func (p *process) effect(ctx context.Context, req resource.EffectRequest) error {
	op := history.Op{F: history.Effect, Key: req.Key, Owner: req.Owner, Token: req.Token, Value: req.Value,
		Unfenced: &history.Copy{Value: req.Unfenced}, Fenced: &history.Copy{Value: req.Fenced}}
	return p.call(op, func(done *history.Op) error {
		doer, ok := p.rec.res.(resource.Doer)
		if !ok {
			return fmt.Errorf("%w: %w", resource.ErrNoDoer, resource.ErrNoEffect)
		}
		c, err := doer.Do(ctx, req)
		if err == nil {
			done.Unfenced, done.Fenced = &c.Unfenced, &c.Fenced
		}
		return err
	})
}
