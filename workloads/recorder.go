package workloads

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/workloads/resource"
)

// perClient is how many process ids each client has for a life, and perLife how many clients a run has at most.
const (
	perClient = 1_000_000
	perLife   = 1_000
)

// recorder is the one choke point through which a worker calls anything. It
// stamps the invoke before the call and the completion after it.
type recorder struct {
	link *link
	node string
	lock locks.Client
	res  resource.Resource
	spec Spec
	// endless: see history.Promise.NoLimit
	endless bool
	reentry history.Reentry
	mu      sync.Mutex
	nextP   int

	sound  chan struct{} // closed when the lock's adapter has broken the protocol; nil: it has none
	blamed sync.Once
}

// process is one logical process: one pending operation at a time, retired after info.
type process struct {
	rec *recorder
	id  int
}

func newRecorder(l *link, s Spec) *recorder {
	return &recorder{link: l, node: s.Node, spec: s, nextP: (s.Life*perLife + s.Number) * perClient}
}

// author begins the values that this client writes: no two lives of it write the same.
func (r *recorder) author() string {
	if r.spec.Life == 0 {
		return r.node
	}
	return fmt.Sprintf("%s/life-%d", r.node, r.spec.Life+1)
}

func (r *recorder) process() *process { return &process{rec: r, id: r.fresh()} }

func (r *recorder) fresh() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nextP++
	return r.nextP - 1
}

// outcome is the one place that decides what an error proves. Fail only where it
// certainly had no effect.
func outcome(err error) history.Type {
	switch {
	case err == nil:
		return history.OK
	case errors.Is(err, locks.ErrNotGranted), errors.Is(err, locks.ErrNotHeld), errors.Is(err, resource.ErrNoEffect):
		return history.Fail
	}
	return history.Info
}

// call records op around f. f fills in what only the completion knows.
func (p *process) call(op history.Op, f func(done *history.Op) error) error {
	op.Process, op.Node, op.Type = p.id, p.rec.node, history.Invoke
	stamp(&op)
	p.rec.link.record(op)
	done := history.Op{Process: p.id, Node: op.Node, F: op.F, Key: op.Key, Owner: op.Owner, Token: op.Token,
		Value: op.Value, Mode: op.Mode, Permits: op.Permits}
	err := f(&done)
	stamp(&done)
	if done.Type = outcome(err); err != nil {
		done.Error = err.Error()
		done.Busy = done.Type == history.Fail && errors.Is(err, locks.ErrHeld)
	}
	p.rec.link.record(done)
	if done.Type == history.Info {
		p.id = p.rec.fresh()
	}
	if errors.Is(err, locks.ErrFaulty) {
		p.rec.link.fail(err)
	}
	return err
}

func stamp(op *history.Op) {
	now := history.Now()
	op.Time, op.Mono, op.Real = now.Raw, now.Mono, now.Real
}

func (p *process) acquire(ctx context.Context, key string) (g *locks.Grant, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.rec.spec.Wait)
	defer cancel()
	err = p.call(history.Op{F: history.Acquire, Key: key}, func(done *history.Op) error {
		if g, err = p.rec.ask(ctx, key); err == nil {
			claim(done, g)
		}
		return err
	})
	return g, err
}

// ask acquires. Where the lock knows no limit of a wait, the last client of a run does
// not wait for ever: what it would be granted later is nobody's any more.
func (r *recorder) ask(ctx context.Context, key string) (*locks.Grant, error) {
	if !r.endless || r.spec.Mode != Finally {
		return r.lock.Acquire(ctx, key)
	}
	type answer struct {
		g   *locks.Grant
		err error
	}
	ch := make(chan answer, 1)
	go func() {
		g, err := r.lock.Acquire(ctx, key)
		ch <- answer{g, err}
	}()
	select {
	case a := <-ch:
		return a.g, a.err
	case <-time.After(r.spec.Wait + grace):
		return nil, errors.New("it still waits, and the library gives no way to end that")
	}
}

// grace is how much longer than its limit a wait without one is given.
const grace = 250 * time.Millisecond

// claim writes what the client was told that it holds.
func claim(op *history.Op, g *locks.Grant) {
	op.Owner, op.Token, op.Sent = g.Owner, g.Token, g.Sent.Raw
	op.Lease, op.Deadline = int64(g.Lease), g.Deadline
	if g.Mode != "" {
		op.Mode = g.Mode
	}
	if g.Permits > 0 {
		op.Permits = int32(g.Permits)
	}
	op.Depth = int32(g.Depth)
}

func (p *process) extend(ctx context.Context, e locks.Extender, g *locks.Grant) (next *locks.Grant, err error) {
	err = p.call(history.Op{F: history.Extend, Key: g.Key, Owner: g.Owner, Token: g.Token, Mode: g.Mode,
		Permits: int32(g.Permits)}, func(done *history.Op) error {
		if next, err = e.Extend(ctx, g); err == nil {
			claim(done, next)
		}
		return err
	})
	return next, err
}

func (p *process) release(ctx context.Context, g *locks.Grant) error {
	return p.call(history.Op{F: history.Release, Key: g.Key, Owner: g.Owner, Token: g.Token, Mode: g.Mode, Permits: int32(g.Permits)}, func(*history.Op) error {
		return p.rec.lock.Release(ctx, g)
	})
}

func (p *process) read(ctx context.Context, g *locks.Grant) (c resource.Copies, err error) {
	err = p.call(history.Op{F: history.Read, Key: g.Key, Owner: g.Owner, Token: g.Token}, func(done *history.Op) error {
		if c, err = p.rec.res.Read(ctx, resource.ReadRequest{Key: g.Key, Owner: g.Owner, Token: g.Token}); err == nil {
			done.Unfenced, done.Fenced = &c.Unfenced, &c.Fenced
		}
		return err
	})
	return c, err
}

func (p *process) write(ctx context.Context, g *locks.Grant, value string, seen resource.Copies) error {
	op := history.Op{F: history.Write, Key: g.Key, Owner: g.Owner, Token: g.Token, Value: value,
		Unfenced: &history.Copy{Base: seen.Unfenced.Value}, Fenced: &history.Copy{Base: seen.Fenced.Value}}
	return p.call(op, func(done *history.Op) error {
		c, err := p.rec.res.Write(ctx, resource.WriteRequest{Key: g.Key, Owner: g.Owner, Token: g.Token, Value: value,
			UnfencedBase: seen.Unfenced.Value, FencedBase: seen.Fenced.Value, IfUnchanged: p.rec.spec.Mode == Versioned})
		if err == nil {
			done.Unfenced, done.Fenced = &c.Unfenced, &c.Fenced
		}
		return err
	})
}

// note records an event that is no operation.
func (r *recorder) note(op history.Op) {
	op.Node, op.Type = r.node, history.Note
	if op.Time == 0 {
		stamp(&op)
	}
	r.link.record(op)
}
