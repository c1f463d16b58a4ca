package models

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

func (f *front) done(c *client, e *Event, at Ref) (why string) {
	if c == nil || !c.busy {
		return fmt.Sprintf("process %d ends %s without having called it", e.Process, e.F)
	}
	op, k := &c.op, c.key
	switch {
	case e.F != op.F:
		return fmt.Sprintf("process %d ends %s, but called %s", e.Process, e.F, op.F)
	case e.Key != op.Key:
		return fmt.Sprintf("process %d ends on %q what it called on %q", e.Process, e.Key, op.Key)
	}
	op.Type, op.Refused = e.Type, e.Refused
	op.Implied = e.Implied || op.Implied && e.Owner == ""
	switch e.Type {
	case history.OK:
		f.counts.OK++
		if k.broken != "" {
			break
		}
		why, misfit := f.told(c, e)
		switch {
		case misfit && f.fit == 0 && !k.beyond: // no grant so far has what this model needs
			return why
		case why != "":
			f.breaks(k, at, why)
		case f.nobodys(op, k): // from here on nobody knows who holds, and since it was called
			f.found.drop(k.name, op.call.Index)
			f.breaks(k, at, fmt.Sprintf("%s says that its %s was ok, and for whom is not told, as it is elsewhere", op.who(), op.F))
		case taking(op.F):
			f.fit++
		}
	case history.Fail:
		f.counts.Failed++
	case history.Info:
		f.counts.Unknown++
		if k.broken == "" && e.Owner != "" {
			f.implied(c, e)
		}
		if k.broken == "" && f.name == "reentrant" && !f.collects && f.nobodys(op, k) { // it may be of the holder, in a new process
			f.breaks(k, at, fmt.Sprintf("%s does not know whether its release had an effect, and for whom is not told", op.who()))
		}
		if k.broken == "" {
			f.leaveLoose(op, k)
		}
	default:
		return fmt.Sprintf("%q is not how an operation ends", e.Type)
	}
	f.finish(c, at)
	if e.Type == history.Info {
		f.retire(c, e)
	}
	return ""
}

// told takes what an OK says beyond the call: its token, its lease, what was
// read, and the owner, where the lock makes a name for each grant. misfit says that
// it lacks what the model needs.
func (f *front) told(c *client, e *Event) (why string, misfit bool) {
	op, k := &c.op, c.key
	if e.Token != 0 {
		op.Token = e.Token
	}
	if e.Lease != 0 {
		op.Lease = e.Lease
	}
	if op.F == Read || op.F == Request {
		op.Value = e.Value
	}
	if f.owners && e.Owner != "" && e.Owner != op.owner.name {
		if op.Owner != "" || !taking(op.F) && f.holding(op) {
			return fmt.Sprintf("%s for owner %q is answered for owner %q", op.F, op.Owner, e.Owner), false
		}
		o := k.ownerOf(e.Owner, e.Process)
		if o == nil || o.pending {
			return fmt.Sprintf("owner %s is used again after an outcome that is unknown, or while it is busy", e.Owner), false
		}
		if o.hold != nil && !taking(op.F) { // it was taken for another's when it was called
			return fmt.Sprintf("%s for owner %q is answered for owner %q", op.F, op.Owner, e.Owner), false
		}
		if why := f.goingOn(k, o, e); why != "" {
			return why, false
		}
		op.owner.pending, o.pending = false, true
		op.owner, c.owner = o, o
	}
	if f.check != nil {
		if why := f.check(&op.Event); why != "" {
			return why, true
		}
	}
	return "", false
}

// implied takes the owner of an acquire of unknown outcome which no answer told, and which is
// its process's last one by how the file names owners.
func (f *front) implied(c *client, e *Event) {
	op := &c.op
	if !f.owners || !f.goesOn || !taking(op.F) || op.owner.name != "" {
		return
	}
	if o := c.key.ownerOf(e.Owner, e.Process); o != nil && !o.pending {
		op.owner.pending, o.pending = false, true
		op.owner, c.owner = o, o
	}
}

// nobodys says that a release or a renewal is for an owner whom nothing tells, of a key on
// which others are named: it may be for any of them.
func (f *front) nobodys(op *operation, k *keyLog) bool {
	return f.owners && k.named && !taking(op.F) && op.owner.name == "" && !f.holding(op) && !op.owner.lent && !(op.F == Extend && f.strict())
}

// holding says that the owner whom a call was taken for holds something.
func (f *front) holding(op *operation) bool {
	return op.owner.name != "" || op.owner.hold != nil || op.owner.session != nil || op.owner.token != 0
}

// finish takes an operation from the pending ones and has it judged.
func (f *front) finish(c *client, at Ref) {
	op, k := &c.op, c.key
	c.busy = false
	op.ret = at
	if k.broken != "" {
		return
	}
	last := len(k.pending) - 1
	k.pending[op.slot] = k.pending[last]
	k.pending[op.slot].slot = op.slot
	k.pending = k.pending[:last]
	if op.owner != nil {
		op.owner.pending = op.owner.pending && op.F == Extend && f.strict()
		op.untold = op.Type == history.Info && taking(op.F) && op.owner.name == ""
		if op.untold {
			if k.untold++; k.untold == 1 && !k.used {
				k.since = op.call.Index
			}
		}
	}
	k.judge.done(op)
}

func (f *front) retire(c *client, e *Event) {
	delete(f.clients, e.Process)
	f.spare = append(f.spare, c)
	f.retired.Add(e.Process)
	op, o, k := &c.op, c.op.owner, c.key
	c.owner = nil
	switch {
	case o == nil || k.broken != "":
	case op.F == Extend && o.name != "": // who renews in the background does so as a process of its own
	case o.name == "":
		k.forget(o)
	case !f.goesOn && !f.collects:
		k.forgetFor(o)
	default:
		o.unsure = o.unsure || !f.goesOn || !f.gives && (op.F == Release || op.F == ReleaseR)
		k.remember(o)
	}
}
