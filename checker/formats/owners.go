package formats

import (
	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// Many suites tell the owner when an operation ends, or when it takes the lock: only the
// answer knows it. A call that does not tell it is for the last owner of its process on
// that lock. Where there is none yet, such as for a client that kept its name and got
// another process, a release or a renewal waits for its own end, which may tell it, and
// all that follows waits behind it. An acquire does not wait: whoever is granted a lock
// has nothing to do with it before.

// An acquire of unknown outcome is for its process's last owner only where owners are clients: where
// some process was granted a lock twice under one name, and none under two. Else a name may be
// that of one grant, and nobody knows it.

// waitsFor is how many events may wait for an owner to be told.
const waitsFor = 1 << 16

// own fills in the owner of an event, and says that it waits to be told.
func (r *Reader) own(p *pending, e *models.Event) (waits bool) {
	if r.Format == "dlmtest" || !isLock(e.F) {
		return false
	}
	takes := e.F != models.Release && e.F != models.ReleaseR && e.F != models.Extend
	last := p.last(e.Key)
	switch {
	case e.Owner != "":
		if e.Type != history.Invoke && e.Type != history.OK { // what was refused is nobody's
			return false
		}
		if takes && e.Type == history.OK && last != "" {
			r.again, r.renamed = r.again || last == e.Owner, r.renamed || last != e.Owner
		}
		p.remember(e.Key, e.Owner)
	case takes && e.Type == history.Info && p.owner == "" && r.again && !r.renamed:
		e.Owner, e.Implied = last, last != ""
	case e.Type == history.Invoke && takes, takes && e.Type != history.OK:
	case last != "":
		e.Owner, e.Implied = last, true
	case takes:
		p.nameless = true
	case e.Type == history.Invoke && !p.nameless:
		return true
	}
	return false
}

// last is the owner for whom a process acted last on a key.
func (p *pending) last(key string) string {
	if p.ownerKey == key {
		return p.lastOwner
	}
	return p.owners[key]
}

func (p *pending) remember(key, owner string) {
	if p.ownerKey != key && p.lastOwner != "" {
		if p.owners == nil {
			p.owners = map[string]string{}
		}
		p.owners[p.ownerKey] = p.lastOwner
	}
	p.ownerKey, p.lastOwner = key, owner
}

// send hands an event on, or lets it wait behind others.
func (r *Reader) send(p *pending, e *models.Event, waits bool) error {
	if p.waiting > 0 && e.Type != history.Invoke {
		call := &r.queue[p.waiting-1-r.sent]
		if p.ownerless {
			call.Owner = e.Owner
		}
		if p.keyless {
			call.Key = e.Key
		}
		call.waits, p.waiting, p.keyless, p.ownerless = false, 0, false, false
	}
	if !waits && len(r.queue) == 0 {
		return r.pass(e)
	}
	r.queue = append(r.queue, queued{Event: *e, waits: waits, keyless: waits && p.keyless})
	if waits {
		p.waiting = r.sent + len(r.queue)
	}
	return r.flush(len(r.queue) > waitsFor)
}

// flush hands on what waits no more, or all of it.
func (r *Reader) flush(all bool) error {
	n := 0
	for n < len(r.queue) && (all || !r.queue[n].waits) {
		n++
	}
	ready := r.queue[:n]
	r.queue = r.queue[n:]
	r.sent += n
	if all { // they may not be found any more
		for _, p := range r.processes {
			p.waiting = 0
		}
	}
	for i := range ready {
		if gone, err := r.unkeyed(&ready[i]); err != nil {
			return err
		} else if gone {
			continue
		}
		if err := r.pass(&ready[i].Event); err != nil {
			return err
		}
	}
	if len(r.queue) == 0 {
		r.queue = nil
	}
	return nil
}

func (r *Reader) pass(e *models.Event) error {
	if !r.emit(*e) {
		return errStop
	}
	return nil
}

// queued is an event that waits to be handed on.
type queued struct {
	models.Event
	waits   bool // for its owner, or its key
	keyless bool // it had none when it came
	dropped bool
}
