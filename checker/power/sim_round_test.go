package power

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// round is one critical section: acquire, read, work, write, release.
func (c *client) round(p *prog, main *int) {
	w := c.wish()
	w.life = c.life
	if !c.with.leased {
		w.thread = fmt.Sprint(*main) // after an unknown outcome it has another connection
	}
	g := c.acquire(p, main, w, 3*lease)
	if g == nil {
		return
	}
	c.look(g)
	c.renew(g)
	if c.with.kind == history.Reentrant && c.chance(.5) {
		c.nested(p, main, w, g)
	}
	c.work(p, main, g)
	c.giveBack(p, main, g)
}

// work reads, waits and writes.
func (c *client) work(p *prog, main *int, g *granted) {
	if c.with.fault == "idle" {
		p.sleep(c.between(ms, lease/2))
		return
	}
	seen, ok := c.read(p, main, g)
	if !ok {
		return
	}
	if p.sleep(c.between(ms, 60*ms)); g.renewed && c.chance(.15) {
		p.sleep(c.between(lease/2, 2*lease))
	}
	if c.with.kind == history.Semaphore {
		if c.with.fault == "hoard" && (c.planted > 0 || c.with.defect == "" && c.chance(.2)) {
			p.sleep(max(0, min(patience+c.between(4*sec, 6*sec), c.world.stops-c.now)))
		}
		c.read(p, main, g)
		return
	}
	if g.mode == history.Shared {
		c.read(p, main, g)
		return
	}
	if c.with.fence == "check-session" && c.told[g.owner] {
		c.record(history.Op{Type: history.Note, F: history.Abstain, Process: *main, Key: "k", Owner: g.owner})
		return
	}
	p.sleep(c.between(0, 2*ms)) // the gap that a check leaves
	if c.with.fault == "zombie" && c.planted == 0 && c.chance(.1) {
		c.stand(p, g)
	}
	c.write(p, main, g, seen)
}

// stand keeps the work, not the rest, between check and write, while its link is cut.
func (c *client) stand(p *prog, g *granted) {
	long := c.between(lease*3/2, 3*lease)
	c.fault(c.now, long, "partition", c.name, func() { c.cut["server"] = true }, func() { delete(c.cut, "server") }, "server")
	p.sleep(long + 10*ms)
	c.planted1(c.lock.find(g.owner) == nil && len(c.lock.holds) > 0)
}

func (c *client) read(p *prog, main *int, g *granted) (seen [2]history.Copy, ok bool) {
	done := c.op(main, history.Op{F: history.Read, Owner: g.owner, Token: g.token})
	a, ok := p.call(c.store.node, patience, func(reply func(any)) {
		u, f := c.store.read(g.owner, g.token)
		reply([2]history.Copy{u, f})
	}).([2]history.Copy)
	if !ok {
		done(history.Info, nil)
		return a, false
	}
	done(history.OK, func(op *history.Op) { op.Unfenced, op.Fenced = &a[0], &a[1] })
	return a, true
}

func (c *client) write(p *prog, main *int, g *granted, seen [2]history.Copy) {
	owner, token := g.owner, g.token
	if c.is("stranger", .05) {
		c.world.planted++
		owner = fmt.Sprintf("nobody/%d", c.world.process())
	}
	op := history.Op{F: history.Write, Owner: owner, Token: token, Value: fmt.Sprintf("v%d", c.world.process()),
		Unfenced: &history.Copy{Base: seen[0].Value}, Fenced: &history.Copy{Base: seen[1].Value}}
	done := c.op(main, op)
	a, ok := p.call(c.store.node, patience, func(reply func(any)) {
		u, f := c.store.write(op)
		reply([2]history.Copy{u, f})
	}).([2]history.Copy)
	if !ok {
		done(history.Info, nil)
		return
	}
	done(history.OK, func(op *history.Op) { op.Unfenced, op.Fenced = &a[0], &a[1] })
}

// look asks the server who holds the lock, beside the work.
func (c *client) look(g *granted) {
	if c.with.kind == history.Semaphore || c.with.kind == history.ReadWrite || c.chance(.3) {
		return
	}
	c.start(func(p *prog) {
		sent := c.now
		if owner, ok := p.call(c.lock.node, lease/2, func(reply func(any)) { reply(c.lock.looks()) }).(string); ok {
			c.record(history.Op{Type: history.Note, F: history.Holder, Key: "k", Owner: owner, Sent: sent})
		}
	})
}

// nested takes what is held once more, and gives it back.
func (c *client) nested(p *prog, main *int, w wish, g *granted) {
	if c.acquireInner(p, main, w, g) {
		p.sleep(c.between(ms, 40*ms))
		c.releaseInner(p, main, g)
		p.sleep(c.between(ms, 40*ms))
	}
}

