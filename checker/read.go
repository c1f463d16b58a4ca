package checker

import (
	"cmp"

	"github.com/dlmtest/dlmtest/history"
)

// read files one operation under its key, its grant and its process.
func (r *run) read(i int, op *history.Op) {
	r.heard(i, op)
	switch op.Type {
	case history.Invoke:
		r.stamp(op)
		r.invoke(i, op)
	case history.OK, history.Fail, history.Info:
		r.stamp(op)
		r.complete(i, op)
	case history.Note:
		r.note(i, op)
	}
}

func (r *run) key(name string) *keyLog {
	k := r.byKey[name]
	if k == nil {
		k = &keyLog{name: name}
		r.byKey[name] = k
		r.keys = append(r.keys, k)
	}
	return k
}

func (r *run) invoke(i int, op *history.Op) {
	r.counts.Operations++
	p := pending{invoke: i + 1, last: op.Time}
	switch op.F {
	case history.Acquire, history.Try:
		k := r.key(op.Key)
		p.slot = len(k.waits)
		k.waits = append(k.waits, wait{invoke: i, done: -1, from: op.Time, to: forever})
	case history.Write:
		p.grant = r.byOwner[op.Owner]
		p.slot = len(r.writes)
		r.byValue[op.Value] = p.slot
		r.writes = append(r.writes, write{invoke: i, apply: -1, done: -1, grant: p.grant})
		r.counts.Writes++
		r.acted(p.grant, i, op, op.Time)
	case history.Effect:
		p.grant = r.byOwner[op.Owner]
		r.effectOf(op.Value).invoke = i
		r.acted(p.grant, i, op, op.Time)
	case history.Extend:
		if p.grant = r.byOwner[op.Owner]; p.grant != nil {
			p.grant.asked++
		}
	case history.Change, history.Read:
		p.grant = r.byOwner[op.Owner]
		r.shareInvoked(i, op, p.grant)
	case history.Release:
		if p.grant = r.byOwner[op.Owner]; p.grant != nil && !p.grant.inner(i) {
			if p.grant.release < 0 {
				p.grant.release = i
			}
			p.grant.stop(i, op.Time)
		}
	}
	if p.grant != nil {
		p.grant.lastSeen = op.Time
	}
	r.process[op.Process] = p
}

// acted chains an act to its grant, as long as the holder believes.
func (r *run) acted(g *grant, i int, op *history.Op, at int64) {
	if g == nil {
		r.haunt(i, op)
		return
	}
	if g.end != forever {
		if !r.uses(op.F) || !r.unheeded(g) {
			return
		}
		g.end, g.endOp = at, i
	}
	r.acts = append(r.acts, act{time: at, op: i, next: g.acts})
	g.acts = len(r.acts)
	g.lastAct = max(g.lastAct, at)
}

// uses says whether an operation uses what the lock guards: to look at it is a use where
// several clients may do so at once.
func (r *run) uses(f history.F) bool {
	return f == history.Write || f == history.Effect || f == history.Read && r.setup.Kind.Shares()
}

// unheeded says whether a write of g proves that what ended its belief did not. A
// client that was told of its loss, by its session or by the answer to a renewal,
// and writes all the same has not looked: the message and its work are two
// threads, and which runs first after a pause is chance. Its belief lasts until
// that write, unless it says that it looks (check-session). And who writes after
// its node was killed was not dead yet.
func (r *run) unheeded(g *grant) bool {
	switch r.ops[g.endOp].F {
	case history.Lost, history.Extend:
		return r.setup.SelfFence != "check-session"
	case history.Fault, history.Write, history.Effect, history.Read: // the use by which it lasted until now
		return true
	}
	return false
}

// haunt notes an act on an acquire whose outcome is unknown.
func (r *run) haunt(i int, op *history.Op) {
	ref, ok := r.ghosts[op.Owner]
	if !ok {
		return
	}
	if ref.slot == 0 {
		ref.key.ghosts = append(ref.key.ghosts, ghost{owner: op.Owner, info: ref.info})
		ref.slot = len(ref.key.ghosts)
		r.ghosts[op.Owner] = ref
	}
	ref.key.ghosts[ref.slot-1].act = i
}

