package power

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// client takes the lock again and again, works under it and gives it back.
type client struct {
	*node
	number int
	told   map[string]bool // owners that were told of their loss
	ends   map[string]bool // owners whose hold is over for their user
}

// granted is what a client was told.
type granted struct {
	owner    string
	token    int64
	deadline int64
	mode     history.Mode
	permits  int
	ended    bool
	renewed  bool // it may be held for longer than a lease
}

func (c *client) begin() {
	c.told, c.ends = map[string]bool{}, map[string]bool{}
	c.lock.tell[c.name] = func(owner string) {
		if !c.ends[owner] {
			c.told[owner] = true
			c.record(history.Op{Type: history.Note, F: history.Lost, Key: "k", Owner: owner})
		}
	}
	c.start(func(p *prog) {
		main := c.process()
		for c.now < c.stops {
			c.round(p, &main)
			p.sleep(c.between(ms, 60*ms))
		}
		c.record(history.Op{Type: history.Note, F: history.Stop})
	})
}

// op records an invoke, and returns what records its end.
func (c *client) op(process *int, invoke history.Op) func(t history.Type, fill func(*history.Op)) {
	invoke.Process, invoke.Type, invoke.Key = *process, history.Invoke, "k"
	c.record(invoke)
	return func(t history.Type, fill func(*history.Op)) {
		done := history.Op{Process: invoke.Process, Type: t, F: invoke.F, Key: "k", Owner: invoke.Owner, Token: invoke.Token, Value: invoke.Value, Mode: invoke.Mode, Permits: invoke.Permits}
		if fill != nil {
			fill(&done)
		}
		c.record(done)
		if t == history.Info {
			*process = c.world.process()
		}
	}
}

func (c *client) wish() wish {
	w := wish{client: c.name, thread: fmt.Sprint("main", c.life), permits: 1}
	switch c.with.kind {
	case history.Semaphore:
		w.permits = 1 + c.random.IntN(2)/2
	case history.ReadWrite:
		if w.mode = history.Exclusive; c.chance(.7) || c.with.defect == "reader-blocked" {
			w.mode = history.Shared
		}
	}
	return w
}

// acquire asks until the lock is granted or the time is over.
func (c *client) acquire(p *prog, process *int, w wish, limit int64) *granted {
	since := c.now
	invoke := history.Op{F: history.Acquire, Mode: w.mode}
	if c.with.kind == history.Semaphore {
		invoke.Permits = int32(w.permits)
	}
	try := c.with.kind == history.Tried && c.chance(.5)
	if try {
		invoke.F = history.Try
	}
	w.try, w.life, w.since = try, c.life, since
	done := c.op(process, invoke)
	for n := 0; ; n++ {
		if w.owner == "" || !c.with.fair {
			w.owner = fmt.Sprintf("%s/%d", c.name, c.world.process())
		}
		sent, mono := c.now, c.mono()
		answer := p.call(c.lock.node, lease/2, func(reply func(any)) { reply(c.lock.take(w)) })
		a, answered := answer.(given)
		switch {
		case !answered: // it may have been granted: it is given back, which may get lost as well
			_ = p.call(c.lock.node, 100*ms, func(reply func(any)) { c.lock.leave(w.owner); reply(c.lock.release(w.owner)) })
			c.hangUp(w.owner)
			done(history.Info, func(op *history.Op) { op.Owner = w.owner })
			return nil
		case a.ok && (!c.with.leased || c.mono() < mono+lease):
			return c.had(done, w, a, sent, mono)
		case a.ok: // its lease is over
			_ = p.call(c.lock.node, lease/2, func(reply func(any)) { reply(c.lock.release(w.owner)) })
			done(history.Info, func(op *history.Op) { op.Owner = w.owner })
			return nil
		case try || c.now > since+limit:
			return c.gaveUp(p, done, w)
		}
		p.sleep(c.between(3*ms, 25*ms))
	}
}

func (c *client) gaveUp(p *prog, done func(history.Type, func(*history.Op)), w wish) *granted {
	if c.with.fair {
		if _, late := p.call(c.lock.node, lease/2, func(reply func(any)) { c.lock.leave(w.owner); reply(0) }).(lateAnswer); late {
			done(history.Info, func(op *history.Op) { op.Owner = w.owner })
			return nil
		}
	}
	done(history.Fail, func(op *history.Op) { op.Busy = true })
	return nil
}

func (c *client) had(done func(history.Type, func(*history.Op)), w wish, a given, sent, mono int64) *granted {
	g := &granted{owner: a.owner, token: a.token, mode: a.mode, permits: a.permits}
	if c.with.leased {
		g.deadline = mono + lease
	}
	if c.is("long-claim", .3) {
		c.world.planted++
		g.deadline = c.mono() + lease + 20*ms
	}
	endless := c.is("endless-claim", .3)
	if endless {
		c.world.planted++
	}
	done(history.OK, func(op *history.Op) {
		op.Owner, op.Token = g.owner, g.token
		if c.with.kind == history.Reentrant {
			op.Depth = int32(a.depth)
		}
		c.claim(op, g, sent)
		c.shares(op, a)
		if endless {
			op.Deadline = 0
		}
	})
	return g
}

// hangUp ends a connection without a lease: the server notices, however late.
func (c *client) hangUp(owner string) {
	if !c.with.leased {
		c.lock.own(c.now+30*ms, func() { c.lock.gone(owner) })
	}
}

// claim writes what the lock tells, as far as it does.
func (c *client) claim(op *history.Op, g *granted, sent int64) {
	if c.with.kind == history.Semaphore {
		op.Permits = int32(g.permits)
	}
	if c.with.sent {
		if op.Sent = sent; c.with.leased {
			op.Lease, op.Deadline = lease, g.deadline
		}
	}
}

// shares writes how the lock tells that it is held, of those that several may hold.
func (c *client) shares(op *history.Op, a given) {
	switch {
	case c.with.kind == history.ReadWrite:
		op.Mode = a.mode
	case c.with.kind == history.Semaphore && a.permits > 0:
		op.Permits = int32(a.permits)
	}
}
