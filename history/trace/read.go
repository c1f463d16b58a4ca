package trace

import (
	"cmp"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// read files one operation under its key, its grant and its process.
func (t *Trace) read(i int, op *history.Op) {
	t.heard(i, op)
	switch op.Type {
	case history.Invoke:
		t.stamp(op)
		t.invoke(i, op)
	case history.OK, history.Fail, history.Info:
		t.stamp(op)
		t.complete(i, op)
	case history.Note:
		t.note(i, op)
	}
}

func (t *Trace) key(name string) *Key {
	k := t.ByKey[name]
	if k == nil {
		k = &Key{Name: name, Index: len(t.Keys)}
		t.ByKey[name] = k
		t.Keys = append(t.Keys, k)
	}
	return k
}

func (t *Trace) invoke(i int, op *history.Op) {
	p := pending{invoke: i + 1, last: op.Time}
	switch op.F {
	case history.Acquire, history.Try:
		k := t.key(op.Key)
		p.slot = len(k.Waits)
		k.Waits = append(k.Waits, Wait{Invoke: i, Done: -1, From: op.Time, To: Forever})
		if op.Owner == "" {
			by := request{op.Node, op.Key}
			t.nameless[by] = append(t.nameless[by], i)
		}
	case history.Write:
		p.grant = t.grantOf(op)
		p.slot = len(t.Writes)
		t.ByValue[op.Value] = p.slot
		t.Writes = append(t.Writes, Write{Invoke: i, Apply: -1, Done: -1, Grant: p.grant})
		if p.grant != nil {
			p.grant.Writes = append(p.grant.Writes, p.slot)
		}
		t.acted(p.grant, i, op, op.Time)
	case history.Effect:
		p.grant = t.grantOf(op)
		e := t.effectOf(op.Value)
		e.Invoke = i
		if p.grant != nil {
			p.grant.Effects = append(p.grant.Effects, e)
		}
		t.acted(p.grant, i, op, op.Time)
	case history.Extend:
		if p.grant = t.grantOf(op); p.grant != nil {
			p.grant.Asked++
			p.grant.open = append(p.grant.open, i)
		}
	case history.Change, history.Read:
		p.grant = t.grantOf(op)
		t.turns(op, p.grant)
		t.shareInvoked(i, op, p.grant)
	case history.Release:
		p.grant = t.grantOf(op)
		if t.turns(op, p.grant); p.grant != nil && !p.grant.inner(i) && !t.part(i, op, p.grant) {
			if p.grant.Release < 0 {
				p.grant.Release = i
			}
			p.grant.stop(i, op.Time)
		}
	}
	if p.grant != nil {
		p.grant.LastSeen = op.Time
	}
	t.process[op.Process] = p
}

// grantOf is the grant that an operation acts on; nil: it is of no such owner, or of another key.
func (t *Trace) grantOf(op *history.Op) *Grant {
	if g := t.owned(op); g != nil && (op.Key == "" || op.Key == g.Key.Name) {
		return g
	}
	return nil
}

// ownedBy is an owner of which a second client was told.
type ownedBy struct{ owner, node string }

// owned is the grant of an owner: that of the client which an operation is of, where a lock told two clients of one hold; nil: there is none.
func (t *Trace) owned(op *history.Op) *Grant {
	if g := t.shared[ownedBy{op.Owner, op.Node}]; g != nil {
		return g
	}
	return t.ByOwner[op.Owner]
}

// acted chains an act to its grant, as long as the holder believes.
func (t *Trace) acted(g *Grant, i int, op *history.Op, at int64) {
	if g == nil {
		t.haunt(i, op)
		return
	}
	if g.End != Forever {
		if !t.uses(op.F) || !t.unheeded(g) {
			return
		}
		g.End, g.EndOp = at, i
	}
	t.acts = append(t.acts, Act{Time: at, Op: i, next: g.acts})
	g.acts = len(t.acts)
	g.LastAct = max(g.LastAct, at)
}

// uses says whether an operation uses what the lock guards: to look at it is a use where
// several clients may do so at once.
func (t *Trace) uses(f history.F) bool {
	return f == history.Write || f == history.Effect || f == history.Read && t.Setup.Kind.Shares()
}

// unheeded says whether a write of g proves that what ended its belief did not. A
// client that was told of its loss, by its session or by the answer to a renewal,
// and writes all the same has not looked: the message and its work are two
// threads, and which runs first after a pause is chance. Its belief lasts until
// that write, also where it says that it looks (check-session): between its look and
// its write it may have stood, which is the gap that such a check leaves. A note that it abstained
// excuses the write that it did not make, and no later one. And who writes after its node
// was killed was not dead yet.
func (t *Trace) unheeded(g *Grant) bool {
	switch t.Ops[g.EndOp].F {
	case history.Lost, history.Abstain, history.Extend, history.Fault, history.Write, history.Effect,
		history.Read: // the last three: the use by which it lasted until now
		return true
	}
	return false
}

// stop ends the belief of g, unless it has ended before.
func (g *Grant) stop(op int, at int64) {
	if g.End == Forever {
		g.End, g.EndOp = at, op
	}
}

func (t *Trace) complete(i int, op *history.Op) {
	p := t.process[op.Process]
	if p.invoke == 0 {
		return
	}
	invoke := &t.Ops[p.invoke-1]
	t.pairs[i], t.pairs[p.invoke-1] = int32(p.invoke), int32(i+1)
	switch invoke.F {
	case history.Acquire, history.Try:
		t.acquired(i, op, p, invoke)
	case history.Write:
		t.Writes[p.slot].Done = i
	case history.Effect:
		t.effectOf(invoke.Value).Done = i
	case history.Read:
		t.looked(op, invoke)
		if p.grant != nil && op.Type == history.OK {
			p.grant.Reads = append(p.grant.Reads, i)
		}
	case history.Extend:
		t.extended(i, op, p)
	case history.Release:
		t.released(i, op, p)
	case history.Change:
		t.changed(i, op, p)
	}
	if p.grant != nil {
		p.grant.LastSeen = op.Time
	}
	t.process[op.Process] = pending{last: op.Time}
}

func (t *Trace) acquired(i int, op *history.Op, p pending, invoke *history.Op) {
	k := t.key(invoke.Key)
	k.Waits[p.slot].Done, k.Waits[p.slot].To = i, op.Time
	if op.Type != history.Info || op.Owner != "" {
		t.noLongerNameless(request{op.Node, invoke.Key}, invoke.Index)
	}
	switch op.Type {
	case history.OK:
		if t.counted(i, op, k, invoke) {
			return
		}
		if g := t.again(op, k); g != nil {
			t.deeper(i, op, g, p.invoke-1)
			return
		}
		t.granted(i, op, k, invoke)
		if op.Depth > 1 {
			t.deepAtOnce(i, op)
		}
	case history.Info:
		if owner := cmp.Or(op.Owner, invoke.Owner); owner != "" {
			if g := t.ByOwner[owner]; g != nil {
				g.Unsure(p.invoke - 1) // it may have it once more
			}
			t.Ghosts[owner] = GhostRef{key: k, Info: i}
		}
	}
}

func (t *Trace) granted(i int, op *history.Op, k *Key, invoke *history.Op) {
	if len(t.slab) == cap(t.slab) {
		t.slab = make([]Grant, 0, 1024) // one allocation for many grants, and pointers that stay
	}
	t.slab = append(t.slab, Grant{
		Owner: op.Owner, Node: op.Node, Key: k, Process: op.Process, Token: op.Token,
		Invoke: invoke.Index, Op: i, Invoked: invoke.Time, Sent: cmp.Or(op.Sent, invoke.Time), OK: op.Time,
		Mode: modeOf(op, invoke), Permits: int(max(cmp.Or(op.Permits, invoke.Permits), 1)), Nest: Nesting{depth: 1, sure: 1},
		End: Forever, EndOp: -1, Told: Forever, Release: -1, Done: -1, Released: -1, LastSeen: op.Time,
	})
	g := &t.slab[len(t.slab)-1]
	t.Grants = append(t.Grants, g)
	k.Grants = append(k.Grants, g)
	if was := t.ByOwner[op.Owner]; was != nil && was.Node != op.Node {
		t.shared[ownedBy{op.Owner, op.Node}] = g
	} else {
		t.ByOwner[op.Owner] = g
	}
	t.hold(g)
}

func (t *Trace) extended(i int, op *history.Op, p pending) {
	g, invoke := p.grant, &t.Ops[p.invoke-1]
	if g == nil {
		if op.Type == history.OK && !t.grantedBy(i, op, invoke) {
			t.haunt(i, invoke)
		}
		return
	}
	if op.Type != history.Info {
		g.Answered++
		g.open = slices.DeleteFunc(g.open, func(asked int) bool { return asked == p.invoke-1 })
	}
	switch op.Type {
	case history.OK:
		t.acted(g, i, op, invoke.Time)
		g.renewedAs(invoke, op)
		t.claims(g, i, op)
		t.Successes = append(t.Successes, Success{g, p.invoke - 1, i})
	case history.Fail:
		g.Events = append(g.Events, i)
		t.lost(g, i, op)
	}
}

// lost ends the belief of g by a message of its loss.
func (t *Trace) lost(g *Grant, i int, op *history.Op) {
	if g.Abstains {
		g.Told = min(g.Told, op.Time)
	}
	if g.End != Forever {
		return
	}
	t.Losses = append(t.Losses, Loss{g, i, t.LastTold(g)})
	g.Told = op.Time
	g.stop(i, op.Time)
}

func (t *Trace) released(i int, op *history.Op, p pending) {
	g := p.grant
	if g != nil {
		g.Events = append(g.Events, i)
		if op.Type != history.Fail {
			g.Nest.sure--
		}
	}
	if g == nil || t.unnested(i, op, g, p.invoke-1) || t.parted(i, op, g, p.invoke-1) {
		return
	}
	if g.Release == p.invoke-1 {
		g.Done = i
	}
	if op.Type != history.OK {
		return
	}
	t.Successes = append(t.Successes, Success{g, p.invoke - 1, i})
	// Its client has the lock still, whatever becomes of what is unknown, and of what is under way.
	if op.Depth > 0 && g.Nest.Open > 0 && int(op.Depth) > g.Nest.lost+len(g.Nest.releasing) {
		t.keeps(g, i, op, p.invoke-1)
		return
	}
	g.Nest.left = op.Depth > 0 && g.Nest.Open > 0
	if g.Released < 0 || t.Ops[g.Released].Depth > 0 { // that one was told to be an inner one
		g.Released = i
	}
}