// stop ends the belief of g, unless it has ended before.
func (g *grant) stop(op int, at int64) {
	if g.end == forever {
		g.end, g.endOp = at, op
	}
}

func (r *run) complete(i int, op *history.Op) {
	p := r.process[op.Process]
	if op.Type == history.Info {
		r.counts.Unknowns++
	}
	if p.invoke == 0 {
		return
	}
	invoke := &r.ops[p.invoke-1]
	switch invoke.F {
	case history.Acquire, history.Try:
		r.acquired(i, op, p, invoke)
	case history.Write:
		r.writes[p.slot].done = i
	case history.Effect:
		r.effectOf(invoke.Value).done = i
	case history.Read:
		r.looked(op, invoke)
	case history.Extend:
		r.extended(i, op, p)
	case history.Release:
		r.released(i, op, p)
	case history.Change:
		r.changed(i, op, p)
	}
	if p.grant != nil {
		p.grant.lastSeen = op.Time
	}
	r.process[op.Process] = pending{last: op.Time}
}

func (r *run) acquired(i int, op *history.Op, p pending, invoke *history.Op) {
	k := r.key(invoke.Key)
	k.waits[p.slot].done, k.waits[p.slot].to = i, op.Time
	switch op.Type {
	case history.OK:
		if g := r.byOwner[op.Owner]; g != nil && op.Depth > 1 {
			r.deeper(i, op, g, p.invoke-1)
			return
		}
		r.granted(i, op, k, invoke)
	case history.Info:
		if owner := cmp.Or(op.Owner, invoke.Owner); owner != "" {
			r.ghosts[owner] = ghostRef{key: k, info: i}
		}
	}
}

func (r *run) granted(i int, op *history.Op, k *keyLog, invoke *history.Op) {
	if len(r.slab) == cap(r.slab) {
		r.slab = make([]grant, 0, 1024) // one allocation for many grants, and pointers that stay
	}
	r.slab = append(r.slab, grant{
		owner: op.Owner, node: op.Node, key: k, process: op.Process, token: op.Token,
		invoke: invoke.Index, op: i, invoked: invoke.Time, sent: cmp.Or(op.Sent, invoke.Time), ok: op.Time,
		mode: modeOf(op), permits: int(max(op.Permits, 1)), nest: nesting{depth: 1},
		end: forever, endOp: -1, told: forever, release: -1, done: -1, released: -1, lastSeen: op.Time,
	})
	g := &r.slab[len(r.slab)-1]
	r.grants = append(r.grants, g)
	k.grants = append(k.grants, g)
	r.byOwner[op.Owner] = g
	r.hold(g)
}

func (r *run) extended(i int, op *history.Op, p pending) {
	g, invoke := p.grant, &r.ops[p.invoke-1]
	if g == nil {
		if op.Type == history.OK {
			r.haunt(i, invoke)
		}
		return
	}
	if op.Type != history.Info {
		g.answered++
	}
	switch op.Type {
	case history.OK:
		r.acted(g, i, op, invoke.Time)
		g.claims = append(g.claims, claim{at: op.Time, deadline: op.Deadline, op: i})
		r.claims = append(r.claims, success{g, p.invoke - 1, i})
	case history.Fail:
		r.lost(g, i, op)
	}
}

// lost ends the belief of g by a message of its loss.
func (r *run) lost(g *grant, i int, op *history.Op) {
	if g.end != forever {
		return
	}
	last := claim{at: r.ops[g.op].Time, deadline: r.ops[g.op].Deadline, op: g.op}
	if n := len(g.claims); n > 0 {
		last = g.claims[n-1]
	}
	r.losses = append(r.losses, loss{g, i, last})
	g.told = op.Time
	g.stop(i, op.Time)
}

func (r *run) released(i int, op *history.Op, p pending) {
	g := p.grant
	if g == nil || r.unnested(i, op, g, p.invoke-1) {
		return
	}
	if g.release == p.invoke-1 {
		g.done = i
	}
	if op.Type != history.OK {
		return
	}
	if g.released < 0 {
		g.released = i
	}
	r.claims = append(r.claims, success{g, p.invoke - 1, i})
}