func (c *client) acquireInner(p *prog, main *int, w wish, g *granted) bool {
	done := c.op(main, history.Op{F: history.Acquire})
	w.owner = g.owner
	sent, mono := c.now, c.mono()
	held := c.lock.find(g.owner) != nil
	a, ok := p.call(c.lock.node, lease/2, func(reply func(any)) {
		held = c.lock.find(g.owner) != nil
		if !held { // it is lost: nothing is granted anew under the old name
			reply(given{})
			return
		}
		reply(c.lock.take(w))
	}).(given)
	switch {
	case !ok:
		done(history.Info, func(op *history.Op) { op.Owner = g.owner })
		return true // gives it back all the same, as it may have had it
	case !a.ok:
		done(history.Fail, func(op *history.Op) { op.Busy = true })
		return false
	}
	g.deadline = mono + lease
	done(history.OK, func(op *history.Op) {
		op.Owner, op.Token, op.Depth = g.owner, a.token, int32(a.depth)
		c.claim(op, g, sent)
	})
	return true
}

func (c *client) releaseInner(p *prog, main *int, g *granted) {
	done := c.op(main, history.Op{F: history.Release, Owner: g.owner, Token: g.token})
	left, ok := p.call(c.lock.node, lease, func(reply func(any)) { reply(c.lock.release(g.owner)) }).(int)
	switch {
	case !ok:
		done(history.Info, nil)
	case left < 0:
		done(history.Fail, nil)
	default:
		done(history.OK, func(op *history.Op) { op.Depth = int32(left) })
	}
}

// renew extends g each third of its lease until it is given back or lost.
func (c *client) renew(g *granted) {
	if c.with.fault == "idle" {
		return
	}
	if !c.with.leased {
		g.renewed = true // it needs no renewal
		return
	}
	if c.chance(.2) {
		g.renewed = c.with.fault == "careless"
		return
	}
	g.renewed = true
	c.start(func(p *prog) {
		process := c.world.process()
		for {
			p.sleep(lease / 3)
			if g.ended || c.told[g.owner] {
				return
			}
			if c.mono() > g.deadline && !c.with.patient {
				c.lose(g)
				return
			}
			if !c.extend(p, &process, g) {
				return
			}
		}
	})
}

func (c *client) extend(p *prog, process *int, g *granted) bool {
	done := c.op(process, history.Op{F: history.Extend, Owner: g.owner, Token: g.token})
	limit := lease / 3
	if c.with.patient {
		limit = 4 * lease
	}
	sent, mono := c.now, c.mono()
	a, answered := p.call(c.lock.node, limit, func(reply func(any)) { reply(c.lock.extend(g.owner)) }).(given)
	switch {
	case !answered:
		done(history.Info, nil)
	case !a.ok:
		c.told[g.owner] = true
		done(history.Fail, nil)
		return false
	default:
		g.deadline = mono + lease
		done(history.OK, func(op *history.Op) {
			op.Owner, op.Token = g.owner, g.token
			c.claim(op, g, sent)
			c.shares(op, a)
		})
	}
	return true
}

// lose notes that its client takes the lock for lost.
func (c *client) lose(g *granted) {
	c.told[g.owner] = true
	c.record(history.Op{Type: history.Note, F: history.Lost, Key: "k", Owner: g.owner})
}

func (c *client) giveBack(p *prog, main *int, g *granted) {
	g.ended, c.ends[g.owner] = true, true
	done := c.op(main, history.Op{F: history.Release, Owner: g.owner, Token: g.token, Mode: g.mode})
	left, ok := p.call(c.lock.node, lease, func(reply func(any)) { reply(c.lock.release(g.owner)) }).(int)
	switch {
	case !ok:
		c.hangUp(g.owner)
		done(history.Info, nil)
	case left < 0:
		done(history.Fail, nil)
	default:
		done(history.OK, func(op *history.Op) { op.Depth = int32(left) })
	}
}

// finally takes all that the key has to give once all is healed.
func (c *client) finally(p *prog) {
	c.told, c.ends = map[string]bool{}, map[string]bool{}
	main := c.process()
	w := wish{client: c.name, thread: "final", permits: 1}
	switch c.with.kind {
	case history.Semaphore:
		w.permits = 2
	case history.ReadWrite:
		w.mode = history.Exclusive
	}
	for range 2 {
		if g := c.acquire(p, &main, w, patience+sec); g != nil {
			c.giveBack(p, &main, g)
			return
		}
	}
}
